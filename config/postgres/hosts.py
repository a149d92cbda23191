"""What ``DATABASE_URL`` says of the servers of a database: one, or several of which one takes writes at a time."""

from collections.abc import Mapping

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

SEVERAL: Mapping[str, str] = {
    # Only the one that takes writes is used, whichever stands first.
    "target_session_attrs": "read-write",
    "connect_timeout": "2",
    # A machine that died without a word is noticed by what it doesn't acknowledge. In milliseconds and seconds.
    "tcp_user_timeout": "5000",
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "2",
}
"""What holds between several servers, unless the address says otherwise."""

STANDBYS: Mapping[str, str] = {**SEVERAL, "target_session_attrs": "standby"}
"""The same of servers that are only read."""


class AddressError(Exception):
    """No address of PostgreSQL; the text says why."""


def address(url: str, several: Mapping[str, str] = SEVERAL) -> str:
    """The libpq URL or DSN, with what holds for ``several`` hosts where it names more than one. Raises ``AddressError``."""
    try:
        parts = {name: str(value) for name, value in conninfo_to_dict(url).items()}
    except psycopg.ProgrammingError as error:
        raise AddressError(str(error).strip()) from error
    hosts, ports = (parts.get(name, "").split(",") for name in ("host", "port"))
    if len(ports) not in {1, len(hosts)}:
        raise AddressError(
            f"it names {len(hosts)} hosts and {len(ports)} ports: write one port for all, or one for each"
        )
    for port in filter(None, ports):
        if not (port.isascii() and port.isdecimal() and 0 < int(port) < 65_536):
            raise AddressError(f"{port!r} is no port")
    return make_conninfo(**{**several, **parts}) if len(hosts) > 1 else url
