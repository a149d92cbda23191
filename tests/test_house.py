"""The house: every room stands in a row of the import contract, and hardly anything lies loose at an app's root."""

import tomllib

import pytest

from tests.processes import ROOT

APPS = ("conversations", "artifacts", "memory")
MOST_LOOSE = 8
NO_ROOMS = {"__init__", "__pycache__", "migrations", "static"}
"""What no module imports from."""


def rows() -> list[set[str]]:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return [{name.strip() for name in layer.split(":")} for layer in contracts[0]["layers"]]


@pytest.mark.parametrize("app", APPS)
def test_every_room_stands_in_a_row(app: str) -> None:
    folders = {path.name for path in (ROOT / app).iterdir() if any(path.glob("*.py"))}  # git leaves empty ones behind
    names = (folders | {path.stem for path in (ROOT / app).glob("*.py")}) - NO_ROOMS
    assert {f"{app}.{name}" for name in names} == {name for row in rows() for name in row if name.startswith(f"{app}.")}


@pytest.mark.parametrize("app", APPS)
def test_few_modules_lie_at_the_root_of_an_app(app: str) -> None:
    loose = {path.stem for path in (ROOT / app).glob("*.py")} - NO_ROOMS
    assert len(loose) <= MOST_LOOSE
