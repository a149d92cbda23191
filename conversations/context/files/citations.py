"""Citations of files in the text of a reply, such as ``[report.pdf, p. 4]``, and the parts that they point to. Pure.

A mark names a file of the thread as it is called, and a page, or what a part of it is called.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from html import escape
from typing import Annotated, TypedDict

from conversations.context.files.excerpts import READ_FILE, FileOutline, PartKey, PartOutline
from conversations.providers.cited_documents import QUOTES
from conversations.runtime.shapes import Id
from conversations.runtime.values import dataclass

HOW_TO_CITE = """\
## Files

{by_itself}\
- Cite what you {take} right after you say it: the name of the file and the page in square brackets, as \
[report.pdf, p. 4]. Where a part has no page, name it by its label, as [budget.xlsx, Q2].
- Cite only parts whose text you were given, each in brackets of its own. Don't cite in code, nor in what you save beside \
the conversation."""
CITED_BY_ITSELF = """\
- Cite the documents that you are given for what you take from them; the person is shown the file and the page.
"""
MOST_PAGES = 50
"""Of one mark."""
LONGEST_PLACE = 250
REPEATED = re.compile(r" \(\d+\)$")
"""Of a label: the part goes on with what the one before it begins."""
KIND = re.compile(r"^(?:sheet|section) (?=\S)")
SPAN = re.compile(r",? (?:rows?|lines?|entries|entry) \d+(?:-\d+)?$")
NUMBERED = re.compile(r"(?:page|slide) (\d+)(?: hidden| \(hidden\))?")
PART = re.compile(r"(?:part|#) ?(\d+)")
PAGES = re.compile(
    r"(?:pp?|pages?|pgs?|s|seiten?|slides?|folien?)[. ] ?(\d+(?:-\d+)?(?:(?:, ?|,? ?(?:and|und|et|y|&) ?)\d+(?:-\d+)?)*)"
)
RUN = re.compile(r"(\d+)(?:-(\d+))?")


class Citation(TypedDict):
    """A mark in a reply's text that names a part of a file. One that names several pages is there once for each."""

    text: Annotated[str, "The mark as it stands in the text, such as `[report.pdf, p. 4]`."]
    file: Annotated[Id, "Id of the file."]
    name: Annotated[str, "As the file is called."]
    part: Annotated[int | None, "Number of the part, as in `files/{id}/parts/{number}/`; null: there is none such."]
    given: Annotated[bool, "Whether the model was given this part in a request of the reply."]


@dataclass(frozen=True, kw_only=True)
class CitableFiles:
    """The files that a reply can cite, by id, and the parts that its requests held."""

    outlines: Mapping[str, FileOutline] = field(default_factory=dict)
    given: frozenset[PartKey] = frozenset()

    def with_request(self, outlines: Mapping[str, FileOutline], given: Iterable[PartKey]) -> "CitableFiles":
        return CitableFiles(outlines={**self.outlines, **outlines}, given=self.given | {*given})


NO_CITABLE_FILES = CitableFiles()


def find_citations(text: str, files: CitableFiles) -> list[Citation]:
    """In the order of the text, each mark once, however often it stands there."""
    by_name: dict[str, list[FileOutline]] = {}
    for file in files.outlines.values():
        for name in {file.name, escape(file.name, quote=True)}:
            by_name.setdefault(name, []).append(file)
    if not by_name or "[" not in text:
        return []
    names = "|".join(map(re.escape, sorted(by_name, key=len, reverse=True)))
    marks = re.finditer(rf"\[({names}), ?([^\]\n]{{1,{LONGEST_PLACE}}})\]", text)
    found = {mark[0]: (by_name[mark[1]], mark[2]) for mark in marks}
    return [
        citation for mark, (named, place) in found.items() for citation in _resolved(mark, place, named, files.given)
    ]


def how_to_cite(*, by_itself: bool) -> str:
    """What the system text says. ``by_itself``: the provider cites documents without being asked for marks."""
    return (
        HOW_TO_CITE.format(by_itself=CITED_BY_ITSELF, take=f"read with {READ_FILE}")
        if by_itself
        else HOW_TO_CITE.format(by_itself="", take="take from a file")
    )


def _resolved(mark: str, place: str, named: Iterable[FileOutline], given: frozenset[PartKey]) -> list[Citation]:
    """Of several files of one name, of the one of which most was given."""
    choices = [
        [
            Citation(text=mark, file=file.id, name=file.name, part=part, given=(file.id, part) in given)
            for part in _parts_at(place, file, given)
        ]
        for file in named
    ]
    best = max(choices, key=lambda each: (sum(c["given"] for c in each), sum(c["part"] is not None for c in each)))
    return list({citation["part"]: citation for citation in best}.values())


def _parts_at(place: str, file: FileOutline, given: frozenset[PartKey]) -> list[int | None]:
    """For each page that a place names the number of the part, or of the given one of those that it goes on in."""
    groups = list(parts_called(place, file))
    return [_one_of(group, file, given) for group in groups] or [None]


def _one_of(group: list[PartOutline], file: FileOutline, given: frozenset[PartKey]) -> int | None:
    numbers = [part.number for part in group]
    return next((number for number in numbers if (file.id, number) in given), numbers[0] if numbers else None)


def parts_called(place: str, file: FileOutline) -> Iterator[list[PartOutline]]:
    """For each page, or other part, that a place names, such as ``pp. 4-5`` or ``Q2``, the parts of it; of a page that there
    isn't none."""
    place = _plain(place)
    if called := [part for part in file.parts if place in _names_of(part)]:
        yield called
    elif pages := PAGES.fullmatch(place):
        by_page: dict[int, list[PartOutline]] = {}
        for part in file.parts:
            if numbered := NUMBERED.fullmatch(REPEATED.sub("", _plain(part.label))):
                by_page.setdefault(int(numbered[1]), []).append(part)
        for page in _numbers(pages[1]):
            yield by_page.get(page, [])
    elif number := PART.fullmatch(place):
        yield [part for part in file.parts if part.number == int(number[1])]


def _numbers(runs: str) -> list[int]:
    numbers: list[int] = []
    for first, last in RUN.findall(runs):
        end = max(int(first), int(last or first))
        numbers += range(int(first), min(end, int(first) + MOST_PAGES) + 1)
    return numbers[:MOST_PAGES]


def _names_of(part: PartOutline) -> set[str]:
    """The label, and its shorter forms: ``sheet "Q2", rows 1–80`` is also Q2."""
    label = _plain(part.label)
    whole = {label, REPEATED.sub("", label), KIND.sub("", label)}
    names = whole | {SPAN.sub("", name) for name in whole} | {KIND.sub("", REPEATED.sub("", label))}
    return names | ({_plain(part.heading)} if part.heading else set())


def _plain(text: str) -> str:
    """Without quotes, in one case, with plain hyphens and spaces."""
    return " ".join(QUOTES.sub("", text).casefold().replace("–", "-").replace("—", "-").split())
