"""The files of a thread as far as a request has to do with them. Values alone."""

from collections.abc import Mapping, Sequence
from dataclasses import field

from conversations.context.files.excerpts import FileExcerpt, FileForm, FileOutline, PartContent, PartKey
from conversations.context.tokens.factor import PLAIN, Factor
from conversations.context.turns.groups import FILE, Block
from conversations.providers import image_tokens
from conversations.runtime.values import dataclass

UNSEEN = "(A picture of {width}×{height} pixels, which this model can’t see.)"
NO_FORM = FileForm()

type Contents = Mapping[str, Mapping[int, PartContent]]
"""What parts say, by file and number."""
type Places = Mapping[int, Sequence[FileExcerpt]]
"""What stands in turns, by their position."""


@dataclass(frozen=True, kw_only=True)
class PictureCounter:
    """What pictures take for a model, in estimated tokens by its factor: as many of its own as they have, or a few words."""

    are_seen: bool
    factor: Factor
    rule: image_tokens.ImageRule = image_tokens.PLAIN

    def tokens(self, width: int, height: int) -> int:
        """0 where there is no picture."""
        if not width:
            return 0
        return (
            self.factor.to_estimate(image_tokens.image_tokens(width, height, self.rule))
            if self.are_seen
            else len(UNSEEN) // 2
        )


@dataclass(frozen=True, kw_only=True)
class ThreadFiles:
    """The files that a request has to do with. ``standing`` is what was chosen for turns when they were first sent;
    ``is_settled``: it stays, whatever room there is.

    ``shared`` are the ids of the project's files that may be given more of, ``beyond`` how many other files and parts the
    project has, none of which holds a word of the message. ``closed`` are files of another project that stand in turns of the
    thread, with the number of their parts: they are not given. ``texts`` is what parts say, of those that were read along.
    """

    form: FileForm = NO_FORM
    outlines: Mapping[str, FileOutline] = field(default_factory=dict)
    standing: Places = field(default_factory=dict)
    scores: Mapping[PartKey, float] = field(default_factory=dict)
    shared: Sequence[str] = ()
    beyond: tuple[int, int] = (0, 0)
    closed: Mapping[str, int] = field(default_factory=dict)
    texts: Contents = field(default_factory=dict)
    is_settled: bool = False


NO_PICTURES = PictureCounter(are_seen=False, factor=PLAIN)
NO_FILES = ThreadFiles()
NO_CONTENTS: Contents = {}


def named_files(content: Sequence[Block]) -> list[str]:
    """The ids of the files that a turn brings."""
    return [str(block["file"]) for block in content if block["type"] == FILE]


def names_of_files(content: Sequence[Block]) -> str:
    """The names of the files that a turn brings; empty where it brings none."""
    return ", ".join(str(block["name"]) for block in content if block["type"] == FILE)
