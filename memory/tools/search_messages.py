"""The model looks up what was said before its window begins, in this thread or in others of the person, and in their files."""

from collections.abc import Mapping
from typing import Any

from conversations.context.render.search_quotes import SEARCH_TOOL, Passage, joined, source_of, source_of_part
from conversations.models import Message, Thread
from conversations.runtime import clock
from conversations.runtime.db import read_only
from conversations.runtime.text import clean
from conversations.tools.base import Tool, ToolContext, ToolResult
from memory.models import Preferences
from memory.scope import scope_of_thread
from memory.services import zone_of
from memory.sources.file_passages import FilePassage, file_passages
from memory.sources.passages import Candidate
from memory.sources.recall import RecallQuery, search

MOST = 8
MOST_PARTS = 4


def run(call: ToolContext, input: Mapping[str, Any]) -> ToolResult:
    query = clean(input["query"])
    turns, parts = search_turns(call, query), search_files(call, query)
    if not (turns or parts):
        return ToolResult(
            text="Nothing was found. Try other words.", summary="Searched the conversations: nothing found"
        )
    passages = [*map(passage_of_turn, turns), *map(passage_of_file, parts)]
    return ToolResult(
        text=joined(passages),
        summary=f"Searched the conversations: {len(passages)} found",
        quoted={*(turn.id for turn in turns), *(part.file for part in parts)},
    )


def search_turns(call: ToolContext, query: str) -> list[Candidate]:
    """The turns before the newest message that bear on the query, best first."""
    here = Message.objects.filter(user=call.user_id, thread=call.thread_id, position=call.last_position)
    newest = here.values_list("depth").first()
    recall_query = RecallQuery(
        user_id=call.user_id,
        text=query,
        at=clock.now(),
        zone=zone_of(Preferences.objects.filter(user=call.user_id).first()),
        thread_id=call.thread_id,
        before=newest[0] if newest else call.last_position,
        elsewhere=remembers(call),
        memory=scope_of_thread(call.user_id, call.thread_id),
    )
    with read_only():
        return search(recall_query, facts=False, most=MOST)


def search_files(call: ToolContext, query: str) -> list[FilePassage]:
    """The passages of files that bear on the query, best first."""
    with read_only():
        return file_passages(
            user_id=call.user_id,
            thread_id=call.thread_id,
            text=query,
            most=MOST_PARTS,
            elsewhere=remembers(call),
            memory=scope_of_thread(call.user_id, call.thread_id),
        )


def remembers(call: ToolContext) -> bool:
    """Whether the person lets this thread know of others."""
    off = Preferences.objects.filter(user=call.user_id, remembers=False)
    here = Thread.objects.filter(user=call.user_id, id=call.thread_id, remembers=True)
    return here.exists() and not off.exists()


def passage_of_turn(turn: Candidate) -> Passage:
    return Passage(
        source=source_of(turn.at, turn.role),
        text=turn.text,
        begins_within=bool(turn.head),
        ends_within=not turn.is_last,
        is_replaced=turn.replaced_by is not None,
    )


def passage_of_file(part: FilePassage) -> Passage:
    return Passage(
        source=source_of_part(part.at, part.name, part.label),
        text=part.text,
        begins_within=part.begins_within,
        ends_within=part.ends_within,
    )


TOOL = Tool(
    name=SEARCH_TOOL,
    description=(
        "Search what was said earlier, in this conversation and in others with the same person, beyond what you are given, "
        "and what stands in files that the person uploaded. Use it when the person refers to something that you don't see. "
        "Returns the best turns with their time and speaker, and passages of files with their name and page."
    ),
    schema={
        "type": "object",
        "properties": {"query": {"type": "string", "minLength": 1, "description": "A few words that it would hold."}},
        "required": ["query"],
        "additionalProperties": False,
    },
    run=run,
    doing="Searching the conversations",
)
