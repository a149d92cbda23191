"""Keys of connections that were encrypted with a former SECRET_KEY, encrypted with the one of now."""

import logging

from conversations.models import Connection
from conversations.models.connections import PURPOSE
from conversations.runtime import encryption

log = logging.getLogger("openbook.worker")


def renew() -> int:
    """Returns how many. Those that can't be read stay as they are: their pages in the admin say so."""
    count = 0
    for pk, secrets in Connection.objects.exclude(secrets=b"").values_list("pk", "secrets"):
        before = bytes(secrets)
        try:
            after = encryption.renewed(before, purpose=PURPOSE)
        except encryption.NotDecryptable:
            continue
        if after:  # unless somebody entered another key meanwhile
            count += Connection.objects.filter(pk=pk, secrets=before).update(secrets=after)
    if count:
        log.info("keys were encrypted with the new SECRET_KEY", extra={"connections": count})
    return count
