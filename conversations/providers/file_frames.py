"""The tags around a file and its parts, where files go into a request as text, and what stands between them. Pure.

What a part says stays as it is: where it holds tags like these, the ones around it have a number (``fence``).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import unescape

from conversations.providers.markers import FILE, OUTLINE, PART
from conversations.providers.quoting import attribute

OPENING = re.compile(
    rf'<{FILE}(?P<fence>(?:-[0-9]{{1,6}})?) name="(?P<name>[^"<>]*)" parts="[0-9]+"(?: given="[^"<>]*")?'
    r'(?: problem="(?P<problem>[^"<>]*)")?(?: left_out="(?P<left_out>[^"<>]*)")?>\n'
)
PART_OPENING = re.compile(
    rf'<{PART}(?P<fence>(?:-[0-9]{{1,6}})?) number="(?P<number>[0-9]+)" label="(?P<label>[^"<>]*)">\n'
)


@dataclass(frozen=True, kw_only=True)
class FramedPart:
    number: int
    label: str
    text: str


@dataclass(frozen=True, kw_only=True)
class FramedFile:
    """A file as it stands in a request. ``outline`` are the lines that list its parts."""

    name: str
    problem: str = ""
    outline: str = ""
    parts: Sequence[FramedPart] = ()


def file_opening(
    name: str, *, parts: int, given: str | None = None, problem: str = "", left_out: str = "", fence: str = ""
) -> str:
    """``given`` says which parts follow, where they are not all, and ``left_out`` what is in no part."""
    which = "" if given is None else f' given="{attribute(given)}"'
    why = f' problem="{attribute(problem)}"' if problem else ""
    less = f' left_out="{attribute(left_out)}"' if left_out else ""
    return f'<{FILE}{fence} name="{attribute(name)}" parts="{parts}"{which}{why}{less}>\n'


def file_closing(fence: str = "") -> str:
    return f"</{FILE}{fence}>"


def outline(lines: str, *, note: str = "", fence: str = "") -> str:
    """``lines`` end with a line's end each."""
    return f"<{OUTLINE}{fence}{f' note="{attribute(note)}"' if note else ''}>\n{lines}</{OUTLINE}{fence}>\n"


def part_opening(number: int, label: str, fence: str = "") -> str:
    return f'<{PART}{fence} number="{number}" label="{attribute(label)}">\n'


def part_closing(fence: str = "") -> str:
    return f"</{PART}{fence}>"


def read_file(text: str, start: int = 0) -> tuple[FramedFile, int] | None:
    """The file that begins there, and where it ends; ``None`` where none begins, or it has no end."""
    opening = OPENING.match(text, start)
    closing = file_closing(opening["fence"]) if opening else ""
    end = text.find(closing, opening.end()) if opening else -1
    if opening is None or end < 0:
        return None
    fence, body = opening["fence"], text[opening.end() : end]
    begins, ends = re.compile(rf"<{OUTLINE}{fence}(?: note=\"[^\"<>]*\")?>\n"), f"</{OUTLINE}{fence}>\n"
    listed = begins.match(body)
    file = FramedFile(
        name=unescape(opening["name"]),
        problem=unescape(opening["problem"] or ""),
        outline=body[listed.end() :].partition(ends)[0] if listed else "",
        parts=[*read_parts(body, fence)],
    )
    return file, end + len(closing)


def read_parts(body: str, fence: str) -> Iterator[FramedPart]:
    end = 0
    for opening in PART_OPENING.finditer(body):
        if opening["fence"] == fence and opening.start() >= end:
            end = body.find(part_closing(fence), opening.end())
            if end < 0:
                return
            text = body[opening.end() : end].removesuffix("\n")
            yield FramedPart(number=int(opening["number"]), label=unescape(opening["label"]), text=text)
