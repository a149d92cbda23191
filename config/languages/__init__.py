"""The languages of the pages: which one a request is answered in, and the catalogues of translations."""
