"""What a file holds and none of its parts does, in words."""

from conversations.context.files.unread import listed, unread


def entry(what: str, count: int, *places: str, why: str = "not_read") -> dict[str, object]:
    return {"what": what, "why": why, "count": count, "places": list(places)}


def test_each_kind_is_told_with_its_number_why_and_where() -> None:
    entries = [
        entry("chart", 2, "slide 3", "slide 5"),
        entry("hidden paragraph", 1, why="hidden"),
        entry("page", 1_200, *(f"page {number}" for number in range(20)), why="damaged"),
    ]
    told = [each["text"] for each in unread(entries, {"message": "The rest is too long."})]
    assert told[:2] == [
        "2 charts: of a kind that is not read (slide 3, slide 5).",
        "1 hidden paragraph: not seen by anybody who opens the file.",
    ]
    assert told[2].startswith("1,200 pages: damaged (page 0, page 1, ")
    assert told[2].endswith("page 19 …).")
    assert told[3] == "The rest is too long."
    assert unread([]) == []


def test_a_line_names_some_kinds_and_counts_the_others() -> None:
    entries = unread([entry(f"thing {letter}", number) for number, letter in enumerate("abcdefgh", 1)])
    assert listed(entries[:2]) == "1 thing a, 2 thing bs"
    assert listed(entries) == "1 thing a, 2 thing bs, 3 thing cs, 4 thing ds, 5 thing es, 6 thing fs, 15 other things"
    assert listed([]) == ""
