"""What independent readers see of files beside what ours do: ``python -m tests.benchmarks.file_readers [FORMAT …]``.

LibreOffice, pandoc and pdftotext read the same files, and the words of both readings are counted. What one has more often than
the other is explained by kind where a rule says why: numbers that a program gives to lists, repeated headers, marks of ours.
``--words`` lists what stays unexplained, by file.
"""

import csv
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

import django

from tests.benchmarks.word_differences import (
    UNEXPLAINED,
    Difference,
    Word,
    compare,
    line_form,
    repeated_lines,
    words_of,
)

ROOT = Path(__file__).parents[2]
WORK = ROOT / ".local" / "bench" / "readers"
HEAD = 4
"""Lines of a part that may be those of the part before again."""
MOST = 1.0
"""Percent of all words that may stay unexplained, each way."""
NUMBERS, REPEATED = "numbers of lists, headings, pages", "headers, footers, table heads again"
ADDRESSES, MARKS, NOTES = "addresses of links", "marks of ours", "numbers of notes"
CHARTS, ALTERNATIVES = "values of charts", "descriptions of pictures"
LABEL = re.compile(
    r"^[ \t]*(?:[(\[]?(?:\d{1,4}|[ivxlcdm]{1,7}|[a-z])[.)\]]|\d{1,3}(?:\.\d{1,3}){1,4}\.?)(?=[ \t]+\S)",
    re.MULTILINE | re.IGNORECASE | re.ASCII,
)
PAGE_NUMBER = re.compile(r"[ivxlcdm\d]{1,7}", re.IGNORECASE | re.ASCII)
NOTE = re.compile(r"\[\^?\d{1,4}\]:?|[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,4}")
ADDRESS = re.compile(r"(?<=\]\()[^()\s]{1,2000}|\bhttps?://[^\s<>()]{1,2000}|\bmailto:\S{1,300}")
MARK = re.compile(
    r"\((?:picture|chart|diagram|drawing|equation|hidden|comment|note|formula)\b[^()\n]{0,400}\)"
    r"|^[#*>| ]{0,8}(?:Notes?|Headers?|Footers?|Headers and footers|Comments?|Footnotes|Endnotes)\b.{0,60}$"
    r"|\b(?:This (?:page|sheet) is empty|No text stands on this slide|\(?not filled in)\b"
    r"|\bComment by [^\n]{1,400}|\bOn each slide:|\(\d+ of these (?:rows|columns) [^()\n]{1,60}\)",
    re.IGNORECASE | re.MULTILINE,
)
DATE = re.compile(r"\b(\d{1,2})/(\d{1,2})/(\d{4}|\d\d)\b", re.ASCII)
IN_CELLS = (ADDRESSES, ADDRESS), (MARKS, MARK)
IN_TEXTS = (*IN_CELLS, (NOTES, NOTE), (NUMBERS, LABEL))

OFFICE, DRAW, TEXT, SVG = (
    f"{{urn:oasis:names:tc:opendocument:xmlns:{name}:1.0}}" for name in ("office", "drawing", "text", "svg-compatible")
)

type Reader = Callable[[Path, Path], Iterator[Word]]
"""Of a file, and the folder of what LibreOffice made of the files of its kind."""


def explained(text: str, rules: Sequence[tuple[str, re.Pattern[str]]] = IN_TEXTS) -> Iterator[Word]:
    """The words of a text, with why the other reading may lack those that a rule knows."""
    if not rules:
        yield from words_of(text)
        return
    (why, pattern), *others = rules
    end = 0
    for match in pattern.finditer(text):
        yield from explained(text[end : match.start()], others)
        yield from words_of(match[0], why)
        end = match.end()
    yield from explained(text[end:], others)


def lines_of_pages(text: str) -> Iterator[Word]:
    """Of what pdftotext writes: pages end with a form feed. Headers and footers count once."""
    pages = [[line for line in page.splitlines() if line.strip()] for page in text.split("\f")]
    repeated = repeated_lines(pages)
    seen: set[str] = set()
    for page in pages:
        for at, line in enumerate(page):
            form = line_form(line)
            is_edge = at < 3 or at >= len(page) - 3
            if is_edge and form in repeated and form in seen:
                yield from words_of(line, REPEATED)
            elif is_edge and PAGE_NUMBER.fullmatch(line.strip()):
                yield from words_of(line, NUMBERS)
            else:
                yield from explained(line)
            seen.add(form)


def pdf_text(path: Path, *options: str) -> str:
    return output("pdftotext", "-enc", "UTF-8", *options, path, "-")


def output(*command: str | Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, timeout=300).stdout.decode("utf-8", "replace")


def by_pdftotext(path: Path, made: Path) -> Iterator[Word]:
    return lines_of_pages(re.sub(r"(?<=\w)[-\xad\u2010]\n(?=[^\W\d_A-Z])", "", pdf_text(path)))


def by_office(path: Path, made: Path) -> Iterator[Word]:
    """As a page that LibreOffice prints, in the order in which it writes that."""
    return lines_of_pages(pdf_text(made / f"{path.stem}.pdf", "-raw"))


def by_impress(path: Path, made: Path) -> Iterator[Word]:
    """The texts of all slides and notes, as LibreOffice keeps them: printed, slides lack what is too long for them."""
    for _, page in ElementTree.iterparse(made / f"{path.stem}.fodp"):  # noqa: S314  # LibreOffice wrote it
        if page.tag == f"{DRAW}page":
            charts = {*chain.from_iterable(chart.iter(f"{TEXT}p") for chart in page.iter(f"{OFFICE}chart"))}
            for text in page.iter(f"{TEXT}p"):
                yield from words_of("".join(text.itertext()), CHARTS if text in charts else "")
            for title in chain(page.iter(f"{SVG}title"), page.iter(f"{SVG}desc")):
                yield from words_of("".join(title.itertext()), ALTERNATIVES)


def by_calc(path: Path, made: Path) -> Iterator[Word]:
    """The cells of all sheets as they are shown; dates in the system's own order as ISO has them."""
    for sheet in sorted(made.glob(f"{path.stem}-*.csv")):
        with sheet.open(encoding="utf-8", newline="") as file:
            for row in csv.reader(file):
                yield from (word for cell in row for word in words_of(DATE.sub(iso, cell)))


def iso(date: re.Match[str]) -> str:
    month, day, year = date.groups()
    return f"{year if len(year) == 4 else f'20{year}' if year < '30' else f'19{year}'}-{month:>02}-{day:>02}"


def by_pandoc(path: Path, made: Path) -> Iterator[Word]:
    """With the title of a Word file, which stands apart for it."""
    whole = ["--standalone"] if path.suffix == ".docx" else []
    return explained(output("pandoc", "-f", path.suffix[1:], "-t", "plain", "--wrap=none", *whole, path))


@dataclass(frozen=True)
class Format:
    """``made`` is what LibreOffice is to make of the files, ``rules`` tell what of our texts is explained."""

    readers: Mapping[str, Reader]
    made: str = ""
    rules: Sequence[tuple[str, re.Pattern[str]]] = IN_TEXTS


CSV = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,true,false,false,-1"
"""Every sheet, in UTF-8, its cells as they are shown."""
FORMATS = {
    "docx": Format({"LibreOffice": by_office, "pandoc": by_pandoc}, "pdf"),
    "xlsx": Format({"LibreOffice": by_calc}, CSV, IN_CELLS),
    "pptx": Format({"LibreOffice": by_impress}, "fodp"),
    "odt": Format({"LibreOffice": by_office}, "pdf"),  # pandoc passes over what lies in sections and frames
    "html": Format({"pandoc": by_pandoc}),
    "pdf": Format({"pdftotext": by_pdftotext}),
}


@dataclass
class Comparison:
    """Of the files of a format with one reader. ``unexplained`` are words by file, and whose they are."""

    files: int = 0
    theirs: Difference = field(default_factory=Difference)
    ours: Difference = field(default_factory=Difference)
    unexplained: list[tuple[str, str, int, list[tuple[str, int]]]] = field(default_factory=list)

    def add(self, path: Path, theirs: Difference, ours: Difference) -> None:
        self.files += 1
        self.theirs.add(theirs)
        self.ours.add(ours)
        for whose, difference in (("they", theirs), ("we", ours)):
            words = [(word, count) for (why, word), count in difference.examples.items() if why == UNEXPLAINED]
            if words:
                words.sort(key=lambda pair: -pair[1])
                self.unexplained.append((path.name, whose, sum(count for _, count in words), words))

    @property
    def passes(self) -> bool:
        return all(each.share(explained=False) <= MOST for each in (self.theirs, self.ours))


def by_us(path: Path, rules: Sequence[tuple[str, re.Pattern[str]]]) -> Iterator[Word]:
    """Our parts; the head of a table that stands in a further part counts as repeated."""
    from tests.artifacts.reading.helpers import read_here  # noqa: PLC0415  # Django is set up by then

    with TemporaryDirectory() as folder:
        outcome = read_here(path, Path(folder))
    if outcome.problem:
        print(f"  {path.name}: {outcome.problem}: {outcome.message}")
    before: set[str] = set()
    for part in outcome.parts:
        lines = part.text.replace("\\", "").splitlines()
        again = [line for line in lines[:HEAD] if line in before and line.startswith("|")]
        before = {*lines[:HEAD]}
        yield from words_of(" ".join(again), REPEATED)
        yield from explained("\n".join(line for line in lines if line not in again), rules)


def compared(name: str, paths: Sequence[Path], made: Path) -> dict[str, Comparison]:
    comparisons = {reader: Comparison() for reader in FORMATS[name].readers}
    for path in paths:
        ours = list(by_us(path, FORMATS[name].rules))
        readings: dict[str, list[Word]] = {}
        for reader, read in FORMATS[name].readers.items():
            try:
                readings[reader] = list(read(path, made))
            except (subprocess.SubprocessError, FileNotFoundError) as error:
                print(f"  {path.name}: {reader} can't read it: {error}")
        for reader, theirs in readings.items():
            third = next((words for other, words in readings.items() if other != reader), ())
            comparisons[reader].add(path, *compare(theirs, ours, third))
    return comparisons


def show(name: str, comparisons: Mapping[str, Comparison], *, words: bool) -> None:
    for reader, comparison in comparisons.items():
        sides = [("they, not we", comparison.theirs), ("we, not they", comparison.ours)]
        for title, side in sides:
            kinds = ", ".join(
                f"{why} {100 * count / side.words:.2f}" for why, count in side.counts.most_common() if why
            )
            print(
                f"  {name:<6}{reader:<13}{comparison.files:>5}{side.words:>10,}  {title:<13}"
                f"{side.share(explained=True):>7.2f}{side.share(explained=False):>13.2f}  {kinds}"
            )
        if words:
            for file, whose, count, some in sorted(comparison.unexplained, key=lambda row: -row[2]):
                listed = ", ".join(f"{word}{f' × {often}' if often > 1 else ''}" for word, often in some[:40])
                print(f"    {file} ({reader}): {whose} alone, {count}: {listed}")


def main(names: Sequence[str] = (), *, words: bool = False) -> bool:
    """Whether each format is within the limit."""
    from tests.benchmarks import reader_corpus  # noqa: PLC0415

    programs = [f"{program}={package}" for program, package in reader_corpus.PROGRAMS.items()]
    if subprocess.run(["sh", ROOT / "tests" / "services.sh", *programs]).returncode:
        sys.exit("Independent readers are missing: see above.")
    corpus = reader_corpus.make(WORK)
    print("\n== words of files that independent readers see and ours do not, and the reverse, percent of all")
    print(
        f"  {'':<6}{'reader':<13}{'files':>5}{'words':>10}  {'':<13}{'all':>7}{'unexplained':>13}  explained, by kind"
    )
    is_good = True
    for name in names or FORMATS:
        paths, made = corpus.files(name), WORK / f"of-{name}"
        made.mkdir(exist_ok=True)
        if FORMATS[name].made:
            reader_corpus.office(paths, FORMATS[name].made, made)
        comparisons = compared(name, paths, made)
        show(name, comparisons, words=words)
        is_good = is_good and all(comparison.passes for comparison in comparisons.values())
    print(f"  {'Each' if is_good else 'NOT each'} is within {MOST} % each way.")
    return is_good


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ.setdefault("OPENBOOK_PROVIDER", "offline")
    django.setup()
    asked = [name for name in sys.argv[1:] if not name.startswith("-")]
    sys.exit(not main(asked, words="--words" in sys.argv))
