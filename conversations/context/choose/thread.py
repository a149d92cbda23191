"""The thread and what the sources hold, read in one statement; and what files of the thread leave of the budget."""

from dataclasses import replace

from conversations.context.choose.choice import Choice, Limits
from conversations.context.choose.step import Step
from conversations.context.files.excerpts import READ_FILE, FileForm
from conversations.context.gather.history import HistoryQuery
from conversations.context.gather.known import KnownQuery
from conversations.context.gather.material import Material
from conversations.context.gather.reader import Reader
from conversations.context.sources import SourceQuery
from conversations.context.tokens.budget import BudgetOrigin
from conversations.models import Assistant
from conversations.providers.base import OFFLINE


def read(reader: Reader, material: Material, choice: Choice) -> Material:
    request, facts, scope, limits = material.request, material.facts, material.request.scope, choice.limits
    history_query = HistoryQuery(
        user_id=scope.user_id,
        thread_id=scope.thread_id,
        before=request.newest.position,
        budget=limits.fitting,
        end=scope.end,
        last_reply=scope.last_reply,
        filtering=limits.assistant.filters_artifacts,
        project=scope.memory.project,
        keeps_offline=request.provider.name == OFFLINE and not request.for_another_model,
        provider=request.provider.name,
        model=facts.model,
        factor=facts.factor,
    )
    source_query = SourceQuery(
        user_id=scope.user_id,
        thread_id=scope.thread_id,
        session=scope.session,
        depth=request.newest.depth,
        offers_tools=bool(request.tools.definitions),
        offers_server_tools=request.tools.uses_servers,
        silent=request.silent,
        memory=scope.memory,
        withholds=scope.withholds and limits.assistant.uses_memory,
    )
    sources = KnownQuery(query=source_query, memory=limits.assistant.uses_memory and scope.remembers)
    history, known = reader.thread(history_query, sources)
    return replace(material, source_query=source_query, history_query=history_query, history=history, known=known)


def choose(material: Material, choice: Choice) -> Choice:
    if not material.has_files:
        return choice
    limits, is_readable = choice.limits, any(tool["name"] == READ_FILE for tool in material.tools.definitions)
    file_room = room_for_files(limits.assistant, limits.origin)
    return replace(
        choice,
        file_form=material.facts.file_form or form_for(material, is_readable=is_readable),
        limits=beside_files(limits, material, file_room, file_room // 2 if is_readable else 0),
    )


def room_for_files(assistant: Assistant, origin: BudgetOrigin) -> int:
    """Tokens of the model that files may take: half for those of a message, half for those of earlier ones. The assistant's
    figures are in tokens."""
    return min(assistant.file_tokens, origin.room // 2)


def form_for(material: Material, *, is_readable: bool) -> FileForm:
    """How files are written for the model that is asked now."""
    provider, facts = material.request.provider, material.facts
    return FileForm(
        pictures=provider.sends_pictures and facts.row.takes_images,
        readable=is_readable,
        # A service that cites can't keep to a format.
        documents=provider.cites_documents(facts.model) and not material.request.options.fields.format,
    )


def beside_files(limits: Limits, material: Material, file_room: int, read_room: int) -> Limits:
    """The limits where so many tokens of the model's window are kept for files."""
    factor, budget = material.facts.factor, limits.budget.within(limits.origin.room - file_room - read_room)
    return replace(
        limits,
        budget=budget,
        fitting=budget.estimated(factor),
        file_room=factor.to_estimate(file_room),
        read_room=factor.to_estimate(read_room),
    )


STEP = Step(name="history", label="Turns and what is known read", read=read, choose=choose)
