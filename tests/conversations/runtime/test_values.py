from dataclasses import replace

from conversations.runtime.values import dataclass


@dataclass(frozen=True, kw_only=True)
class Place:
    name: str
    rows: tuple[int, ...] = ()


@dataclass(kw_only=True)
class Draft:
    name: str


def test_what_the_type_checker_freezes_is_a_value_at_run_time() -> None:
    place = Place(name="harbour", rows=(1, 2))
    assert place == replace(place) == Place(name="harbour", rows=(1, 2))
    assert len({place, replace(place), replace(place, name="mole")}) == 2


def test_what_may_change_can_be_no_key() -> None:
    assert Draft.__hash__ is None


def test_mypy_is_told_that_it_is_frozen() -> None:
    place = Place(name="harbour")
    place.name = "mole"  # type: ignore[misc]
    assert place.name == "mole"
