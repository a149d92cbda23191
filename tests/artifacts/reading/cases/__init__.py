"""Small files that have to be read as people see them: one module and one JSON document for each kind of file.

A module has ``FILES``: what makes the bytes of each, by name. The document beside it has, for each of them,

``{"file", "kind", "must_hold", "must_not_hold", "left_out"}``

``kind`` is what goes wrong with it where it does; of ``must_hold`` every entry stands in the text of the parts, alternatives
parted by ``|`` within an entry, unless it begins with one, as rows of tables do; of ``must_not_hold`` none does.
``left_out``, where it is there, are the entries of the account, as ``hidden: hidden paragraph``. ``parts`` and ``pictures``,
where they are there, are how many there are.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
FORMATS = sorted(document.stem for document in FOLDER.glob("*.json"))


@dataclass(frozen=True)
class Case:
    format: str
    expected: Mapping[str, Any]

    @property
    def name(self) -> str:
        return str(self.expected["file"])

    def content(self) -> bytes:
        return makers(self.format)[self.name]()


@cache
def makers(format: str) -> Mapping[str, Callable[[], bytes]]:
    files: Mapping[str, Callable[[], bytes]] = import_module(f"{__name__}.{format}").FILES
    return files


def cases() -> Iterator[Case]:
    for format in FORMATS:
        for expected in json.loads((FOLDER / f"{format}.json").read_text()):
            yield Case(format, expected)
