from tests.conversations.staff.conftest import root, signed_in, staff

__all__ = ["root", "signed_in", "staff"]
