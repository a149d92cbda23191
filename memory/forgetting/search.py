"""Which rows of a person hold what is to be forgotten: by what they rest on, and by what they say. Reads only."""

import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Model, Q, QuerySet, TextField
from django.db.models.functions import Cast

from artifacts.models import Artifact, ArtifactVersion
from conversations.context.files.thread_files import names_of_files
from conversations.context.turns.groups import FILE
from conversations.models import (
    Feedback,
    Instructions,
    Message,
    Project,
    Prompt,
    Reply,
    ReplyEvent,
    Schedule,
    Thread,
)
from conversations.runtime.db import run
from conversations.threads.titles import titles_from
from memory.forgetting import quotations
from memory.forgetting.copies import with_copies
from memory.forgetting.exposure import given_away
from memory.forgetting.hints import NONE, Hints, Keys
from memory.forgetting.matcher import Needles, TargetSentence, facts_in, quote_of
from memory.forgetting.normalization import sentences
from memory.forgetting.quotations import Quotations
from memory.forgetting.recorded_texts import RemovedRows, RowKey, find_recorded
from memory.forgetting.result import INSTRUCTIONS, Column, ForgottenTurn, Rows, Why
from memory.language.words import WORD, stems, term
from memory.models import DailySummary, Memory, ThreadSummary, Topic, Vocabulary

MOST_STARTS = 30
"""With more beginnings of words than these, all texts are read and looked at here."""
QUOTED = 5
"""Words of a sentence whose wording tells where it comes from."""
IN_PIECES = {"reply.delta": "text", "reply.thinking": "summary"}
"""Where events tell a text piece by piece."""

WRITTEN: Mapping[type[Model], Sequence[str]] = {
    Thread: ("tags", "instructions"),
    Project: ("name", "instructions"),
    Instructions: ("about", "style"),
}
"""Rows of a person that stay, and the columns of their own words that are blanked one by one."""

COUNTS = """
SELECT wanted.term, (SELECT count(*) FROM memory_indexedpassage WHERE user_id = %(user)s AND terms @> ARRAY[wanted.term])
FROM unnest(%(terms)s::int[]) AS wanted (term)
"""


@dataclass(frozen=True, kw_only=True)
class ForgetTarget:
    """What is to be forgotten: memories with their turns, turns alone, or all that is remembered."""

    memories: Collection[uuid.UUID] = ()
    turns: Collection[uuid.UUID] = ()
    everything: bool = False


@transaction.atomic  # in which long results come in pieces
def find(user: User, target: ForgetTarget) -> Rows:
    """All rows of the user's that go."""
    # What is known rests on the turns that a thread was forked from, whichever of the copies is named.
    target = replace(target, turns=with_copies(user.pk, _with_whole_answers(user, target.turns)))
    memories = _memories(user, target)
    facts = _facts(user, memories)
    needles = _needles(user, memories, facts)
    hints = Hints(
        {str(id): targets for id, targets in facts.items()}, but=f"{user.username} {user.first_name} {user.last_name}"
    )
    telling = _telling(
        Memory.objects.filter(user=user).exclude(id__in=[memory.id for memory in memories]), needles, "content"
    )
    copies = needles.and_also(_quotes(user, target.turns)) if target.turns else needles
    sources = with_copies(
        user.pk, {*target.turns, *(source for memory in [*memories, *telling] for source in memory.sources)}
    )
    turns = _turns(user, sources, needles, copies)
    columns = _columns(user, copies)
    instructing = (id for column in INSTRUCTIONS for id in columns[column])
    exposure = given_away(
        user,
        hints,
        {memory.id: frozenset({str(memory.id)}) for memory in memories}
        | {memory.id: hints.keys for memory in telling}
        | dict.fromkeys(instructing, hints.keys),
        _told_by(turns, [*memories, *telling], hints),
    )
    files, quotes = _quoted(user, [*turns, *exposure.turns])
    mentions: dict[Message, Why] = dict.fromkeys([*quotes.turns, *exposure.turns], "mention")
    results = in_order(mentions | turns)
    rows = _rest(user, target, results, needles)
    rows = replace(
        rows,
        prompts=_ids(_telling(Prompt.objects.filter(user=user), copies, "name", "text")),
        schedules=_schedules(user, results, copies),
    )
    replies = _replies(user, results, copies, hints, exposure.replies) | quotes.replies
    rows = replace(
        rows,
        columns=columns,
        memories=rows.memories | exposure.memories | {memory.id for memory in [*memories, *telling]},
        threads=rows.threads | exposure.threads,
        artifacts=rows.artifacts | exposure.artifacts,
        versions=rows.versions | exposure.versions,
        replies=replies,
        files=files | quotes.files,
        feedback=rows.feedback | feedback_on(user.pk, results, replies),
    )
    return _with_records(user, rows, copies, quotes, exposure.blocks, everything=target.everything)


def _quoted(user: User, turns: Sequence[Message]) -> tuple[frozenset[uuid.UUID], Quotations]:
    """The files that the turns brought, and where the turns and these are quoted."""
    files = quotations.files_of(turns)
    threads = list(Thread.objects.filter(user=user).values_list("id", flat=True))
    said = Message.objects.filter(user=user, id__in=[turn.id for turn in turns])
    return files, quotations.quoting(user.pk, threads, said, files)


def _memories(user: User, target: ForgetTarget) -> list[Memory]:
    """Those asked for with all that they replaced or were replaced by."""
    mine = Memory.objects.filter(user=user)
    if target.everything:
        return list(mine)
    ids, before = set(target.memories), -1
    links = [
        (memory.id, memory.superseded_by_id)
        for memory in mine.filter(superseded_by__isnull=False).only("superseded_by")
    ]
    while len(ids) > before:
        before = len(ids)
        ids |= {id for link in links if not ids.isdisjoint(link) for id in link if id}
    return list(mine.filter(id__in=ids))


def _needles(user: User, memories: Sequence[Memory], facts: Mapping[uuid.UUID, Sequence[TargetSentence]]) -> Needles:
    """What the memories say, and what their sources say where that is the same in quite other words."""
    needles = Needles(fact for targets in facts.values() for fact in targets)
    silent = [
        id
        for id, text in _texts(user, {source for memory in memories for source in memory.sources})
        if not needles.tell(text)
    ]
    return needles.and_also(_quotes(user, silent))


def _quotes(user: User, turns: Collection[uuid.UUID]) -> list[TargetSentence]:
    """The sentences of turns, but for those so short that anybody may say them."""
    own_sentences = [sentence for _, text in _texts(user, turns) for sentence in sentences(text)]
    return [
        quote_of(sentence)
        for sentence in own_sentences
        if len(WORD.findall(sentence)) >= QUOTED or len(stems(sentence)) >= QUOTED
    ]


def _texts(user: User, turns: Collection[uuid.UUID]) -> list[tuple[uuid.UUID, str]]:
    messages = Message.objects.filter(id__in=turns, user=user).exclude(status=Message.Status.FORGOTTEN)
    return list(messages.values_list("id", "text"))


def _facts(user: User, memories: Sequence[Memory]) -> dict[uuid.UUID, list[TargetSentence]]:
    counts, turns = _counts(user, {stem for memory in memories for stem in stems(memory.content)})
    return {memory.id: facts_in(memory.content, counts, turns) for memory in memories}


def _counts(user: User, words: Collection[str]) -> tuple[dict[str, int], int]:
    """In how many of the user's turns these stems stand, and how many turns there are."""
    known = Vocabulary.objects.filter(user=user).first()
    turns = known.turns if known else 0
    shares = dict(zip(known.common, known.shares, strict=True)) if known else {}
    terms = {word: term(user.pk, word) for word in words}
    rare = [number for number in terms.values() if number not in shares]
    counted = dict(run(COUNTS, user=user.pk, terms=rare))
    common = {number: share * turns // 1_000_000 for number, share in shares.items()}
    return {word: (counted | common)[number] for word, number in terms.items()}, turns


def _turns(user: User, sources: Collection[uuid.UUID], needles: Needles, copies: Needles) -> dict[Message, Why]:
    """The sources, and the turns that tell it, or hold a copy in what a tool answered."""
    mine = Message.objects.filter(user=user, thread__user=user).exclude(status=Message.Status.FORGOTTEN)
    mine = mine.only("id", "thread_id", "position", "role", "text", "content", "created_at")
    others = mine.exclude(id__in=sources)
    mentions = [*_telling(others, needles, "text"), *_telling(others.filter(content__isnull=False), copies, "content")]
    results: dict[Message, Why] = dict.fromkeys(mentions, "mention")
    return results | dict.fromkeys(mine.filter(id__in=sources), "source")


def _told_by(turns: Iterable[Message], memories: Sequence[Memory], hints: Hints) -> dict[Message, Keys]:
    """What each of the turns tells: the memories that rest on it, or else all that it may."""
    resting: dict[uuid.UUID, set[str]] = {}
    for memory in memories:
        for source in memory.sources:
            resting.setdefault(source, set()).update({str(memory.id)} & hints.keys or hints.keys)
    return {
        turn: frozenset(resting[turn.id])
        if turn.id in resting
        else hints.matching_keys(turn.text, hints.keys) or hints.keys
        for turn in turns
    }


def in_order(turns: Mapping[Message, Why]) -> tuple[ForgottenTurn, ...]:
    return tuple(
        ForgottenTurn(
            id=turn.id,
            thread=turn.thread_id,
            position=turn.position,
            role=turn.role,
            text=turn.text,
            why=turns[turn],
        )
        for turn in sorted(turns, key=lambda turn: (turn.created_at, turn.thread_id, turn.position))
    )


def _rest(user: User, target: ForgetTarget, turns: Sequence[ForgottenTurn], needles: Needles) -> Rows:
    """What tells of it or rests on the turns, besides them and what was recorded of requests."""
    ids = [turn.id for turn in turns]
    topics = Topic.objects.filter(user=user)
    told_topics = topics if target.everything else _telling(topics, needles, "title")
    memories = Memory.objects.filter(user=user, sources__overlap=list(target.turns))
    artifacts = Artifact.objects.filter(user=user, thread__user=user)
    rows = Rows(
        memories=resting_on(user.pk, memories, ids),
        turns=tuple(turns),
        topics=_ids(told_topics) | resting_on(user.pk, topics.filter(sources__overlap=ids), ids),
        threads=_titled(user, turns, needles),
        artifacts=_ids(_telling(artifacts, needles, "title")),
        versions=_ids(_telling(ArtifactVersion.objects.filter(user=user, thread__user=user), needles, "content")),
        feedback=_ids(_telling(Feedback.objects.filter(user=user), needles, "text", "notes")),
    )
    return _with_summaries(user, rows, needles, everything=target.everything)


def _with_summaries(user: User, rows: Rows, needles: Needles, *, everything: bool) -> Rows:
    parts, days = ThreadSummary.objects.filter(user=user), DailySummary.objects.filter(user=user)
    if everything:
        return replace(rows, summaries=_ids(parts), days=_ids(days))
    summaries = _ids(_telling(parts, needles, "text", "key_moments")) | _ids(parts_with(parts, rows.turns))
    resting, telling = days.filter(parts__overlap=list(summaries)), _telling(days, needles, "text", "key_moments")
    others = {part for day in telling if summaries.isdisjoint(day.parts) for part in day.parts}
    return replace(
        rows,
        summaries=summaries,
        days=_ids([*resting, *telling]),
        beside=_ids(parts.filter(id__in=others).exclude(text="")),
    )


def _with_records(
    user: User, rows: Rows, needles: Needles, quotes: Quotations, exposed: Mapping[RowKey, int], *, everything: bool
) -> Rows:
    """With the blocks of snapshots that go, and the threads that all of it lies in."""
    removed = RemovedRows(
        turns=rows.turns,
        rows=rows.memories | rows.topics | rows.summaries | rows.days | rows.files,
        replies=_answered(user, rows.turns) | quotes.replies,
        everything=everything,
    )
    threads = list(Thread.objects.filter(user=user).values_list("id", flat=True))
    results = find_recorded(user.pk, threads, removed, needles, {**exposed, **quotes.blocks})
    versions = ArtifactVersion.objects.filter(user=user, id__in=rows.versions).values_list("thread_id", flat=True)
    artifacts = Artifact.objects.filter(user=user, id__in=rows.artifacts).values_list("thread_id", flat=True)
    labelled = rows.of(*((Thread._meta.label, name) for name in WRITTEN[Thread]))
    touched = {turn.thread for turn in rows.turns} | rows.threads | labelled | results.threads
    return replace(
        rows,
        blocks=results.blocks,
        requests=results.requests,
        errors=results.replies | rows.replies,
        touched=frozenset(touched | {*versions} | {*artifacts}),
    )


def _columns(user: User, needles: Needles) -> dict[Column, frozenset[uuid.UUID]]:
    """Where the person's own words beside turns tell it."""
    telling = {
        model: _telling(model._default_manager.filter(user=user), needles, *names) for model, names in WRITTEN.items()
    }
    return {
        (model._meta.label, name): _ids(row for row in rows if needles.tell(getattr(row, name)))
        for model, rows in telling.items()
        for name in WRITTEN[model]
    }


def _schedules(user: User, turns: Sequence[ForgottenTurn], needles: Needles) -> frozenset[uuid.UUID]:
    """Those that tell it, and those that sent one of the turns or would send it again."""
    mine = Schedule.objects.filter(user=user)
    return _ids([*_telling(mine, needles, "content"), *mine.filter(content__in={turn.text for turn in turns})])


def _titled(user: User, turns: Sequence[ForgottenTurn], needles: Needles) -> frozenset[uuid.UUID]:
    """The threads whose title tells it, or is the first words of one of the turns."""
    mine = Thread.objects.filter(user=user)
    named = Message.objects.filter(user=user, id__in=[turn.id for turn in turns], content__contains=[{"type": FILE}])
    given = [(turn.thread, turn.text) for turn in turns]
    given += [(turn.thread_id, names_of_files(turn.blocks)) for turn in named]
    titles = {(thread, title) for thread, text in given for title in titles_from(text)}
    threads = mine.filter(id__in={turn.thread for turn in turns}).exclude(title="").values_list("id", "title")
    made = mine.filter(title_through__isnull=False, id__in={turn.thread for turn in turns})
    through = dict(made.values_list("id", "title_through"))
    by_a_model = {turn.thread for turn in turns if turn.position <= (through.get(turn.thread) or 0)}
    return _ids(_telling(mine, needles, "title")) | {id for id, title in threads if (id, title) in titles} | by_a_model


def parts_with(parts: QuerySet[ThreadSummary], turns: Sequence[ForgottenTurn]) -> list[ThreadSummary]:
    """Those that one of the turns lies in, unless they were forgotten as a whole already."""
    of_threads = parts.filter(thread__in={turn.thread for turn in turns}).exclude(text="", sources=[])
    places: dict[uuid.UUID, list[int]] = {}
    for turn in turns:
        places.setdefault(turn.thread, []).append(turn.position)
    return [
        part
        for part in of_threads
        if any(part.first_position <= position <= part.last_position for position in places[part.thread_id])
    ]


def resting_on(user_id: int, rows: Iterable[Any], ids: Collection[uuid.UUID]) -> frozenset[uuid.UUID]:
    """Those of the rows that no other turn is a source of, as far as there still is one."""
    results = list(rows)
    others = {source for row in results for source in row.sources} - {*ids}
    there = Message.objects.filter(user=user_id, id__in=others).exclude(status=Message.Status.FORGOTTEN)
    left = there.values_list("id", flat=True)
    return frozenset(row.id for row in results if {*left}.isdisjoint(row.sources))


def feedback_on(user_id: int, turns: Iterable[ForgottenTurn], replies: Collection[uuid.UUID]) -> frozenset[uuid.UUID]:
    """What was said of turns that go, and of the answers that these replies wrote."""
    wrote = Message.objects.filter(user=user_id, reply__in=replies).values_list("id", flat=True)
    said = Feedback.objects.filter(user=user_id, message__in={turn.id for turn in turns} | {*wrote})
    return frozenset(said.values_list("id", flat=True))


def _with_whole_answers(user: User, turns: Collection[uuid.UUID]) -> frozenset[uuid.UUID]:
    """The turns, and those that begin with one of them or that one of them begins with: an answer that was gone on with."""
    mine = Message.objects.filter(user=user)
    written = mine.filter(id__in=turns, reply__isnull=False).values_list("reply_id", flat=True)
    wrote = quotations.whole_answers(user.pk, written) if turns else frozenset()
    if not wrote:
        return frozenset(turns)
    return frozenset(turns) | frozenset(mine.filter(reply__in=wrote).values_list("id", flat=True))


def _answered(user: User, turns: Iterable[ForgottenTurn]) -> frozenset[uuid.UUID]:
    """The replies that wrote one of these turns."""
    wrote = Message.objects.filter(user=user, id__in=[turn.id for turn in turns], reply__isnull=False)
    return frozenset(wrote.values_list("reply_id", flat=True))


def _replies(
    user: User, turns: Sequence[ForgottenTurn], needles: Needles, hints: Hints, exposure: Mapping[uuid.UUID, Keys]
) -> frozenset[uuid.UUID]:
    """Those that wrote or answered one of the turns, and those whose events tell it."""
    replies = Reply.objects.filter(
        user=user, thread__in={turn.thread for turn in turns}, user_message__in=[turn.id for turn in turns]
    )
    results = {*_answered(user, turns), *replies.values_list("id", flat=True)}
    if needles:
        events = ReplyEvent.objects.filter(user=user, reply__user=user, reply__thread__user=user).order_by(
            "reply_id", "seq"
        )
        own_sentences: dict[uuid.UUID, dict[str, Any]] = {}
        for reply, kind, data in events.values_list("reply_id", "type", "data").iterator():
            texts = own_sentences.setdefault(reply, dict.fromkeys(IN_PIECES, "") | {"others": []})
            if name := IN_PIECES.get(kind):
                texts[kind] += data[name]
            else:
                texts["others"].append(data)
        results |= {
            reply
            for reply, texts in own_sentences.items()
            if needles.tell(texts) or hints.matching_keys(texts, exposure.get(reply, NONE))
        }
    return frozenset(results)


def _telling[M: Model](rows: QuerySet[M], needles: Needles, *fields: str) -> list[M]:
    """Those of the rows that tell one of the facts in one of the fields."""
    if not needles:
        return []
    starts = needles.starts()
    if len(starts) <= MOST_STARTS:
        texts = {f"{field}_text": Cast(field, TextField()) for field in fields}
        holding = Q()
        for name in texts:
            for start in starts:
                holding |= Q(**{f"{name}__icontains": start})
        rows = rows.annotate(**texts).filter(holding)
    return [row for row in rows.iterator() if needles.tell([getattr(row, field) for field in fields])]


def _ids(rows: Iterable[Any]) -> frozenset[Any]:
    return frozenset(row.pk for row in rows)
