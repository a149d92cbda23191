"""A way to a server on which connections break: each is cut after as many bytes of the answer as its turn says."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

PIECE = 512


@contextmanager
def cutting(url: str, lengths: list[int]) -> Iterator[str]:
    """The URL of the way, with a slash. Each connection takes the next of ``lengths``, and after them none is cut."""
    target = urlsplit(url)
    address = (target.hostname or "", target.port or 80)
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def accept() -> None:
            with suppress(OSError):  # it was closed
                while True:
                    client, _ = listening.accept()
                    length = lengths.pop(0) if lengths else None
                    threading.Thread(target=_carry, args=(client, address, length), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        listening.shutdown(socket.SHUT_RDWR)


def _carry(client: socket.socket, address: tuple[str, int], length: int | None) -> None:
    with client, socket.create_connection(address) as server:
        threading.Thread(target=_pump, args=(client, server), daemon=True).start()
        sent = 0
        with suppress(OSError):
            while piece := server.recv(PIECE):
                if length is not None and sent >= length:
                    break  # the server has answered, and nobody hears it
                client.sendall(piece)
                sent += len(piece)
        for end in (client, server):  # closed alone they would stay open for whoever reads from them
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


def _pump(client: socket.socket, server: socket.socket) -> None:
    with suppress(OSError):
        while piece := client.recv(PIECE):
            server.sendall(piece)
