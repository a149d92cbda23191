"""What staff write of a connection, checked before it is stored. Raises Django's ``ValidationError``."""

import re
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext

from conversations.models.connections import Kind
from conversations.providers.inner_networks import is_allowed, written_address
from conversations.runtime.wording import filled, lazy

HELP = lazy("Begins with https:// (or http://). Empty: the maker's own, {}, or that of the region.")
PROXY_HELP = lazy("Such as http://proxy.example:3128. Empty: the one that the environment names, where it names one.")
INNER = lazy(
    "This address is in an inner network. Whoever runs this Openbook can open it by "
    "OPENBOOK_INNER_NETWORKS, for example OPENBOOK_INNER_NETWORKS={}."
)
HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
OURS = frozenset(
    {"host", "content-length", "content-type", "transfer-encoding", "connection", "upgrade", "te", "trailer", "expect"}
)
"""Headers that belong to the transport."""
MOST_HEADERS = 20


def clean_address(url: str, kind: str) -> str:
    if not url:
        return ""
    parts = _parts(url, schemes=("https", "http"))
    if parts.query or parts.fragment:
        raise ValidationError(gettext("Leave out what follows a ? or a #: parameters would stand in logs."))
    path = parts.path.rstrip("/")
    if kind == Kind.ANTHROPIC and path.endswith("/v1"):
        raise ValidationError(gettext("Leave out /v1 at the end: it is added for each request."))
    return f"{parts.scheme}://{parts.netloc}{path}"


def clean_proxy(url: str) -> str:
    if not url:
        return ""
    parts = _parts(url, schemes=("http", "https"))
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise ValidationError(gettext("Write scheme, host and port alone, such as http://proxy.example:3128."))
    return f"{parts.scheme}://{parts.netloc}"


def parse_headers(text: str) -> dict[str, str]:
    headers: dict[str, str] = {}
    for number, line in enumerate(filter(str.strip, text.splitlines()), 1):
        name, colon, value = (part.strip() for part in line.partition(":"))
        if not colon or not HEADER_NAME.fullmatch(name) or not value:
            raise ValidationError(filled("Line {number} is no header: write “Name: value”.", number=number))
        if not (value.isascii() and value.isprintable()):
            raise ValidationError(filled("Line {number} has characters that no header can have.", number=number))
        if name.lower() in OURS:
            raise ValidationError(
                filled("Line {number}: {name} is set by the transport and can't be given.", number=number, name=name)
            )
        headers[name] = value
    if len(headers) > MOST_HEADERS:
        raise ValidationError(filled("Write {most} headers at most.", most=MOST_HEADERS))
    return headers


def _parts(url: str, *, schemes: tuple[str, ...]) -> SplitResult:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ValidationError(filled("This is no address: {error}.", error=error)) from error
    if parts.scheme not in schemes or not host or any(mark.isspace() or not mark.isprintable() for mark in url):
        raise ValidationError(gettext("Write an address such as https://models.example."))
    if "@" in parts.netloc:
        raise ValidationError(
            gettext("Leave out name and password: an address stands in logs. A key has a field of its own.")
        )
    try:
        address = written_address(host)
    except ValueError as error:
        raise ValidationError(filled("This is no address: {error}.", error=error)) from error
    if address is not None and not is_allowed(address, settings.OPENBOOK_INNER_NETWORKS):
        raise ValidationError(INNER.format(address))
    return parts
