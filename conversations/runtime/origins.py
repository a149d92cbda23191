"""Whether a page that calls is one of ours."""

from django.conf import settings
from django.http.request import split_domain_port, validate_host
from django.utils.http import is_same_domain


def is_ours(origin: str, *, host: str, is_secure: bool) -> bool:
    """``origin`` and ``host`` are the headers of those names."""
    if any(_matches(origin, trusted) for trusted in settings.CSRF_TRUSTED_ORIGINS):
        return True
    # The host is checked too: a page of a foreign name that resolves to this machine has an origin equal to its own host.
    known = validate_host(split_domain_port(host.lower())[0], settings.ALLOWED_HOSTS)
    return known and origin.lower() == f"{'https' if is_secure else 'http'}://{host.lower()}"


def _matches(origin: str, trusted: str) -> bool:
    """``https://*.example.com`` stands for its subdomains, as it does for Django."""
    scheme, _, host = origin.lower().partition("://")
    trusted_scheme, _, pattern = trusted.lower().partition("://")
    return scheme == trusted_scheme and is_same_domain(host, pattern.removeprefix("*"))
