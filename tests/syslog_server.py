"""rsyslog's server as a process, by TLS, which writes what it was sent into a file."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.certificates import self_signed
from tests.services import free_port, program, until_left
from tests.waiting import until

CONFIGURATION = """
global(workDirectory="{folder}" maxMessageSize="64k" defaultNetstreamDriver="ossl"
  defaultNetstreamDriverCAFile="{certificate}" defaultNetstreamDriverCertFile="{certificate}"
  defaultNetstreamDriverKeyFile="{certificate}")
module(load="imtcp" streamDriver.name="ossl" streamDriver.mode="1" streamDriver.authMode="x509/certvalid")
input(type="imtcp" address="127.0.0.1" port="{port}")
template(name="parts" type="string" string="%pri%\\t%timestamp:::date-rfc3339%\\t%app-name%\\t%msgid%\\t%msg%\\n")
action(type="omfile" file="{written}" template="parts")
"""


@dataclass(frozen=True)
class SyslogServer:
    """It asks for a certificate that it trusts: the one in the file ``certificate``, which is its own as well."""

    url: str
    certificate: Path
    written: Path

    def received(self) -> list[tuple[str, str, str, str, dict[str, Any]]]:
        """Priority, time, program, kind and event of each message, in the order in which they came."""
        lines = self.written.read_text().splitlines() if self.written.exists() else []
        return [
            (priority, time, app, kind, json.loads(message))
            for priority, time, app, kind, message in map(_parts, lines)
        ]


def _parts(line: str) -> list[str]:
    return line.split("\t", 4)


@contextmanager
def syslog_server(folder: Path) -> Iterator[SyslogServer]:
    port, certificate, written = free_port(), self_signed(folder), folder / "written"
    configuration = folder / "rsyslog.conf"
    configuration.write_text(CONFIGURATION.format(folder=folder, certificate=certificate, port=port, written=written))
    rsyslogd = program("OPENBOOK_TEST_RSYSLOGD", "rsyslogd")
    # The shell ends it with its own input.
    shell = ["/bin/sh", "-c", '"$@" 2>/dev/null & read -r line; kill $! 2>/dev/null; wait', "sh"]
    with until_left([*shell, rsyslogd, "-n", "-f", str(configuration), "-i", str(folder / "pid")]):
        until(lambda: _listens(port))
        yield SyslogServer(f"tls://127.0.0.1:{port}", certificate, written)


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except ConnectionRefusedError:
        return False
    return True
