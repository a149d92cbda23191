"""`python -m config.local_model.engine`: llama.cpp's server for one model, on loopback, until its standard input ends.

Told what to do by one line of JSON on its standard input, so that nothing of it is in the list of processes. It makes its own
key, and says in the data folder where it listens. Imports neither Django nor the settings.
"""

import json
import os
import secrets
import sys
import threading
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from conversations.runtime.local_engine import EngineAddress, held, publish

PING_SECONDS = 5
KEPT_PROMPTS_MIB = 512
"""Prompts of threads that are not being answered, kept in memory so that they need not be read again."""


@dataclass(frozen=True, kw_only=True)
class EngineOrder:
    """What to serve: the model's file, ``context_tokens`` for each of so many replies at once, and how it chooses words."""

    folder: str
    model: str
    context_tokens: int
    replies: int
    sampling: dict[str, float] = field(default_factory=dict)

    def line(self) -> bytes:
        return json.dumps(asdict(self)).encode() + b"\n"


def main() -> None:
    order = EngineOrder(**json.loads(sys.stdin.buffer.readline()))
    threading.Thread(target=end_with_standard_input, daemon=True).start()
    with held(Path(order.folder)):
        key = secrets.token_urlsafe(32)
        server = serve(order, key)
        publish(Path(order.folder), EngineAddress(url=server.listening_address, key=key))
        threading.Event().wait()


def end_with_standard_input() -> None:
    """The other end is held by whoever started this process, so it ends however that one ends."""
    while os.read(sys.stdin.fileno(), 1024):
        pass
    os._exit(0)


def serve(order: EngineOrder, key: str) -> Any:
    """llama.cpp's server in threads of this process, once the model is loaded. Raises ``RuntimeError`` where it can't be."""
    # Before the library is loaded. Its threads would else wait for each other by spinning: beside other work on two cores
    # that made 1 token a second of 20.
    os.environ["OMP_WAIT_POLICY"] = "passive"
    import xllamacpp  # noqa: PLC0415

    params = xllamacpp.CommonParams()
    params.verbosity = 1  # errors
    params.model.path = order.model
    params.hostnames, params.port, params.api_keys = ["127.0.0.1"], 0, [key]
    params.ui = False
    params.n_parallel, params.n_ctx = order.replies, order.context_tokens * order.replies
    params.ctx_shift = False  # what doesn't fit is an error, not a silent gap
    params.cache_ram_mib = KEPT_PROMPTS_MIB
    params.sse_ping_interval = PING_SECONDS
    for name, value in order.sampling.items():
        setattr(params.sampling, name, value)
    return xllamacpp.Server(params)


if __name__ == "__main__":
    main()
