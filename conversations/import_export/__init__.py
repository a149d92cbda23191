"""The format ``openbook/1``: threads, artifacts and memories of a user as one JSON document, read and written."""

FORMAT = "openbook/1"
