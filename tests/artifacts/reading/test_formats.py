"""A kind of file more is a module and a line."""

from contextlib import closing
from pathlib import Path

import pytest

from artifacts.reading import formats
from artifacts.reading.kinds import FileType, Kind, detect
from artifacts.reading.process import Limits, Outline, Part, read


def test_a_format_more_is_read_in_a_process_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "FORMATS", ["tests.artifacts.reading.recipe"])
    path = tmp_path / "soup"
    path.write_text("RECIPE 1\nBoil water.\nAdd salt.\n")
    type = detect(path, path.name)
    assert type == FileType(Kind.DOCUMENT, "application/x-recipe", "recipe")
    with closing(read(path, type, folder=tmp_path, limits=Limits())) as found:
        outline, part = found
    assert isinstance(outline, Outline) and outline.title == "A recipe"
    assert isinstance(part, Part) and part.text == "1. Boil water.\n\n2. Add salt."
