"""What was encrypted with a former SECRET_KEY, encrypted with the one of now: keys of connections, tokens of shared links."""

import logging
from collections.abc import Iterator

from django.db.models import Model

from conversations.models import Connection, Share, connections, shares
from conversations.runtime import encryption

log = logging.getLogger("openbook.worker")

COLUMNS: list[tuple[type[Model], str, str]] = [
    (Connection, "secrets", connections.PURPOSE),
    (Share, "token", shares.PURPOSE),
]
"""With the purpose that each is encrypted for."""


def renew() -> int:
    """Returns how many. Those that can't be read stay as they are: where they are used they say so."""
    counts = {model: sum(_renew(model, column, purpose)) for model, column, purpose in COLUMNS}
    if any(counts.values()):
        by_name = {str(model._meta.model_name): count for model, count in counts.items()}
        log.info("what is secret was encrypted with the new SECRET_KEY", extra=by_name)
    return sum(counts.values())


def _renew(model: type[Model], column: str, purpose: str) -> Iterator[int]:
    for pk, secret in model._default_manager.exclude(**{column: b""}).values_list("pk", column).iterator():
        before = bytes(secret)
        try:
            after = encryption.renewed(before, purpose=purpose)
        except encryption.NotDecryptable:
            continue
        if after:  # unless somebody entered another one meanwhile
            yield model._default_manager.filter(pk=pk, **{column: before}).update(**{column: after})
