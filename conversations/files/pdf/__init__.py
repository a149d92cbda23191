"""What stands on a page of a PDF and is seen there, by PDFium. Known to the reader of PDFs alone."""
