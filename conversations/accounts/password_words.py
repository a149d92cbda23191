"""No password that is made of the words that everybody here would try first: the product's, the server's, the operator's."""

from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.utils.translation import gettext

from conversations.runtime.site import public_address

PRODUCT = "openbook"
SHORTEST_WORD = 4
SHORTEST_REST = 8
"""Characters that a password has to have beside such words."""


def words_of_this_server() -> set[str]:
    """In small letters. ``book.example.org`` gives ``example``."""
    host = urlsplit(public_address()).hostname or ""
    words = {PRODUCT, *host.split("."), *(word.casefold() for word in settings.OPENBOOK_PASSWORD_WORDS)}
    return {word for word in words if len(word) >= SHORTEST_WORD}


class WordsOfThisServerValidator:
    def validate(self, password: str, user: User | None = None) -> None:
        rest, words = password.casefold(), sorted(words_of_this_server(), key=len, reverse=True)
        for word in words:
            rest = rest.replace(word, "")
        if len(rest) < SHORTEST_REST and rest != password.casefold():
            raise ValidationError(
                gettext("Beside the name of this server, a password has to have %(most)d characters more.")
                % {"most": SHORTEST_REST},
                code="password_of_server_words",
            )

    def get_help_text(self) -> str:
        return gettext("Don’t make your password of the name of this server or of your organisation.")
