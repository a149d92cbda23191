"""What stands of files in the turns of a request, and what is sent of it. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from conversations.context.files.excerpts import FileExcerpt, FileForm, FileOutline, blocks, choose, kept
from conversations.context.files.results import Results, read_excerpts, written_results
from conversations.context.files.thread_files import Contents, Places, ThreadFiles, named_files
from conversations.context.render.rendering import QUOTING, mention
from conversations.context.turns.groups import FILE, Block
from conversations.context.turns.turn import Turn


def in_turns(
    history: Sequence[Turn], newest: Turn, files: ThreadFiles, *, room: int, may_choose: bool
) -> tuple[list[Turn], Turn]:
    """The turns with what stands of files in them. The newest and all others have so much ``room`` each. Unless it
    ``may_choose``, the newest is no turn of the thread and has none."""
    read = {turn.position: read_excerpts(turn.content, files.outlines) for turn in history if turn.role == "assistant"}
    turns = with_standing(history, {**read, **files.standing}, room)
    return turns, replace(newest, files=chosen_for(newest, files, turns, room) if may_choose else ())


def chosen_for(newest: Turn, files: ThreadFiles, history: Sequence[Turn], room: int) -> Sequence[FileExcerpt]:
    """What of files stands in the newest turn: what was chosen when it was first sent if there is room for it now, else what
    is chosen now."""
    standing = files.standing.get(newest.position)
    if standing is not None and sum(excerpt.tokens for excerpt in standing) <= room:
        return standing
    new = [files.outlines[id] for id in dict.fromkeys(named_files(newest.content)) if id in files.outlines]
    before = [excerpt for turn in history for excerpt in turn.files]
    shared = [files.outlines[id] for id in files.shared]
    return choose(new, before, files.scores, room, shared)


def with_standing(turns: Sequence[Turn], files: Places, room: int) -> list[Turn]:
    """The turns with what stands of files in them, as far as there is room; of the rest it is said that it is not given."""
    standing = [files.get(turn.position, ()) for turn in turns]
    return [
        replace(turn, files=excerpts if keep else [replace(each, numbers=(), outlined=False) for each in excerpts])
        if excerpts
        else turn
        for turn, excerpts, keep in zip(turns, standing, kept(standing, room), strict=True)
    ]


def with_blocks(turns: Sequence[Turn], contents: Contents, form: FileForm) -> list[Turn]:
    """The turns with what is sent of their files: before a person's words, and in the results of tool calls."""
    return [_with_blocks(turn, contents, form) for turn in turns]


def _with_blocks(turn: Turn, contents: Contents, form: FileForm) -> Turn:
    if turn.role == "assistant":
        return replace(turn, results=written_results(turn.content, turn.files, contents, form)) if turn.files else turn
    if turn.files or named_files(turn.content):
        return replace(turn, file_blocks=_file_blocks(turn, contents, form))
    return turn


def _file_blocks(turn: Turn, contents: Contents, form: FileForm) -> list[Block]:
    there = {excerpt.file.id for excerpt in turn.files}
    missing = [block for block in turn.content if block["type"] == FILE and str(block["file"]) not in there]
    return [
        *(mention(block, QUOTING if form.fenced else None) for block in missing),
        *(block for excerpt in turn.files for block in blocks(excerpt, contents.get(excerpt.file.id, {}), form)),
    ]


def read_in_rounds(rounds: Iterable[Sequence[Block]], files: Mapping[str, FileOutline]) -> list[FileExcerpt]:
    """What a reply has read of files in its rounds so far."""
    return read_excerpts((block for blocks in rounds for block in blocks), files)


def results_of_rounds(
    rounds: Iterable[Sequence[Block]], read: Sequence[FileExcerpt], contents: Contents, form: FileForm
) -> Results:
    """What is sent in the place of results that name parts of files."""
    return written_results([block for blocks in rounds for block in blocks], read, contents, form)
