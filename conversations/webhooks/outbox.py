"""What happened, as rows that wait to be sent: written in the transaction of what they tell of, so that both are or neither."""

import json
from collections.abc import Collection, Mapping
from typing import Any

from django.db import connection

from conversations.models import WebhookEvent
from conversations.runtime import clock
from conversations.runtime.sql_files import read_statements

SQL = read_statements(__file__)

type Plain = str | int | None


def tell(event: WebhookEvent, *, about: int | None, data: Mapping[str, Plain], to: Collection[int] = ()) -> None:
    """Have webhooks hear of it: those of the person that it is ``about``, or of these persons, and of the installation.

    ``data`` are ids, states and figures, and never what somebody wrote.
    """
    told = data if about is None else {"user": about, **data}
    values: Mapping[str, Any] = {
        "event": event.value,
        "about": about,
        "hearers": list(to) if about is None else [about],
        "data": json.dumps(told),
        "now": clock.now(),
    }
    with connection.cursor() as cursor:
        cursor.execute(SQL["tell"], values)
