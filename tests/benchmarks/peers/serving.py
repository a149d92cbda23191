"""What chats that run in an environment of their own share: uvicorn on a free port, until standard input ends."""

import os
import socket
import sys
import threading
from typing import Any

import uvicorn


async def serve(application: Any) -> None:
    """An ASGI application; its address, without a slash at its end, is the first line on standard output."""
    threading.Thread(target=_end_with_input, daemon=True).start()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        sys.stdout.write(f"http://127.0.0.1:{listener.getsockname()[1]}\n")
        sys.stdout.flush()
        await uvicorn.Server(uvicorn.Config(application, log_level="warning")).serve(sockets=[listener])


def _end_with_input() -> None:
    sys.stdin.read()
    os._exit(0)
