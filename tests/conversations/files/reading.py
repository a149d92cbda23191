"""Files read as the product reads them: all that comes of one."""

from dataclasses import dataclass
from pathlib import Path

from conversations.files.kinds import detect
from conversations.files.problems import FileProblem
from conversations.files.reading import Limits, Outline, Part, read

SAMPLES = Path(__file__).with_name("samples")


@dataclass(frozen=True)
class Outcome:
    title: str | None
    total: int | None
    parts: list[Part]
    problem: str
    """Its code; empty where the file was read to its end."""
    message: str

    @property
    def text(self) -> str:
        return "\n\n".join(part.text for part in self.parts)

    @property
    def labels(self) -> list[str]:
        return [part.label for part in self.parts]


def read_file(path: Path, folder: Path, limits: Limits | None = None, name: str = "") -> Outcome:
    outline, parts, problem = None, [], FileProblem("", "")
    try:
        for found in read(path, detect(path, name or path.name), folder=folder, limits=limits or Limits()):
            if isinstance(found, Outline):
                outline = found
            else:
                parts.append(found)
    except FileProblem as error:
        problem = error
    return Outcome(
        title=outline.title if outline else None,
        total=outline.total if outline else None,
        parts=parts,
        problem=problem.code,
        message=problem.message,
    )
