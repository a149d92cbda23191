"""Where the pages write numbers as scripts do (CLDR), and Django would not."""
