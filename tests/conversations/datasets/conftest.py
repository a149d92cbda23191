from tests.conversations.rest.conftest import api, others_api

__all__ = ["api", "others_api"]
