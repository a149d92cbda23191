"""``make bench ONLY=memory``: how much of what questions rest on is recalled, by budget, kind of talk, and size of account.

Beside it what PostgreSQL's ``ts_rank``, BM25 over whole turns and static embeddings find of it. With options:
``python -m tests.benchmarks.memory [--quick] [--data FILE] [--profile NAME] …``.
"""

import argparse
import math
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from conversations.models import Assistant, text_blocks
from conversations.replies import model_requests
from conversations.replies.user_content import NewMessage
from conversations.runtime import db
from conversations.runtime.db import read_only
from memory.index import word_index
from memory.sources import recall
from memory.sources.recall import RecallQuery, search
from tests.benchmarks.measuring import doing
from tests.benchmarks.memory import others
from tests.benchmarks.memory.accounts import said_turn, store
from tests.benchmarks.memory.report import (
    ASKED,
    CONTEXT,
    CONTEXT_WORDS,
    SAMPLED,
    SEARCH,
    SEARCH_WORDS,
    TOKENS,
    Result,
    list_misses,
    packed,
    report,
    share,
    word_share,
)
from tests.benchmarks.talk import corpus, haystack
from tests.benchmarks.talk.shapes import Conversation, read, texts
from tests.conversations.factories import make_thread, make_user

CHARACTERS = (500, 1_000, 2_000, 4_000)
PACKED = 2_000
"""Characters that other ways of searching may give."""
MOST_RESULTS = 50
NO_ANSWER = "I can't tell from what I know."
QUICK_QUESTIONS = 25
"""Questions of a conversation in a quick run."""
ALONE, TOGETHER, BESIDE = "alone", "together", "beside"
TITLES = {
    ALONE: "one thread alone",
    TOGETHER: "all of a kind in one account",
    BESIDE: "each beside unrelated turns of the same person",
}


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is measured; ``questions``: of a conversation at most, 0 for all."""

    questions: int = 0
    contexts: bool = True
    budgets: bool = True
    others: bool = True
    asked_again: bool = True


def main(arguments: Sequence[str] = ()) -> None:
    """Within a database of its own."""
    options = read_options(arguments)
    plan = Plan(
        questions=options.questions or (QUICK_QUESTIONS if options.quick else 0),
        contexts=not options.search_only,
        budgets=not (options.quick or options.ours_alone or options.search_only),
        others=not (options.quick or options.ours_alone),
        asked_again=not options.search_only,
    )
    conversations = read_corpus(options)
    with unhurried():
        if options.ablation:
            from tests.benchmarks.memory import ablation  # noqa: PLC0415 – it asks by what stands here

            ablation.main(conversations, plan.questions)
            return
        for account in options.account or ([ALONE] if options.quick else TITLES):
            results = list(measure(conversations, account, plan, options.beside))
            report(TITLES[account], results, is_brief=options.quick or account != ALONE)
            if options.misses:
                list_misses(results, options.misses, f"{SEARCH}, {PACKED:,}" if options.search_only else CONTEXT)


@contextmanager
def unhurried() -> Iterator[None]:
    """On a busy machine nothing is given up: how much is found must not depend on it."""
    settings = db.SETTINGS.replace(str(db.QUICK_MILLISECONDS), "0")
    with patch.object(recall, "MILLISECONDS", 0), patch.object(db, "SETTINGS", settings):
        yield


def read_options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.memory")
    parser.add_argument("--data", type=Path, action="append", help="conversations in a JSON file instead of made ones")
    parser.add_argument("--profile", action="append", help="only this kind of talk")
    parser.add_argument("--account", action="append", choices=TITLES, help="only this size of account")
    parser.add_argument("--beside", type=int, default=18_000, metavar="TURNS", help="how many unrelated ones")
    parser.add_argument("--questions", type=int, default=0, help="of a conversation at most, evenly taken")
    parser.add_argument("--search-only", action="store_true", help="no contexts are built")
    parser.add_argument("--ours-alone", action="store_true", help="no other way of searching, no other budget")
    parser.add_argument("--misses", type=int, default=0, help="print so many questions of a kind that miss evidence")
    parser.add_argument("--ablation", action="store_true", help="what is recalled without each part")
    parser.add_argument("--quick", action="store_true", help=f"ours alone, {QUICK_QUESTIONS} questions each")
    return parser.parse_args(arguments)


def read_corpus(options: argparse.Namespace) -> list[Conversation]:
    if not options.data:
        return corpus.conversations(options.profile)
    conversations = [conversation for path in options.data for conversation in read(path)]
    return [c for c in conversations if not options.profile or c.profile in options.profile]


def measure(conversations: Sequence[Conversation], account: str, plan: Plan, beside: int) -> Iterator[Result]:
    if account == BESIDE:
        yield from measure_beside(conversations, haystack.threads(beside), plan)
        return
    groups: dict[str, list[Conversation]] = {}
    for conversation in conversations:
        groups.setdefault(conversation.id if account == ALONE else conversation.profile, []).append(conversation)
    for group in groups.values():
        user = make_user()
        yield from ask_all(user, group, store(user, group), group, plan)


def measure_beside(
    conversations: Sequence[Conversation], unrelated: Sequence[Conversation], plan: Plan
) -> Iterator[Result]:
    """The unrelated turns are stored once; each conversation comes and goes."""
    user = make_user()
    with doing(f"storing {sum(len(thread.messages) for thread in unrelated):,} unrelated turns"):
        store(user, unrelated)
    for conversation in conversations:
        with transaction.atomic():
            threads = store(user, [conversation])
            yield from list(ask_all(user, [conversation], threads, [*unrelated, conversation], plan))
            transaction.set_rollback(True)


def ask_all(
    user: User,
    conversations: Sequence[Conversation],
    threads: Mapping[str, uuid.UUID],
    account: Sequence[Conversation],
    plan: Plan,
) -> Iterator[Result]:
    """All questions of the conversations, in an account that holds these and perhaps more."""
    languages = {conversation.language for conversation in conversations}
    turns = [message.content for conversation in account for message in conversation.messages]
    ways = others.ways(turns, languages.pop() if len(languages) == 1 else "en") if plan.others else {}
    for conversation in conversations:
        questions = conversation.questions
        if plan.questions:
            questions = questions[:: math.ceil(len(questions) / plan.questions)]
        results = [Result(conversation=conversation, question=question) for question in questions]
        with doing(f"{conversation.id}: {len(conversation.messages)} turns, {len(questions)} questions"):
            for result in results:
                if plan.contexts:
                    build(user, threads[conversation.id], result, CONTEXT)
                look_up(user, result)
                for name, way in ways.items():
                    with timed(result, name):
                        matches = way(result.question.question)
                    result.shares[name] = share(result, packed(matches, PACKED))
            if plan.budgets:
                build_by_budget(user, threads[conversation.id], results[::SAMPLED])
            if plan.asked_again:
                ask_again(user, results[::SAMPLED])
        yield from results


def build_by_budget(user: User, thread: uuid.UUID, results: Sequence[Result]) -> None:
    """What else the Companion may recall for a message; it is left as it was."""
    companion = Assistant.objects.filter(slug="companion")
    shipped = companion.get().recall_tokens
    for tokens in TOKENS:
        companion.update(recall_tokens=tokens)
        for result in results:
            build(user, thread, result, f"{CONTEXT}, {tokens:,}")
    companion.update(recall_tokens=shipped)


def ask_again(user: User, results: Sequence[Result]) -> None:
    """What the context of a new thread holds, and what it holds once two threads have had the same question and no answer."""
    for result in results:
        question = result.question.question
        build(user, None, result, ASKED[0])
        with transaction.atomic():
            for time_asked in range(2):
                thread = make_thread(user, [question, NO_ANSWER], title=f"asked {time_asked}")
                word_index.store(user.pk, map(said_turn, thread.messages.all()))
            build(user, None, result, ASKED[1])
            transaction.set_rollback(True)


def build(user: User, thread: uuid.UUID | None, result: Result, name: str) -> None:
    """The whole context that the question would get as a message, as ``POST threads/{id}/context/`` builds it."""
    with timed(result, name):
        context = model_requests.upcoming(
            NewMessage(
                user=user,
                thread_id=None if result.question.elsewhere else thread,
                assistant="companion",
                blocks=text_blocks(result.question.question),
            )
        ).context
    assert not context.problems, context.problems
    result.tokens[name] = context.total_tokens
    payload = {key: context.payload[key] for key in ("system", "messages")}
    text = " ".join(texts(payload))
    result.shares[name] = share(result, text)
    if name == CONTEXT:
        result.shares[CONTEXT_WORDS] = word_share(result, text)


def look_up(user: User, result: Result) -> None:
    """What ``GET memories/search/`` finds for the question."""
    query = RecallQuery(user_id=user.pk, text=result.question.question, at=timezone.now(), everywhere=True)
    with timed(result, SEARCH), read_only():
        matches = [candidate.text for candidate in search(query, most=MOST_RESULTS)]
    for characters in CHARACTERS:
        result.shares[f"{SEARCH}, {characters:,}"] = share(result, packed(matches, characters))
    result.shares[SEARCH_WORDS] = word_share(result, packed(matches, PACKED))


@contextmanager
def timed(result: Result, name: str) -> Iterator[None]:
    started = time.perf_counter()
    try:
        yield
    finally:
        result.milliseconds[name] = (time.perf_counter() - started) * 1000
