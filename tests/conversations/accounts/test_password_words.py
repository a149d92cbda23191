"""Which passwords nobody may choose, at every door where one is chosen: Django's validators and ours."""

import pytest
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import CommonPasswordValidator, validate_password
from django.core.exceptions import ValidationError
from pytest_django import Settings


def refusals(password: str) -> list[str]:
    try:
        validate_password(password, User(username="marta.olsen", email="marta@mail.example"))
    except ValidationError as error:
        return [str(each.code) for each in error.error_list]
    return []


@pytest.mark.parametrize(
    ("password", "codes"),
    [
        ("short-7", ["password_too_short"]),
        ("iloveyou1", ["password_too_common"]),
        ("Marta.Olsen1", ["password_too_similar"]),
        ("openbook", ["password_of_server_words"]),
        ("OpenBook-2026!", ["password_of_server_words"]),
        ("Harbour.2026", ["password_of_server_words"]),
        ("lighthouse99", ["password_of_server_words"]),
        ("openbook is where I keep my notes", []),
        ("aaaa bbbb cccc dddd", []),
        ("пароль из слов", []),
        ("x7" * 64, []),
        ("        . spaces", []),
    ],
)
def test_what_a_password_may_be_made_of(settings: Settings, password: str, codes: list[str]) -> None:
    settings.OPENBOOK_PUBLIC_URL = "https://book.harbour.example"
    settings.OPENBOOK_PASSWORD_WORDS = ["Lighthouse"]
    assert refusals(password) == codes


def test_the_list_of_common_ones_is_long_enough() -> None:
    """3,000 that have eight characters or more: what is shorter is refused anyway."""
    assert len([word for word in CommonPasswordValidator().passwords if len(word) >= 8]) > 3000
