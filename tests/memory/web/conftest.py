from tests.conversations.web.conftest import others_session, session, token

__all__ = ["others_session", "session", "token"]
