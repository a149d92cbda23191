"""Documents of Word."""
