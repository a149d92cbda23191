"""How long a request took, as staff see it."""

from conversations.staff.snapshot.timing import building


def test_steps_that_took_their_time_stand_apart_and_the_quick_ones_together() -> None:
    measured = {"history": 3.0, "limits": 0.125, "beside": 6.0, "window": 0.0625, "unknown": 0.5}
    assert building(measured, 10.0) == [
        ("history", "Context: turns and what is known read", 0.125, 3.0),
        ("beside", "Context: beside the message: artifacts, memories recalled", 3.1875, 6.0),
        ("unknown", "Context: unknown", 9.1875, 0.5),
        ("quick", "Context: 2 quicker steps", 0.0, 0.1875),
        ("built", "Context in all", 0.0, 10.0),
    ]
