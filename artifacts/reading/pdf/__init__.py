"""What stands on a page of a PDF and is seen there, by PDFium."""
