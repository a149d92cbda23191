"""Facts as rows: what is known of a person, and what is found, ends or holds again. Whoever calls holds a transaction."""

import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Max, Q

from conversations.models import Message, Project, Thread
from memory.consolidation.findings import ExtractedFact
from memory.consolidation.supersession import End, Facts, New, StoredFact, placed, stored_fact
from memory.models import Memory
from memory.tags import project_tag, thread_tag


def facts_of(user_id: int) -> dict[uuid.UUID | None, Facts]:
    """All that is kept about a user, to compare with: by project, for none is told of another's."""
    by_project: dict[uuid.UUID | None, Facts] = {}
    projects = {project_tag(id): id for id in Project.objects.filter(user=user_id).values_list("id", flat=True)}
    projects |= {thread_tag(thread): project for thread, project in projects_of_threads(user_id).items()}
    columns = (
        "id",
        "content",
        "sources",
        "valid_from",
        "created_at",
        "said_at",
        "ended_at",
        "superseded_by",
        "settled_at",
    )
    rows = Memory.objects.filter(user=user_id).order_by("created_at", "id")
    for memory in rows.only(*columns, "confined_to").iterator():
        by_project.setdefault(projects.get(memory.confined_to), Facts()).add(_stored(memory))
    return by_project


def _stored(memory: Memory) -> StoredFact:
    return stored_fact(
        id=memory.id,
        text=memory.content,
        sources=memory.sources,
        at=memory.began_at,
        said_at=memory.said_at,
        end=End(at=memory.ended_at, by=memory.superseded_by_id) if memory.ended_at else None,
        settled_at=memory.settled_at,
    )


def projects_of_threads(user_id: int) -> dict[uuid.UUID, uuid.UUID]:
    """Of those that are in one."""
    threads = Thread.objects.filter(user=user_id, project__isnull=False)
    return {thread: project for thread, project in threads.values_list("id", "project") if project}


def keep_said_again(user_id: int, thread_id: uuid.UUID, again: Mapping[uuid.UUID, ExtractedFact]) -> None:
    """A fact that another thread told stays where this one told it, whatever becomes of the other."""
    if again:
        held = Memory.objects.filter(user=user_id, id__in=again, ended_at=None)
        for memory in held:
            if again[memory.id].at > memory.said_at:
                held.filter(id=memory.id).update(said_at=again[memory.id].at)
        found = held.filter(origin=Memory.Origin.CONVERSATION)
        for memory in found.exclude(tags__contains=[thread_tag(thread_id)]):
            add_telling(memory, again[memory.id].sources, thread_id)


def keep_facts(user_id: int, new: Iterable[New], tags: Sequence[str]) -> None:
    for new_fact in new:
        end = new_fact.end
        Memory.objects.create(
            id=new_fact.id,
            user_id=user_id,
            content=new_fact.fact.text,
            tags=list(tags),
            origin=Memory.Origin.CONVERSATION,
            sources=list(new_fact.fact.sources),
            created_at=new_fact.fact.at,
            said_at=new_fact.fact.at,
            valid_from=new_fact.fact.at,
            valid_until=new_fact.fact.valid_until,
            ended_at=end.at if end else None,
            superseded_by_id=end.by if end else None,
        )
        end_replaced(user_id, new_fact.replaces, End(at=new_fact.fact.at, by=new_fact.id))


def place(user_id: int, ids: Collection[uuid.UUID]) -> None:
    """Notes that came otherwise than by a conversation, where they belong among those that are known: they end what was said
    before them, and end where something did that was said later."""
    for facts in facts_of(user_id).values():
        for fact in sorted((facts.by_id[id] for id in ids if id in facts.by_id), key=lambda fact: fact.at):
            facts.remove([fact.id])
            new = placed(ExtractedFact(text=fact.text, sources=tuple(fact.sources), at=fact.at), facts)
            end_replaced(user_id, new.replaces, End(at=fact.at, by=fact.id))
            for id in new.replaces:
                facts.change(id, end=End(at=fact.at, by=fact.id))
            facts.add(fact)
            if new.end and (not fact.end or new.end.at < fact.end.at):
                write_end(user_id, fact.id, new.end)
                facts.change(fact.id, end=new.end)


def restore(memory: Memory, at: datetime) -> None:
    """Undo the end of a note, which the person decided ``at`` that time: it holds as if what ended it had not been said. That
    one ends where it began; if it had begun earlier, where the note begins. So does what else held then and is ended by it."""
    user_id = memory.user_id
    facts = next(facts for facts in facts_of(user_id).values() if memory.id in facts.by_id)
    ender = facts.by_id.get(memory.superseded_by_id) if memory.superseded_by_id else None
    if ender:
        end = End(at=max(ender.at, memory.began_at), by=memory.id)
        if ender.end is None or ender.end.at > end.at:
            facts.change(ender.id, end=end)
            write_end(user_id, ender.id, end, settled_at=at)
    reopen(memory, facts, settled_at=at)
    facts.remove([memory.id])
    held = facts.held_until(ExtractedFact(text=memory.content, sources=tuple(memory.sources), at=memory.began_at))
    end_replaced(user_id, [fact.id for fact in held], End(at=memory.began_at, by=memory.id))


def write_end(user_id: int, id: uuid.UUID, end: End | None, **changes: Any) -> None:
    """Until when a note holds; with further changes of its row."""
    values = {"ended_at": end.at if end else None, "superseded_by": end.by if end else None}
    Memory.objects.filter(user=user_id, id=id).update(**values, **changes)


def end_replaced(user_id: int, ids: Sequence[uuid.UUID], end: End) -> None:
    """Those of the notes that would hold longer."""
    held = Q(ended_at=None) | Q(ended_at__gt=end.at)
    Memory.objects.filter(held, user=user_id, id__in=ids).update(ended_at=end.at, superseded_by=end.by)


def reopen(memory: Memory, facts: Facts, **changes: Any) -> None:
    """It holds until what else of ``facts`` ends it; with further changes of its row. Takes note of it in ``facts``."""
    end = facts.end_of(facts.by_id[memory.id])
    facts.change(memory.id, end=end)
    write_end(memory.user_id, memory.id, end, **changes)


def drop_ends(user_id: int, turns: Sequence[uuid.UUID]) -> None:
    """Facts of these turns that ended are not known either, and what they ended holds until what else ends it. What a person
    decided by hand stays."""
    mine = Memory.objects.filter(user=user_id)
    resting = [*mine.filter(sources__overlap=list(turns), origin=Memory.Origin.CONVERSATION, settled_at=None)]
    replacing = {memory.superseded_by_id for memory in resting if memory.superseded_by_id}
    undecided = {*mine.filter(id__in=replacing, settled_at=None).values_list("id", flat=True)} if replacing else set()
    gone = {memory.id for memory in resting if memory.ended_at is None or memory.superseded_by_id in undecided}
    if reopened := list(mine.filter(superseded_by__in=gone).exclude(id__in=gone)):
        by_project = facts_of(user_id)
        for memory in reopened:
            facts = next(facts for facts in by_project.values() if memory.id in facts.by_id)
            facts.remove(gone)
            reopen(memory, facts)
    mine.filter(id__in=gone).delete()


def told_elsewhere(user_id: int, memories: Iterable[Memory], thread_id: uuid.UUID) -> dict[uuid.UUID, list[uuid.UUID]]:
    """Those that other threads told as well: their turns, by memory."""
    several = [memory for memory in memories if len(memory.sources) > 1]
    turns = Message.objects.filter(user=user_id, id__in={source for memory in several for source in memory.sources})
    others = {*turns.exclude(thread=thread_id).values_list("id", flat=True)} if several else set()
    left = {memory.id: [source for source in memory.sources if source in others] for memory in several}
    return {id: sources for id, sources in left.items() if sources}


def leave_to(memory: Memory, sources: Sequence[uuid.UUID], *, without: uuid.UUID) -> None:
    """It rests on these turns alone from now on, which are of other threads than that one."""
    tags = [tag for tag in memory.tags if tag != thread_tag(without)]
    told = Message.objects.filter(user=memory.user_id, id__in=sources).aggregate(at=Max("created_at"))["at"]
    said_at = min(memory.said_at, told or memory.said_at)
    mine = Memory.objects.filter(user=memory.user_id, id=memory.id)
    mine.update(sources=list(sources), tags=tags, said_at=said_at)


def add_telling(memory: Memory, sources: Sequence[uuid.UUID], thread_id: uuid.UUID) -> None:
    """That this thread told it, too."""
    Memory.objects.filter(user=memory.user_id, id=memory.id).update(
        sources=list(dict.fromkeys([*memory.sources, *sources])),
        tags=list(dict.fromkeys([*memory.tags, thread_tag(thread_id)])),
    )
