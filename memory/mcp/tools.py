"""What other agents may do: a row for each tool. Each is one of the calls of REST, with the same rights and effects."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from mcp_types import Tool, ToolAnnotations

from conversations import threads
from conversations.context.record import snapshot_api
from conversations.context.record.snapshot_shapes import SnapshotAnswer
from conversations.errors import InvalidMessage, RequestNotFound
from conversations.models import ContextSnapshot, Scope
from conversations.rest.serializers import checked
from conversations.runtime import clock, long_work
from conversations.runtime.db import in_database
from conversations.runtime.long_work import WorkKind
from conversations.runtime.shapes import fields_of, fill, plain
from conversations.runtime.wording import worded
from conversations.threads import projects
from memory import forgetting, services
from memory.mcp import shapes, uris
from memory.mcp.caller import Caller
from memory.mcp.json_schema import schema_of
from memory.models import Memory
from memory.rest.forgetting import forgetting_object
from memory.rest.memories import memory_objects, own_tags, stripped
from memory.rest.search import find
from memory.rest.shapes import ForgettingAnswer, FoundListAnswer, MemoryAnswer


@dataclass(frozen=True, kw_only=True)
class MemoryTool:
    """``scopes``: of which a token needs one, the wide one first."""

    name: str
    title: str
    about: str
    takes: Any
    gives: Any
    scopes: tuple[Scope, ...]
    run: Callable[[Caller, Any], Awaitable[Any]]
    is_read_only: bool = True
    is_destructive: bool = False
    is_idempotent: bool = True

    async def call(self, caller: Caller, arguments: Mapping[str, Any]) -> Any:
        """Raises ``OpenbookError``, or DRF's ``ValidationError``."""
        caller.demand(*self.scopes)
        known = fields_of(self.takes)
        if unknown := [name for name in arguments if name not in known]:
            raise InvalidMessage(
                worded(
                    "There is no argument `{name}`.", "There are: {names}.", name=unknown[0], names=", ".join(known)
                ),
                field=unknown[0],
            )
        return await self.run(caller, checked(self.takes, dict(arguments)))

    def described(self) -> Tool:
        return Tool(
            name=self.name,
            title=self.title,
            description=self.about,
            input_schema=schema_of(self.takes, is_closed=True),
            output_schema=schema_of(self.gives),
            annotations=ToolAnnotations(
                title=self.title,
                read_only_hint=self.is_read_only,
                destructive_hint=self.is_destructive,
                idempotent_hint=self.is_idempotent,
                open_world_hint=False,
            ),
        )


@in_database
def _search(caller: Caller, arguments: shapes.SearchArguments) -> FoundListAnswer:
    query = stripped(arguments["query"])
    return find(caller.user, query, project=arguments.get("project"), most=arguments["limit"])


@in_database
def _recall(caller: Caller, arguments: shapes.RecallArguments) -> shapes.RecallAnswer:
    user, thread, project = caller.user, arguments.get("thread"), arguments.get("project")
    is_outside = project == projects.NONE
    memories = services.memories_of(
        user,
        held=not arguments["ended"],
        words=arguments["words"],
        thread=threads.get(user, thread) if thread else None,
        project=None if is_outside else projects.project_of(user, project),
        outside=is_outside,
    )
    begin, most = arguments["offset"], arguments["limit"]
    page = list(memories[begin : begin + most + 1])
    return {"memories": memory_objects(user, page[:most]), "more": len(page) > most}


@in_database
def _remember(caller: Caller, arguments: shapes.RememberArguments) -> MemoryAnswer:
    memory = services.remember(
        user=caller.user,
        content=stripped(arguments["content"]),
        tags=own_tags(caller.user, arguments.get("tags", [])),
        origin=Memory.Origin.PROGRAM,
        at=clock.now(),
        valid_until=arguments.get("valid_until"),
    )
    return memory_objects(caller.user, [memory])[0]


async def _forget(caller: Caller, arguments: shapes.ForgetArguments) -> ForgettingAnswer:
    user = caller.user
    work = forgetting.what_memory if arguments["preview"] else forgetting.forget_memory

    def forgotten() -> forgetting.Forgetting:
        return work(user, services.memory_of(user, arguments["memory"]).id)

    return forgetting_object(await long_work.run(user.pk, WorkKind.CHANGE, forgotten))


@in_database
def _thread(caller: Caller, arguments: shapes.ThreadArguments) -> shapes.HistoryAnswer:
    thread = threads.get(caller.user, arguments["thread"])
    turns = threads.messages_of(thread).order_by("-depth")
    if before := arguments.get("before"):
        turns = turns.filter(position__lt=before)
    most = arguments["limit"]
    page = list(turns[: most + 1])
    shown = page[:most][::-1]
    return fill(
        shapes.HistoryAnswer,
        thread,
        thread=thread.id,
        project=thread.project_id,
        turns=[fill(shapes.TurnAnswer, turn) for turn in shown],
        earlier=shown[0].position if len(page) > most else None,
    )


@in_database
def _explain(caller: Caller, arguments: shapes.ExplainArguments) -> shapes.ContextAnswer:
    snapshot = _snapshot(caller, arguments)
    body = cast("SnapshotAnswer", {**whole_context(snapshot), "request": None})
    return {"context": body, "uri": uris.request(snapshot.id)}


def whole_context(snapshot: ContextSnapshot) -> dict[str, Any]:
    """A request with all that was sent, as JSON has it."""
    return {name: plain(value) for name, value in snapshot_api.body(snapshot).items()}


def _snapshot(caller: Caller, arguments: shapes.ExplainArguments) -> ContextSnapshot:
    request, message = arguments.get("request"), arguments.get("message")
    if (request is None) == (message is None):
        raise InvalidMessage(
            "Give one of the two: `message`, the id of a turn, or `request`, the id of a model request."
        )
    if request:
        return threads.request_of(caller.user, request)
    snapshot = threads.request_for(threads.message_of(caller.user, str(message)))
    if snapshot is None:
        raise RequestNotFound("No model was asked for this turn, or its request is no longer kept. Try another turn.")
    return snapshot


TOOLS = [
    MemoryTool(
        name="search_memory",
        title="Search memory",
        about="Search everything this person ever said or had remembered in Openbook, across all conversations. Returns "
        "passages of turns and notes that bear on the query, best first, each with where it stands. Use it whenever earlier "
        "conversations, preferences, names or decisions may matter; ask in the words of the question, in any language.",
        takes=shapes.SearchArguments,
        gives=FoundListAnswer,
        scopes=(Scope.READ, Scope.MEMORY),
        run=_search,
    ),
    MemoryTool(
        name="recall",
        title="List notes",
        about="List the short notes that are remembered of this person – facts and preferences –, newest first, with the "
        "turns that they rest on. Use it to learn whom you work for; use `search_memory` for what was said about something.",
        takes=shapes.RecallArguments,
        gives=shapes.RecallAnswer,
        scopes=(Scope.READ, Scope.MEMORY),
        run=_recall,
    ),
    MemoryTool(
        name="remember",
        title="Remember a note",
        about="Have one short, lasting fact about this person remembered, as a sentence that is understood alone. Later "
        "conversations in Openbook are given it where it bears on them. The person sees it, and who added it, under Memory. "
        "Don't store secrets, nor what only matters now.",
        takes=shapes.RememberArguments,
        gives=MemoryAnswer,
        scopes=(Scope.WRITE, Scope.MEMORY),
        run=_remember,
        is_read_only=False,
        is_idempotent=False,
    ),
    MemoryTool(
        name="forget",
        title="Forget a note for good",
        about="Forget a note for good, with the turns that it rests on and everything that repeats it. This can't be undone: "
        "call it with `preview` first, tell the person what would go, and go on only if they say so.",
        takes=shapes.ForgetArguments,
        gives=ForgettingAnswer,
        scopes=(Scope.WRITE, Scope.MEMORY),
        run=_forget,
        is_read_only=False,
        is_destructive=True,
    ),
    MemoryTool(
        name="get_thread",
        title="Read a conversation",
        about="Read the turns of one conversation, the newest page first, each page oldest first. `search_memory` gives "
        "the ids of threads and the positions of turns.",
        takes=shapes.ThreadArguments,
        gives=shapes.HistoryAnswer,
        scopes=(Scope.READ,),
        run=_thread,
    ),
    MemoryTool(
        name="explain_context",
        title="Explain a context",
        about="Explain what a model was given for an answer: every section with its tokens, each turn, note and summary that "
        "was included or left out, and why. Use it when somebody asks why an answer knew or did not know something.",
        takes=shapes.ExplainArguments,
        gives=shapes.ContextAnswer,
        scopes=(Scope.READ,),
        run=_explain,
    ),
]
BY_NAME = {tool.name: tool for tool in TOOLS}
