"""``make bench ONLY=memory``: how much of what questions rest on is recalled, by budget, kind of talk, and size of account.

Beside it what PostgreSQL's ``ts_rank``, BM25 over whole turns and embeddings alone find of it. Alone, with a PostgreSQL of its
own: ``python -m tests.benchmarks.memory [--quick] [--data FILE] [--profile NAME] …``.
"""

import argparse
import math
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmarks.talk.shapes import Conversation, Question, flattened, read, texts

if TYPE_CHECKING:
    import uuid

    from django.contrib.auth.models import User

TOKENS = (1_000, 2_000)
"""What may be recalled for a message, beside what is shipped."""
CHARACTERS = (500, 1_000, 2_000, 4_000)
PACKED = 2_000
CONTEXT, SEARCH = "context", "search"
MOST_RESULTS = 50
QUICK_QUESTIONS = 25
"""Questions of a conversation in a quick run."""
SAMPLED = 4
"""Each so many-th question is asked with other budgets as well."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """Shares of a question's evidence that were recalled, and milliseconds, by the way of recalling."""

    conversation: Conversation
    question: Question
    shares: dict[str, float] = field(default_factory=dict)
    milliseconds: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Plan:
    search_only: bool = False
    questions: int = 0
    """Of a conversation at most; 0: all."""
    others: bool = False
    budgets: bool = False


def main(arguments: Sequence[str] = ()) -> None:
    """Within a database of its own."""
    options = _options(arguments)
    plan = Plan(
        search_only=options.search_only,
        questions=options.questions or (QUICK_QUESTIONS if options.quick else 0),
        others=not options.quick and not options.ours_alone,
        budgets=not options.quick and not options.search_only,
    )
    corpus = _corpus(options)
    _prepare_meaning()
    accounts = options.account or (["alone"] if options.quick else ["alone", "together", "beside"])
    for account in accounts:
        results = list(_measured(corpus, account, plan, options.beside))
        title = {"alone": "one thread alone", "together": "all of a kind in one account"}.get(
            account, f"each beside {options.beside:,} unrelated turns"
        )
        report(title, results, brief=account != "alone" or options.quick)


def _prepare_meaning() -> None:
    from django.conf import settings  # noqa: PLC0415

    from memory.index import embed_turns  # noqa: PLC0415

    if settings.OPENBOOK_EMBEDDINGS and (problem := embed_turns.prepare()):
        sys.exit(problem)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.memory")
    parser.add_argument("--data", type=Path, action="append", help="conversations in a JSON file instead of made ones")
    parser.add_argument("--profile", action="append", help="only this kind of talk")
    parser.add_argument("--quick", action="store_true", help="few questions, alone, nothing beside")
    parser.add_argument("--questions", type=int, default=0, help="of a conversation at most, evenly taken")
    parser.add_argument("--search-only", action="store_true", help="no contexts are built")
    parser.add_argument("--ours-alone", action="store_true", help="nothing is measured beside")
    parser.add_argument("--account", action="append", choices=["alone", "together", "beside"])
    parser.add_argument("--beside", type=int, default=18_000, help="unrelated turns of the same person")
    return parser.parse_args(arguments)


def _corpus(options: argparse.Namespace) -> list[Conversation]:
    if options.data:
        conversations = [conversation for path in options.data for conversation in read(path)]
    else:
        from tests.benchmarks.talk import corpus  # noqa: PLC0415

        conversations = corpus.conversations(options.profile)
    return [c for c in conversations if not options.profile or c.profile in options.profile]


def _measured(corpus: Sequence[Conversation], account: str, plan: Plan, beside: int) -> Iterator[Result]:
    from tests.conversations.factories import make_user  # noqa: PLC0415

    if account == "alone":
        for conversation in corpus:
            user = make_user()
            threads = store(user, [conversation])
            yield from _asked(user, {conversation.id: conversation}, threads, [conversation], plan)
    elif account == "together":
        for profile in dict.fromkeys(conversation.profile for conversation in corpus):
            some = [conversation for conversation in corpus if conversation.profile == profile]
            user = make_user()
            threads = store(user, some)
            yield from _asked(user, {c.id: c for c in some}, threads, some, plan)
    else:
        yield from _beside(corpus, plan, beside)


def _beside(corpus: Sequence[Conversation], plan: Plan, beside: int) -> Iterator[Result]:
    """The unrelated turns are stored once; each conversation comes and goes."""
    from django.db import transaction  # noqa: PLC0415

    from tests.benchmarks.measuring import doing  # noqa: PLC0415
    from tests.benchmarks.talk import haystack  # noqa: PLC0415
    from tests.conversations.factories import make_user  # noqa: PLC0415

    unrelated = haystack.threads(beside)
    user = make_user()
    with doing(f"storing {sum(len(thread.messages) for thread in unrelated):,} unrelated turns"):
        store(user, unrelated)
    for conversation in corpus:
        with transaction.atomic():
            threads = store(user, [conversation])
            yield from list(_asked(user, {conversation.id: conversation}, threads, [*unrelated, conversation], plan))
            transaction.set_rollback(True)


def store(user: "User", conversations: Sequence[Conversation]) -> "dict[str, uuid.UUID]":
    """A thread for each, indexed; their ids by the conversations'."""
    from django.conf import settings  # noqa: PLC0415
    from django.db import connection  # noqa: PLC0415

    from conversations.models import Message as Turn  # noqa: PLC0415
    from memory.index import embed_turns, index_turns  # noqa: PLC0415
    from tests.conversations.factories import chain, make_thread  # noqa: PLC0415

    threads = {}
    for conversation in conversations:
        messages = conversation.messages
        thread = make_thread(
            user,
            title=conversation.id,
            message_count=len(messages),
            last_position=len(messages),
            created_at=messages[0].created_at,
            updated_at=messages[-1].created_at,
        )
        turns = chain(thread, [message.content for message in messages])
        for turn, message in zip(turns, messages, strict=True):
            turn.role, turn.created_at = message.role, message.created_at
        Turn.objects.bulk_create(turns, batch_size=1_000)
        threads[conversation.id] = thread.id
    index_turns.catch_up(user.pk)
    if settings.OPENBOOK_EMBEDDINGS:
        embed_turns.catch_up(user.pk)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE conversations_message, conversations_thread, memory_indexedturn")
    return threads


def _asked(
    user: "User",
    conversations: Mapping[str, Conversation],
    threads: "Mapping[str, uuid.UUID]",
    account: Sequence[Conversation],
    plan: Plan,
) -> Iterator[Result]:
    from tests.benchmarks import memory_others  # noqa: PLC0415

    languages = {conversation.language for conversation in account}
    language = languages.pop() if len(languages) == 1 else "en"
    turns = [message.content for conversation in account for message in conversation.messages]
    others = memory_others.ways(turns, language) if plan.others else {}
    for conversation in conversations.values():
        started = time.perf_counter()
        questions = list(conversation.questions)
        if plan.questions:
            questions = questions[:: math.ceil(len(questions) / plan.questions)]
        results = []
        for question in questions:
            result = Result(conversation=conversation, question=question)
            if not plan.search_only:
                _context(user, None if question.elsewhere else threads[conversation.id], result, CONTEXT)
            _search(user, result)
            for name, way in others.items():
                with _timed(result, name):
                    matches = way(question.question)
                result.shares[name] = share(result, packed(matches, PACKED))
            results.append(result)
        if plan.budgets:
            _by_budget(user, threads[conversation.id], results)
        _note(f"{conversation.id}: {len(conversation.messages)} turns, {len(questions)} questions, "
              f"{time.perf_counter() - started:.1f} s")  # fmt: skip
        yield from results


def _by_budget(user: "User", thread: "uuid.UUID", results: Sequence[Result]) -> None:
    """What else the Companion may recall for a message; it is left as it was."""
    from conversations.models import Assistant  # noqa: PLC0415

    companion = Assistant.objects.filter(slug="companion")
    shipped = companion.get().recall_tokens
    for tokens in TOKENS:
        companion.update(recall_tokens=tokens)
        for result in results[::SAMPLED]:
            _context(user, None if result.question.elsewhere else thread, result, f"{CONTEXT}, {tokens:,}")
    companion.update(recall_tokens=shipped)


def _context(user: "User", thread: "uuid.UUID | None", result: Result, name: str) -> None:
    from conversations.models import text_blocks  # noqa: PLC0415
    from conversations.replies import model_requests  # noqa: PLC0415

    with _timed(result, name):
        prepared = model_requests.upcoming(
            user=user, thread_id=thread, assistant="companion", blocks=text_blocks(result.question.question)
        )
    payload = prepared.context.payload
    result.shares[name] = share(result, " ".join(texts({key: payload[key] for key in ("system", "messages")})))


def _search(user: "User", result: Result) -> None:
    from django.utils import timezone  # noqa: PLC0415

    from conversations.runtime.db import read_only  # noqa: PLC0415
    from memory.sources.recall import RecallQuery, search  # noqa: PLC0415

    query = RecallQuery(user_id=user.pk, text=result.question.question, at=timezone.now(), everywhere=True)
    with _timed(result, SEARCH), read_only():
        candidates = search(query, most=MOST_RESULTS)
    matches = [candidate.text for candidate in candidates]
    for characters in CHARACTERS:
        result.shares[f"{SEARCH}, {characters:,}"] = share(result, packed(matches, characters))


@contextmanager
def _timed(result: Result, name: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    result.milliseconds[name] = (time.perf_counter() - started) * 1000


def packed(matches: Iterable[str], characters: int) -> str:
    """Of what was found, best first, whatever still fits."""
    text = ""
    for match in matches:
        if len(text) + len(match) + 1 <= characters:
            text += match + "\n"
    return text


def share(result: Result, text: str) -> float:
    """How much of the evidence stands in a text. Pure."""
    text = flattened(text)
    places = result.question.evidence
    return sum(flattened(result.conversation.messages[place].raw) in text for place in places) / len(places)


def report(title: str, results: Sequence[Result], *, brief: bool) -> None:
    names = list(dict.fromkeys(name for result in results for name in result.shares))
    print(f"\n== evidence recalled, {title}, %")
    print(f"  {'':<44}" + "".join(f"{_short(name):>10}" for name in names) + f"{'n':>7}")
    _rows("", results, lambda _: "all", names)
    _rows("by kind", results, lambda result: result.conversation.profile, names)
    if len({result.conversation.language for result in results}) > 1:
        _rows("by language", results, lambda result: result.conversation.language, names)
    _rows("by category", results, lambda result: result.question.category, names)
    if not brief:
        _rows(
            "by kind, language and category",
            results,
            lambda r: f"{r.conversation.profile} {r.conversation.language} {r.question.category}",
            names,
        )
    print(f"\n== time, {title}, ms")
    for name in dict.fromkeys(name for result in results for name in result.milliseconds):
        values = sorted(result.milliseconds[name] for result in results if name in result.milliseconds)
        print(f"  {name:<44} p50 {values[len(values) // 2]:8.1f}  p95 {values[int(len(values) * 0.95)]:8.1f}")
    sys.stdout.flush()


def _rows(title: str, results: Sequence[Result], key: Callable[[Result], str], names: Sequence[str]) -> None:
    if title:
        print(f"  – {title}")
    groups = defaultdict(list)
    for result in results:
        groups[key(result)].append(result)
    for label, group in sorted(groups.items()):
        cells = ""
        for name in names:
            shares = [result.shares[name] for result in group if name in result.shares]
            cells += f"{100 * sum(shares) / len(shares):>10.1f}" if shares else f"{'':>10}"
        print(f"  {label:<44}{cells}{len(group):>7,}")


def _short(name: str) -> str:
    return name.replace(CONTEXT, "ctx").replace(SEARCH, "srch").replace(", ", " ")


def _note(text: str) -> None:
    print(f"  {text}", file=sys.stderr, flush=True)


def alone() -> None:
    from tests.services import postgres  # noqa: PLC0415

    with postgres() as url:
        os.environ["DATABASE_URL"] = url
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        import django  # noqa: PLC0415

        django.setup()
        from tests.benchmarks.measuring import database  # noqa: PLC0415

        with database():
            main(sys.argv[1:])


if __name__ == "__main__":
    alone()
