"""What was encrypted with a former SECRET_KEY, encrypted with the one of now: keys of connections, tokens of shared links,
secrets of webhooks, of MCP servers and of second factors."""

import logging
from collections import Counter
from collections.abc import Iterator

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialApp
from django.db import transaction
from django.db.models import Model

from conversations.accounts import provider_secrets, second_factors
from conversations.models import Connection, McpServer, McpSignIn, Share, Webhook, connections, mcp, shares, webhooks
from conversations.runtime import encryption

log = logging.getLogger("openbook.worker")

COLUMNS: list[tuple[type[Model], str, str]] = [
    (Connection, "secrets", connections.PURPOSE),
    (McpServer, "secret", mcp.PURPOSE),
    (McpSignIn, "pending", mcp.SIGN_IN_PURPOSE),
    (McpSignIn, "grant", mcp.SIGN_IN_PURPOSE),
    (Share, "token", shares.PURPOSE),
    (Webhook, "secret", webhooks.PURPOSE),
    (Webhook, "former_secret", webhooks.PURPOSE),
]
"""With the purpose that each is encrypted for."""


def renew() -> int:
    """Returns how many. Those that can't be read stay as they are: where they are used they say so."""
    counts: Counter[type[Model]] = Counter()
    for model, column, purpose in COLUMNS:
        counts[model] += sum(_renew(model, column, purpose))
    counts[Authenticator] = sum(_renew_factors())
    counts[SocialApp] = provider_secrets.renew()
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


def _renew_factors() -> Iterator[int]:
    """Each row alone, as a code may be used in this moment, which is noted beside its secret."""
    for pk in Authenticator.objects.exclude(type=second_factors.PASSKEY).values_list("pk", flat=True):
        with transaction.atomic():
            row = Authenticator.objects.select_for_update().filter(pk=pk).first()
            secrets = {name: row.data[name] for name in ("secret", "seed") if name in row.data} if row else {}
            try:
                renewed = {
                    name: after.decode()
                    for name, secret in secrets.items()
                    if (after := encryption.renewed(secret.encode(), purpose=second_factors.PURPOSE))
                }
            except encryption.NotDecryptable:
                continue
            if row and renewed:
                row.data |= renewed
                row.save(update_fields=["data"])
                yield 1
