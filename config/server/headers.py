"""Headers of what Django's middleware never sees: static files, and refusals before there is a request."""

from collections.abc import MutableMapping

from django.conf import settings


def plain_headers() -> dict[str, str]:
    """For what is no page: it is what its type says, stands in no frame, and is had over https where that is so."""
    headers = {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "frame-ancestors 'none'"}
    if settings.SERVED_OVER_HTTPS and (seconds := settings.SECURE_HSTS_SECONDS):
        subdomains = "; includeSubDomains" if settings.SECURE_HSTS_INCLUDE_SUBDOMAINS else ""
        headers["Strict-Transport-Security"] = f"max-age={seconds}{subdomains}"
    return headers


EMBEDDED = "/openbook-chat.js"
"""The script that pages of other sites load by an address that stays."""


def add_to_static_file(headers: MutableMapping[str, str], path: str, url: str) -> None:
    for name, value in plain_headers().items():
        headers[name] = value
    if url.endswith(EMBEDDED):
        headers["Cache-Control"] = "public, max-age=86400, stale-while-revalidate=604800"
