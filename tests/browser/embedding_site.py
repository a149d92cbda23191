"""A site that shows the embedded chat: the example page of the documents, and what signs who its visitor is."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import jwt

PAGE = Path(__file__).resolve().parents[2] / "docs/examples/embedded-chat.html"
SECRET = "a secret of the shop, as long as it has to be"
CHAT = "https://chat.example.org"
"""Where the example says that the server is."""


def assertion(subject: str, *, secret: str = SECRET, seconds: int = 120, **claims: Any) -> str:
    claims = {"iss": "shop", "sub": subject, "aud": "openbook", "exp": int(time.time()) + seconds} | claims
    return jwt.encode(claims, secret, algorithm="HS256")


@dataclass
class EmbeddingSite:
    """``server`` is the chat's address, without a slash; ``visitor`` whoever comes next."""

    url: str = ""
    server: str = ""
    visitor: str = "ada@shop.example"


@contextmanager
def embedding_site() -> Iterator[EmbeddingSite]:
    site = EmbeddingSite()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_page = self.path == "/"
            text = PAGE.read_text().replace(CHAT, site.server) if is_page else assertion(site.visitor)
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8" if is_page else "text/plain")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        site.url = f"http://localhost:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield site
        server.shutdown()
