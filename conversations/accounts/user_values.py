"""What the ``.sql`` files beside it compute of a user. A row that each request reads brings it along; else it is asked for."""

from typing import Any

from conversations.runtime.db import run

WHOSE = 'FROM auth_user AS "user" WHERE "user".id = %(user)s'


def value_of(user_id: int, expression: str) -> Any:
    """Of an expression on ``"user"``; ``None`` where there is no such user."""
    return next((value for (value,) in run(f"SELECT {expression} {WHOSE}", user=user_id)), None)
