"""Files read as the product reads them: all that comes of one."""

import importlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from artifacts.reading import child
from artifacts.reading import process as reading
from artifacts.reading.kinds import detect
from artifacts.reading.problems import FileProblem
from artifacts.reading.process import Found, LeftOutEntry, Limits, Outline, Part, read
from artifacts.reading.readers import reader_name

SAMPLES = Path(__file__).with_name("samples")


@dataclass(frozen=True)
class Outcome:
    title: str | None
    total: int | None
    parts: list[Part]
    left_out: list[str]
    """Such as ``hidden: hidden paragraph × 3``, sorted."""
    problem: str
    """Its code; empty where the file was read to its end."""
    message: str

    @property
    def text(self) -> str:
        return "\n\n".join(part.text for part in self.parts)

    @property
    def labels(self) -> list[str]:
        return [part.label for part in self.parts]


def read_file(path: Path, folder: Path, limits: Limits | None = None, name: str = "", languages: str = "") -> Outcome:
    """By a process of its own, as the product does."""

    def found() -> Iterator[Found]:
        type = detect(path, name or path.name)
        return read(path, type, folder=folder, limits=limits or Limits(), languages=languages)

    return _outcome(found)


def read_here(path: Path, folder: Path) -> Outcome:
    """In this process, which takes a hundredth of the time: nothing of how the other one is confined is tested by it."""

    def found() -> Iterator[Found]:
        type = detect(path, path.name)
        job = {"path": str(path), "extension": type.extension, "folder": str(folder)}
        reader = importlib.import_module(reader_name(type.kind, type.extension))
        return reading.found_in(child.messages(job | {"limits": asdict(Limits())}, reader), folder)

    return _outcome(found)


def _outcome(found: Callable[[], Iterator[Found]]) -> Outcome:
    outline, problem = None, FileProblem("", "")
    parts: list[Part] = []
    left_out: list[str] = []
    try:
        for each in found():
            match each:
                case Outline():
                    outline = each
                case LeftOutEntry():
                    left_out.append(f"{each.entry['why']}: {each.entry['what']} × {each.entry['count']}")
                case Part():
                    parts.append(each)
    except FileProblem as error:
        problem = error
    return Outcome(
        title=outline.title if outline else None,
        total=outline.total if outline else None,
        parts=parts,
        left_out=sorted(left_out),
        problem=problem.code,
        message=problem.message,
    )
