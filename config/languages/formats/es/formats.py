"""Not the space that Django has."""

THOUSAND_SEPARATOR = "."
