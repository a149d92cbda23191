"""Questions in other words than what was said, or in another language: whether search finds the turn, beside unrelated ones."""

import time
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path

from django.contrib.auth.models import User
from django.utils import timezone

from conversations.runtime.db import read_only
from memory.language.words import language_of
from memory.sources.recall import RecallQuery, search
from tests.benchmarks.measuring import doing
from tests.benchmarks.memory.accounts import store
from tests.benchmarks.memory.evidence import MOST_RESULTS, PACKED, unhurried
from tests.benchmarks.memory.report import packed
from tests.benchmarks.talk import haystack
from tests.benchmarks.talk.shapes import Conversation, Message
from tests.conversations.factories import make_user

UNRELATED = 2_000
START = datetime(2025, 3, 1, 8, tzinfo=UTC)


def main(unrelated: int = UNRELATED) -> None:
    cases = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())["cases"]
    user = make_user()
    with doing(f"storing {unrelated:,} unrelated turns"):
        said = [conversation(n, case["said"]) for n, case in enumerate(cases)]
        store(user, [*haystack.threads(unrelated), *said])
    found: dict[bool, list[bool]] = {False: [], True: []}
    milliseconds = []
    with unhurried():
        for case in cases:
            is_other_language = language_of(case["said"]) != language_of(case["asked"])
            started = time.perf_counter()
            found[is_other_language].append(case["said"] in found_text(user, case["asked"]))
            milliseconds.append((time.perf_counter() - started) * 1_000)
    print(
        f"\n== asked in other words: turns found in {PACKED:,} characters of search, beside {unrelated:,} unrelated turns"
    )
    for is_other, name in ((False, "in the same language"), (True, "in another language")):
        print(f"  {name:<22}{sum(found[is_other]):4} of {len(found[is_other])}")
    print(f"  a search p50 {sorted(milliseconds)[len(milliseconds) // 2]:.1f} ms")


def conversation(number: int, said: str) -> Conversation:
    at = START + timedelta(days=number)
    messages = [
        Message(role=role, content=text, created_at=at + timedelta(minutes=n), raw=text)
        for n, (role, text) in enumerate((("user", said), ("assistant", "Noted.")))
    ]
    return Conversation(id=f"said-{number}", profile="other words", language="en", messages=messages)


def found_text(user: User, asked: str) -> str:
    query = RecallQuery(user_id=user.pk, text=asked, at=timezone.now(), everywhere=True)
    with read_only():
        return packed([candidate.text for candidate in search(query, most=MOST_RESULTS)], PACKED)
