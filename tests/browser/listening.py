"""A place elsewhere: a listener on loopback that writes down whatever is said to it, over TCP or UDP."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class NetworkListener:
    """``heard`` holds the beginnings of what arrived, ``connections`` counts what was opened, with or without a byte."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []
        self.connections = 0
        self.news = threading.Condition()
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.tcp.getsockname()[1]
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", self.port))
        for read in (self._tcp, self._udp):
            threading.Thread(target=read, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def wait_for(self, count: int, seconds: float = 5) -> None:
        with self.news:
            assert self.news.wait_for(lambda: len(self.heard) >= count, seconds), f"only {self.heard} arrived"

    def close(self) -> None:
        self.tcp.close()
        self.udp.close()

    def _tcp(self) -> None:
        while True:
            try:
                connection, _ = self.tcp.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._hear, args=(connection,), daemon=True).start()

    def _hear(self, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(5)
            try:
                said = connection.recv(200)
            except OSError:
                return
            if said:
                self._write_down(said)
                connection.sendall(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")

    def _udp(self) -> None:
        while True:
            try:
                said = self.udp.recv(200)
            except OSError:
                return
            self._write_down(said)

    def _write_down(self, said: bytes) -> None:
        with self.news:
            self.heard.append(said)
            self.news.notify_all()


@contextmanager
def listening() -> Iterator[NetworkListener]:
    listener = NetworkListener()
    try:
        yield listener
    finally:
        listener.close()
