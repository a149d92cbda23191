"""What a context is made of, as it is now."""

import copy
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from conversations.context.files.excerpts import FileExcerpt, FileForm, FileOutline
from conversations.context.files.thread_files import NO_CONTENTS, Contents, ThreadFiles
from conversations.context.gather.files import FilesQuery, read_files, read_parts
from conversations.context.gather.history import History, HistoryQuery, read_all, read_history
from conversations.context.gather.known import KnownQuery, complete_known
from conversations.context.gather.material import BuildRequest, Facts
from conversations.context.gather.project_files import ProjectQuery, read_project
from conversations.context.render.tool_sections import program_section
from conversations.context.rules.standing import Known
from conversations.context.sources import NOTHING, Fitted, MessageQuery, Source
from conversations.context.tokens import calibration
from conversations.context.tokens.thinking import OutputAllowance
from conversations.models import Assistant
from conversations.providers import model_of

NOTHING_PREPARED: Mapping[str, Any] = {}


class LiveReader:
    """``prepared`` is what services said that sources were asked for beforehand, by source."""

    def __init__(self, prepared: Mapping[str, Any] = NOTHING_PREPARED) -> None:
        self.prepared = prepared

    def facts(self, request: BuildRequest) -> Facts:
        assistant, options = request.assistant, request.options
        model = options.model or model_of(assistant, request.provider)
        row = request.provider.describe(model)
        allowance = OutputAllowance.of(
            row,
            options.thinking(assistant),
            answer=options.at_most(assistant.max_output_tokens),
            without_thoughts=any(block["type"] == "tool_result" for block in request.newest.content),
        )
        return Facts(
            assistant=assistant if row.uses_memory else with_the_conversation_alone(assistant),
            model=model,
            row=row,
            base=row.system_prompt or assistant.system_prompt,
            allowance=options.raised(allowance, row),
            factor=calibration.of_model(request.provider.name, model),
            window=row.context_window,
            program=program_section(request.provider.program()),
        )

    def thread(self, query: HistoryQuery, sources: KnownQuery) -> tuple[History, Known]:
        history, known = read_all(query, sources)
        known = known.limited(memory=sources.memory)
        return history, complete_known(known, sources, self.prepared) if self.prepared else known

    def older_turns(self, query: HistoryQuery, reach: int) -> History:
        return read_history(query, reach=reach)

    def search(self, source: Source[Any], known: Known, query: MessageQuery, room: int | None) -> Fitted:
        most = sys.maxsize if room is None else room
        candidates = self.candidates(source, known, query, most)
        return NOTHING if candidates is None else source.fit(candidates, most)

    def candidates(self, source: Source[Any], known: Known, query: MessageQuery, room: int) -> Any:
        return source.search(known.candidates.get(source.name), query, room)

    def files(self, query: FilesQuery) -> ThreadFiles:
        return read_files(query)

    def project_outlines(self, query: ProjectQuery) -> Mapping[str, FileOutline]:
        return read_project(query).outlines

    def contents(self, excerpts: Sequence[FileExcerpt], form: FileForm, known: Contents = NO_CONTENTS) -> Contents:
        return read_parts(excerpts, form, known)


def with_the_conversation_alone(assistant: Assistant) -> Assistant:
    """A copy for a model that nothing else is any use to."""
    alone = copy.copy(assistant)
    alone.uses_memory, alone.rewriting = False, Assistant.Rewriting.OFF
    return alone
