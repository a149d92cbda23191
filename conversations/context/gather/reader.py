"""Where what a context is made of comes from: the one interface of ``live`` and ``recorded``."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from conversations.context.files.excerpts import FileExcerpt, FileForm, FileOutline
from conversations.context.files.thread_files import NO_CONTENTS, Contents, ThreadFiles
from conversations.context.gather.files import FilesQuery
from conversations.context.gather.history import History, HistoryQuery
from conversations.context.gather.known import KnownQuery
from conversations.context.gather.material import BuildRequest, Facts
from conversations.context.gather.project_files import ProjectQuery
from conversations.context.rules.standing import Known
from conversations.context.sources import Fitted, MessageQuery, Source


class Reader(Protocol):
    """Reads, never writes (C2). Must be used within ``read_only``."""

    def facts(self, request: BuildRequest) -> Facts: ...

    def thread(self, query: HistoryQuery, sources: KnownQuery) -> tuple[History, Known]:
        """The newest turns, and what the sources hold."""
        ...

    def older_turns(self, query: HistoryQuery, reach: int) -> History:
        """``reach`` times as many turns."""
        ...

    def search(self, source: Source[Any], known: Known, query: MessageQuery, room: int | None) -> Fitted:
        """What a source gives for a message, in so many estimated tokens; ``None`` is as it takes."""
        ...

    def files(self, query: FilesQuery) -> ThreadFiles: ...

    def project_outlines(self, query: ProjectQuery) -> Mapping[str, FileOutline]:
        """Files of a project with the parts that are named."""
        ...

    def contents(self, excerpts: Sequence[FileExcerpt], form: FileForm, known: Contents = NO_CONTENTS) -> Contents:
        """What the parts of these excerpts say; some may be ``known``."""
        ...
