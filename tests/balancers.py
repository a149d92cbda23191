"""HAProxy and nginx with the configurations that are shipped, in front of whatever listens on two ports."""

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tests.processes import ROOT
from tests.services import free_port, program
from tests.waiting import until

SERVERS = ("10.0.0.11:8000", "10.0.0.12:8000")
"""As the shipped configurations call them."""
# Nothing but places and ports differs from what is shipped.
NGINX_PLACES = """http {
    access_log off;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path other; uwsgi_temp_path other; scgi_temp_path other;
"""


@dataclass
class Balancer:
    """``url`` is where clients come to, by TLS; ``plain_url`` where they come without."""

    name: str
    url: str
    plain_url: str
    folder: Path
    process: subprocess.Popen[bytes]

    def reload(self) -> None:
        """Read the configuration again, as its service does: what runs goes on in processes that end with it."""
        before = self.children()
        self.process.send_signal(signal.SIGUSR2 if self.name == "haproxy" else signal.SIGHUP)
        until(lambda: self.children() - before)

    def children(self) -> set[int]:
        path = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return {int(child) for child in path.read_text().split()}

    def gathered(self) -> list[str]:
        """Files that it holds bodies in."""
        return [str(path) for name in ("body", "proxy") for path in (self.folder / name).rglob("*") if path.is_file()]


def replaced(text: str, changes: Mapping[str, str]) -> str:
    for old, new in changes.items():
        assert old in text, f"{old} does not stand in the shipped configuration any more"
        text = text.replace(old, new)
    return text


@dataclass(frozen=True)
class Configured:
    """What a balancer is started with, and the ports that it has with TLS and without."""

    command: list[str]
    secure: int
    plain: int


def configured(name: str, folder: Path, certificate: Path, *addresses: str) -> Configured:
    """``name`` is haproxy or nginx; ``addresses`` are host and port of the two servers."""
    secure, plain = free_port(), free_port()
    servers = dict(zip(SERVERS, addresses, strict=True))
    if name == "haproxy":
        places = {":443 ssl": f"127.0.0.1:{secure} ssl", ":80\n": f"127.0.0.1:{plain}\n"}
        changes = {**servers, **places, "/etc/haproxy/book.example.pem": str(certificate)}
        config, command = folder / "haproxy.cfg", [program("OPENBOOK_TEST_HAPROXY", "haproxy"), "-f"]
    else:
        places = {"443 ssl": f"127.0.0.1:{secure} ssl", "listen 80": f"listen 127.0.0.1:{plain}"}
        keys = {"/etc/nginx/book.example.pem": str(certificate), "/etc/nginx/book.example.key": str(certificate)}
        changes = {**servers, **places, **keys, "http {\n": NGINX_PLACES}
        directives = f"daemon off; pid {folder}/pid; error_log stderr;" + (" user root;" if os.geteuid() == 0 else "")
        command = [program("OPENBOOK_TEST_NGINX", "nginx"), "-p", str(folder), "-g", directives, "-c"]
        config = folder / "nginx.conf"
    config.write_text(replaced((ROOT / "deploy" / config.name).read_text(), changes))
    return Configured([*command, str(config)], secure, plain)


@contextmanager
def balancer(name: str, folder: Path, certificate: Path, *urls: str) -> Iterator[Balancer]:
    """In front of the two servers of these URLs; it can be told to read its configuration again."""
    setup = configured(name, folder, certificate, *(urlsplit(url).netloc for url in urls))
    command = [*setup.command, *(["-W"] if name == "haproxy" else [])]
    log = folder / "log"
    with (
        log.open("wb") as written,
        subprocess.Popen(command, stdout=written, stderr=written) as process,
    ):
        try:
            secure, plain = f"https://127.0.0.1:{setup.secure}/", f"http://127.0.0.1:{setup.plain}/"
            yield Balancer(name, secure, plain, folder, process)
        finally:
            process.terminate()
            process.wait(30)
