"""What a context was made of that was built before: the thread as it was, and what was known and listed then, as far as there
is a record of it. All else is read as it is now."""

import copy
from collections.abc import Collection, Mapping
from dataclasses import field, replace
from datetime import datetime
from typing import Any

from conversations.context.files.account import PackedFiles, beyond_of, form_of, numbers_in, over_budget, standing_in
from conversations.context.files.thread_files import ThreadFiles
from conversations.context.gather.files import FilesQuery
from conversations.context.gather.history import History, HistoryQuery
from conversations.context.gather.known import KnownQuery
from conversations.context.gather.live import LiveReader
from conversations.context.gather.material import BuildRequest, Facts, SearchedSource
from conversations.context.render.rendering import QUOTING
from conversations.context.rules.fitting import Section
from conversations.context.rules.prompt_cache import Lifetime
from conversations.context.rules.standing import Known
from conversations.context.sources import (
    NOTHING,
    UNEDITED,
    Edit,
    Fitted,
    MessageQuery,
    Place,
    Source,
    SourceQuery,
    sources_at,
)
from conversations.context.tokens.factor import Factor
from conversations.context.tokens.thinking import OutputAllowance
from conversations.models import Model
from conversations.runtime.values import dataclass


@dataclass(frozen=True, kw_only=True)
class RecordedBeside:
    """What each source gave beside the message, as far as there is a record of it.

    ``searched`` is what was searched by when that was read; without it, what is recorded stands whatever is asked.
    ``may_search``: whether what is remembered may be searched.
    """

    fitted: Mapping[str, Fitted]
    searched: Mapping[str, SearchedSource] | None = None
    may_search: bool = True


@dataclass(frozen=True, kw_only=True)
class RecordedInputs:
    """What is recorded of a request that was made ``at`` a time. ``None`` is as it is now.

    ``base`` is the system prompt as it was sent, ``window`` that of the model then, ``row`` what else its row said, by the
    column, ``files`` what stood of files in its turns, ``citing`` what it said of citing them, ``quoting`` how its texts were
    told apart, ``counts`` the tokens of turns that its provider had counted, by position, ``edit`` what it is to be without and
    to hold besides.
    """

    at: datetime
    known: Known | None
    beside: RecordedBeside
    allowance: OutputAllowance | None
    program: Section | None
    base: str = ""
    factor: Factor | None = None
    lifetime: Lifetime | None = None
    window: int = 0
    row: Mapping[str, int | None] = field(default_factory=dict)
    files: PackedFiles | None = None
    citing: str | None = None
    quoting: int | None = QUOTING
    counts: Mapping[int, int] | None = None
    edit: Edit = UNEDITED


class RecordedReader(LiveReader):
    def __init__(self, record: RecordedInputs) -> None:
        super().__init__()
        self.record = record

    def facts(self, request: BuildRequest) -> Facts:
        record, now = self.record, super().facts(request)
        form = form_of(record.files) if record.files else None
        if form and not request.provider.cites_documents(now.model):
            form = replace(form, documents=False)
        return replace(
            now,
            assistant=request.assistant if record.base else now.assistant,
            base=record.base or now.base,
            allowance=record.allowance or now.allowance,
            factor=record.factor or now.factor,
            window=record.window or now.window,
            row=_with(now.row, record.row),
            program=record.program or now.program,
            lifetime=record.lifetime,
            citing=record.citing,
            file_form=form,
            quoting=record.quoting,
            is_past=True,
        )

    def thread(self, query: HistoryQuery, sources: KnownQuery) -> tuple[History, Known]:
        record = self.record
        # What stood there and is not in the record was not there, whatever is today.
        standing = [source.name for source in sources_at(Place.STANDING)] if record.known else []
        then = replace(
            sources,
            memory=sources.memory and not record.known,
            but=frozenset([*record.beside.fitted, *standing]),
            at=record.at,
        )
        history, known = super().thread(self._then(query), then)
        if record.known:
            known = replace(record.known, zone=known.zone, candidates={**known.candidates, **record.known.candidates})
        gone = record.edit.without
        history = replace(history, has_files=record.files is not None, in_turns=True, gone=gone)
        known = edited(known, sources.query, record.edit, takes_notes=record.beside.may_search)
        return history, known.limited(memory=sources.memory)

    def older_turns(self, query: HistoryQuery, reach: int) -> History:
        return super().older_turns(self._then(query), reach)

    def search(self, source: Source[Any], known: Known, query: MessageQuery, room: int | None) -> Fitted:
        """What the source gave then where that is recorded and nothing differs."""
        record = self.record.beside
        if source.name in record.fitted:
            before = record.searched and record.searched.get(source.name)
            is_same = not before or before.holds(source.searches_by(query), room)
            if is_same and not self.record.edit.takes(record.fitted[source.name].items):
                return record.fitted[source.name]
        if source.is_memory and not record.may_search:
            return NOTHING
        return super().search(source, known, query, room)

    def candidates(self, source: Source[Any], known: Known, query: MessageQuery, room: int) -> Any:
        candidates, edit = super().candidates(source, known, query, room), self.record.edit
        return source.edited(candidates, (), query, edit) if edit.without else candidates

    def files(self, query: FilesQuery) -> ThreadFiles:
        """Of files of a project those alone that the request had to do with then."""
        packed = self.record.files
        files = super().files(replace(query, named=numbers_in(packed) if packed else {}, searches=False))
        files = without_files(files, self.record.edit.without)
        left = over_budget(packed) if packed else ()
        most = max(files.scores.values(), default=1.0)
        return replace(
            files,
            standing={query.position: [], **standing_in(packed, files.outlines)},
            scores={**files.scores, **{key: most for key in left if key[0] in files.outlines}},
            beyond=beyond_of(packed),
            is_settled=True,
        )

    def _then(self, query: HistoryQuery) -> HistoryQuery:
        return replace(query, at=self.record.at, counts=self.record.counts)


def edited(known: Known, query: SourceQuery, edit: Edit, *, takes_notes: bool) -> Known:
    """What was known, without what is taken out and with what is added: of a source that this touches what was sent is fitted
    anew."""
    candidates, sent = dict(known.candidates), dict(known.sent)
    for source in sources_at(Place.STANDING):
        items = sent[source.name].items if source.name in sent else ()
        if edit.touches(source.name, items) or (
            edit.note and takes_notes and query.memory.outside and source.takes_notes
        ):
            sent.pop(source.name, None)
            candidates[source.name] = source.edited(candidates.get(source.name), items, query, edit)
    return replace(known, sent=sent, candidates={name: each for name, each in candidates.items() if each is not None})


def without_files(files: ThreadFiles, ids: Collection[str]) -> ThreadFiles:
    """Pure."""
    outlines = {id: outline for id, outline in files.outlines.items() if id not in ids}
    scores = {key: score for key, score in files.scores.items() if key[0] not in ids}
    return replace(files, outlines=outlines, scores=scores)


def _with(row: Model, values: Mapping[str, int | None]) -> Model:
    """A copy of the row that says this."""
    if not values:
        return row
    then = copy.copy(row)
    for name, value in values.items():
        setattr(then, name, value)
    return then
