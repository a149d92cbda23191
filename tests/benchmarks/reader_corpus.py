"""Files of six kinds that independent readers can read, too: made by scripts here, or shipped by packages of Debian."""

import gzip
import io
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import xlsxwriter

from artifacts.exporting.convert import export
from tests.artifacts.reading.helpers import SAMPLES
from tests.benchmarks.file_documents import DOCUMENTS, Document

PACKAGES = (
    "debian-policy",
    "developers-reference",
    "maint-guide",
    "gnuplot-doc",
    "libreoffice-common",
    "python-odf-doc",
    "r-cran-officer",
    "r-cran-openxlsx",
    "r-cran-readxl",
)
"""They are fetched and unpacked, not installed: what they need is not needed here."""
PROGRAMS = {
    "lowriter": "libreoffice-writer",
    "localc": "libreoffice-calc",
    "loimpress": "libreoffice-impress",
    "pandoc": "pandoc",
    "pdftotext": "poppler-utils",
}
"""And the packages that bring them."""
NOT_COMPARED = {
    "libreoffice-common-access2base.html": "a script shows what it holds: without one, nobody sees any of it",
    "r-cran-openxlsx-loadExample.xlsx": "random numbers, which LibreOffice works out anew",
    "r-cran-openxlsx-loadPivotTables.xlsx": "pivot tables, which LibreOffice makes anew, with other words",
}
"""Files of the packages that are left out, and why."""
SECTIONS = 6
"""Of each long document."""
PAGES = 4
"""Of each manual in HTML."""


@dataclass(frozen=True)
class Corpus:
    folder: Path

    def files(self, extension: str) -> list[Path]:
        return sorted((self.folder / extension).glob(f"*.{extension}"))


def make(folder: Path) -> Corpus:
    """All of it, in a folder for each kind."""
    corpus = Corpus(folder)
    for extension in ("docx", "xlsx", "pptx", "odt", "html", "pdf"):
        (folder / extension).mkdir(parents=True, exist_ok=True)
    _add_samples(corpus)
    _add_packages(corpus)
    _add_exports(corpus)
    _add_workbooks(corpus)
    _add_conversions(corpus)
    return corpus


def _put(corpus: Corpus, name: str, content: bytes) -> None:
    (corpus.folder / name.rpartition(".")[2] / name).write_bytes(content)


def _add_samples(corpus: Corpus) -> None:
    for path in SAMPLES.iterdir():
        if (corpus.folder / path.suffix[1:]).is_dir() and not path.stem.startswith(("locked", "scan")):
            _put(corpus, f"sample-{path.name}", path.read_bytes())


def _add_packages(corpus: Corpus) -> None:
    folder = corpus.folder / "packages"
    if not folder.is_dir():
        fetch(PACKAGES, folder)
    for path in _chosen(sorted(folder.rglob("*"))):
        package = path.relative_to(folder).parts[0]
        extension = path.name.removesuffix(".gz").rpartition(".")[2]
        name = f"{package}-{path.name.removesuffix('.gz')}"
        if (corpus.folder / extension).is_dir() and name not in NOT_COMPARED:
            content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            _put(corpus, name, content)


def _chosen(paths: Sequence[Path]) -> Iterator[Path]:
    """Of the manuals in HTML a few pages of each folder, evenly."""
    files = [path for path in paths if path.is_file() and not path.is_symlink()]
    pages: dict[Path, list[Path]] = {}
    for path in files:
        if path.suffix == ".html":
            pages.setdefault(path.parent, []).append(path)
        else:
            yield path
    for some in pages.values():
        yield from some[:: -(-len(some) // PAGES)]


def fetch(packages: Sequence[str], folder: Path) -> None:
    """Each package of Debian, unpacked into a folder of its name."""
    folder.mkdir(parents=True)
    fetched = subprocess.run(["apt-get", "download", *packages], cwd=folder, capture_output=True, text=True)
    if fetched.returncode:
        shutil.rmtree(folder)
        sys.exit(f"The documents come in packages of Debian, which can't be fetched: {fetched.stderr}")
    for archive in folder.glob("*.deb"):
        into = folder / archive.name.partition("_")[0]
        subprocess.run(["dpkg-deb", "--extract", archive, into], check=True)
        archive.unlink()


def _add_exports(corpus: Corpus) -> None:
    """What Openbook makes itself."""
    for document in DOCUMENTS:
        for extension in ("docx", "pdf", "html"):
            made = export(
                title=document.title,
                kind="document",
                language="",
                content=beginning(document),
                as_=extension,
            )
            _put(corpus, f"export-{document.name}.{extension}", made.body)
    made = export(title="Cities", kind="document", language="", content=TABLE, as_="xlsx")
    _put(corpus, "export-cities.xlsx", made.body)


def beginning(document: Document) -> str:
    return "\n## ".join(document.markdown.split("\n## ")[: SECTIONS + 1])[:100_000]


TABLE = "| City | Loaves | Share |\n| --- | ---: | ---: |\n" + "".join(
    f"| City {row} | {row * 37 % 911} | {row * 37 % 100}.5 % |\n" for row in range(400)
)


def _add_workbooks(corpus: Corpus) -> None:
    for name, fill in WORKBOOKS.items():
        file = io.BytesIO()
        with xlsxwriter.Workbook(file, {"in_memory": True}) as workbook:
            fill(workbook)
        _put(corpus, f"made-{name}.xlsx", file.getvalue())


def _formats(workbook: xlsxwriter.Workbook) -> None:
    """Numbers as they are shown: shares, dates, times, currencies, leading zeros, errors."""
    sheet = workbook.add_worksheet("Formats")
    sheet.write_row(0, 0, ["share", "date", "hours", "price", "code", "big", "true", "text"])
    formats = [
        workbook.add_format({"num_format": each}) for each in ("0.0 %", "yyyy-mm-dd", "[h]:mm", "0.00 €", "00000")
    ]
    for row in range(1, 200):
        for column, (value, format) in enumerate(
            zip((row / 1000, 45_000 + row, row / 7, row * 1.25, row), formats, strict=True)
        ):
            sheet.write_number(row, column, value, format)
        sheet.write_number(row, 5, row * 123_456.5)
        sheet.write_boolean(row, 6, row % 2 == 0)
        sheet.write_string(row, 7, f"Row {row} of the sheet")


def _several(workbook: xlsxwriter.Workbook) -> None:
    """Several sheets, merged cells, a title above the table, comments, a chart."""
    bold = workbook.add_format({"bold": True})
    for name in ("North", "South & West", "Übersicht"):
        sheet = workbook.add_worksheet(name)
        sheet.merge_range(0, 0, 0, 3, f"Sales of {name}, all quarters", bold)
        sheet.write_row(2, 0, ["Product", "Spring", "Summer", "Autumn"])
        for row in range(3, 40):
            sheet.write_row(row, 0, [f"Product {row}", row * 3, row * 5, row * 7])
        sheet.write_formula(40, 1, "=SUM(B4:B40)", None, 2_331)
        sheet.write_comment(3, 0, "Checked by Ines.")
        chart = workbook.add_chart({"type": "column"})
        assert chart
        chart.add_series({"values": [name, 3, 1, 10, 1]})
        chart.set_title({"name": "Turnover"})
        sheet.insert_chart(5, 6, chart)


WORKBOOKS: dict[str, Callable[[xlsxwriter.Workbook], None]] = {"formats": _formats, "several": _several}


def _add_conversions(corpus: Corpus) -> None:
    """What LibreOffice and pandoc make of other files."""
    pages = [path for path in corpus.files("html") if path.stat().st_size < 100_000][:8]
    for path in pages:
        for extension in ("docx", "odt", "pptx"):
            into = corpus.folder / extension / f"pandoc-{path.stem}.{extension}"
            if not into.exists():
                pandoc(path, "html", into)
    office(corpus.files("docx")[:16], "odt", corpus.folder / "odt")
    office(corpus.files("odt")[:16], "docx:MS Word 2007 XML", corpus.folder / "docx")
    packages = corpus.folder / "packages"
    office(sorted(packages.rglob("*.otp")), "pptx", corpus.folder / "pptx")
    office(
        [path for path in sorted(packages.rglob("*.ott")) if "wizard" not in path.parts], "odt", corpus.folder / "odt"
    )
    office(corpus.files("docx")[:8], "pdf", corpus.folder / "pdf")


def pandoc(path: Path, form: str, into: Path) -> None:
    subprocess.run(["pandoc", "-f", form, path, "-o", into], check=True, capture_output=True, cwd=path.parent)


def office(paths: Sequence[Path], form: str, into: Path) -> None:
    """Converted by LibreOffice, many at once; those that are there are not made again."""
    extension = form.partition(":")[0]
    missing = [path for path in paths if not any(into.glob(f"{path.stem}*.{extension}"))]
    for some in _groups(missing, 25):
        profile = f"-env:UserInstallation=file://{into.parent.resolve()}/profile"
        options = [profile, "--headless", "--norestore", "--convert-to", form, "--outdir"]
        subprocess.run(["soffice", *options, into, *some], check=True, capture_output=True, timeout=600)


def _groups(paths: Sequence[Path], size: int) -> Iterator[Sequence[Path]]:
    yield from (paths[at : at + size] for at in range(0, len(paths), size))
