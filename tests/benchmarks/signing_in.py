"""How much longer somebody's calls take while thirty strangers sign in at once, on a real server."""

from tests.benchmarks.measuring import p50_p95
from tests.clients import ServerClient
from tests.processes import server_process
from tests.services import fresh_database
from tests.sign_ins import STRANGERS, crowd, undisturbed

PASSWORD = "benchmarks only"
CALLS = 200
ROUNDS = 3


def main() -> None:
    print(f"\n== GET threads/ of somebody while {STRANGERS} strangers ask for tokens at once, {ROUNDS} times")
    with fresh_database() as url, server_process(url, DJANGO_SUPERUSER_PASSWORD=PASSWORD) as running:
        somebody = ServerClient.signed_in(running.url, password=PASSWORD)
        list(undisturbed(somebody, 20))
        alone: list[float] = []
        beside: list[float] = []
        answers, failures = [], 0
        for _ in range(ROUNDS):
            alone += undisturbed(somebody, CALLS)
            done = crowd(running.url, somebody)
            beside += done.calls
            failures += len(done.failures)
            answers.append(dict(sorted(done.answers.items())))
    (alone50, alone95), (beside50, beside95) = p50_p95(alone), p50_p95(beside)
    print(f"  nobody else   p50 {alone50 * 1000:7.1f}  p95 {alone95 * 1000:7.1f} ms")
    print(
        f"  meanwhile     p50 {beside50 * 1000:7.1f}  p95 {beside95 * 1000:7.1f} ms  {len(beside)} calls, {failures} failed"
    )
    print(f"  p95 meanwhile to alone {beside95 / alone95:.2f}; the strangers were answered {answers}")
