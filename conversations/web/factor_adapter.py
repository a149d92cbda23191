"""Where allauth asks how second factors are kept here: their secrets encrypted, their names by browser."""

from typing import Any

from allauth.core import context
from allauth.mfa.adapter import DefaultMFAAdapter
from django.contrib.auth.models import User

from conversations.accounts import lifecycle
from conversations.accounts.second_factors import PURPOSE
from conversations.runtime import encryption


class FactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    def encrypt(self, text: str) -> str:
        return encryption.encrypt(text, purpose=PURPOSE).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Raises ``NotDecryptable``."""
        return encryption.decrypt(encrypted_text.encode(), purpose=PURPOSE)

    def generate_authenticator_name(self, user: User, type: Any) -> str:
        return lifecycle.browser_of(context.request.headers.get("User-Agent", ""))

    def get_totp_label(self, user: User) -> str:
        return user.get_username()

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        entity: dict[str, str] = super().get_public_key_credential_rp_entity()
        return entity | {"name": "Openbook"}
