"""CPU of one message by each API: ``messages/``, Chat Completions and the Messages API, in a thread that is named and, as plain
chat loops do it, with all that was said before.

The candidates take turns, each with threads of its own, and the ratios are of one run.
"""

from collections.abc import Mapping
from contextlib import ExitStack
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

from tests.benchmarks.chats import Call
from tests.benchmarks.measuring import doing
from tests.benchmarks.message import AT_ONCE, PASSWORD, QUESTION, SAID, TURNS, WORDS, long_thread, measured
from tests.benchmarks.served import Served, post, served
from tests.clients import ServerClient
from tests.processes import server_process
from tests.services import fresh_database

ROUNDS = 12
"""The first one warms up and doesn't count."""
OWN = "POST messages/"
MODEL = {"model": "companion"}
OPENAI, ANTHROPIC = MODEL, {**MODEL, "max_tokens": 1_000}


def main() -> None:
    with ExitStack() as stack:
        with doing("starting the servers"):
            candidates = start(stack)
        cpu: dict[str, list[float]] = {name: [] for name in candidates}
        with doing("sending messages"):
            for number in range(ROUNDS + 1):
                for name, (running, call) in candidates.items():
                    taken = measured(running, call)
                    if number:
                        cpu[name].append(taken)
    load = Path("/proc/loadavg").read_text().split()[0]
    print(f"\n== CPU of a message by each API, {AT_ONCE} at once, {TURNS} turns before it; load {load}")
    for name, values in cpu.items():
        ratio = median(taken / own for taken, own in zip(values, cpu[OWN], strict=True))
        print(f"  {name:<62} {median(values):8.2f} ms  {ratio:8.2f}x")


def start(stack: ExitStack) -> dict[str, tuple[Served, Call]]:
    """By name, the server and how it is asked."""
    model = stack.enter_context(served("model", WORDS, 0))
    environment = {
        "DJANGO_SUPERUSER_PASSWORD": PASSWORD,
        "OPENBOOK_PROVIDER": "anthropic",
        "ANTHROPIC_API_KEY": "key-of-the-bench",
        "ANTHROPIC_BASE_URL": model.url,
    }
    process = stack.enter_context(server_process(stack.enter_context(fresh_database()), **environment))
    ours = Served(url=process.url.rstrip("/"), pid=process.pid)
    client = ServerClient.signed_in(process.url, password=PASSWORD)
    authorization = {"Authorization": f"Bearer {client.token}"}
    history = [{"role": ("user", "assistant")[n % 2], "content": SAID.format(n)} for n in range(TURNS)]
    numbers = count()

    def question() -> str:
        """Not the same twice: a message that is sent again is looked at more closely."""
        return f"{QUESTION['content']} {next(numbers):06}"

    def threads() -> list[str]:
        made = [long_thread() for _ in range(AT_ONCE)]
        client.call("POST", "import/", {"format": "openbook/1", "threads": made})
        return [thread["id"] for thread in made]

    def to_thread() -> tuple[Served, Call]:
        paths = [f"/api/v1/threads/{thread}/messages/" for thread in threads()]
        headers = {"Authorization": f"Token {client.token}"}
        return ours, lambda connection, number: post(connection, paths[number], {"content": question()}, headers, 201)

    def by_api(path: str, fields: Mapping[str, Any], earlier: list[dict[str, str]]) -> tuple[Served, Call]:
        ids = threads()

        def call(connection: HTTPConnection, number: int) -> None:
            body = {**fields, "messages": [*earlier, {"role": "user", "content": question()}]}
            post(connection, path, body, {**authorization, "X-Openbook-Thread": ids[number]})

        return ours, call

    return {
        OWN: to_thread(),
        "POST /v1/chat/completions": by_api("/v1/chat/completions", OPENAI, []),
        f"the same, with {TURNS} messages before it": by_api("/v1/chat/completions", OPENAI, history),
        "POST /v1/messages": by_api("/v1/messages", ANTHROPIC, []),
        f"the same, with {TURNS} messages before it ": by_api("/v1/messages", ANTHROPIC, history),
    }
