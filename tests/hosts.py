"""Hosts of a network of their own, by network namespaces of Linux, so that one can fall silent as a machine does that loses its
power or its cable: nobody is told, and nothing is refused. Needs root."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

NETWORK = f"10.99.{os.getpid() % 200 + 10}"
GATEWAY = f"{NETWORK}.1"
"""Where the tests are, and what runs beside them."""
BRIDGE = f"ob{os.getpid()}"


@dataclass(frozen=True)
class Host:
    """``prefix`` runs a command there."""

    number: int

    @property
    def name(self) -> str:
        return f"{BRIDGE}h{self.number}"

    @property
    def address(self) -> str:
        return f"{NETWORK}.{self.number}"

    @property
    def prefix(self) -> list[str]:
        return ["ip", "netns", "exec", self.name]

    def unplug(self) -> None:
        run("link", "set", self._cable, "down")

    def plug(self) -> None:
        run("link", "set", self._cable, "up")

    @property
    def _cable(self) -> str:
        return f"{BRIDGE}v{self.number}"

    def _connect(self) -> None:
        run("netns", "add", self.name)
        run("link", "add", self._cable, "type", "veth", "peer", "name", "eth0", "netns", self.name)
        run("link", "set", self._cable, "master", BRIDGE, "up")
        run("-n", self.name, "addr", "add", f"{self.address}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            run("-n", self.name, "link", "set", device, "up")

    def _know(self, others: Sequence["Host"]) -> None:
        """Cards are known for good: else a host of the same network that fell silent would be told of after three seconds."""
        run("neigh", "replace", self.address, "lladdr", self._card(), "dev", BRIDGE, "nud", "permanent")
        for address, card in [(GATEWAY, card_of(BRIDGE)), *((each.address, each._card()) for each in others)]:
            run("-n", self.name, "neigh", "replace", address, "lladdr", card, "dev", "eth0", "nud", "permanent")

    def _card(self) -> str:
        return card_of("eth0", *self.prefix)


def card_of(device: str, *prefix: str) -> str:
    return subprocess.check_output([*prefix, "cat", f"/sys/class/net/{device}/address"], text=True).strip()


@contextmanager
def network(*numbers: int) -> Iterator[list[Host]]:
    """Hosts with these numbers from 2 on; what runs on them must have ended when it goes."""
    hosts = [Host(number) for number in numbers]
    with ExitStack() as stack:
        run("link", "add", BRIDGE, "type", "bridge")
        stack.callback(run, "link", "del", BRIDGE)
        run("addr", "add", f"{GATEWAY}/24", "dev", BRIDGE)
        run("link", "set", BRIDGE, "up")
        for host in hosts:
            stack.callback(run, "netns", "del", host.name)
            host._connect()
        for host in hosts:
            host._know([each for each in hosts if each != host])
        yield hosts


def run(*arguments: str) -> None:
    assert os.geteuid() == 0, "Namespaces of the network are made by root only: run this as root."
    assert shutil.which("ip"), "Install iproute2, which has the program ip."
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (arguments, done.stderr)
