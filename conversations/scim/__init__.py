"""SCIM 2.0 (RFC 7643 and 7644) at ``/scim/v2/``: a directory makes, changes and shuts accounts, and fills groups."""
