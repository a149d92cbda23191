"""For servers of which a crowd asks for passwords: the real hash, at a sixth of its rounds."""

from config.settings import *  # noqa: F403
from conversations.accounts.passwords import PasswordHasher


class BriefHasher(PasswordHasher):
    iterations = PasswordHasher.iterations // 6


PASSWORD_HASHERS = ["tests.brief_hash_settings.BriefHasher"]
