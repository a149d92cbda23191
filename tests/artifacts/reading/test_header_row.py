"""Which row names the columns of a table."""

import pytest

from artifacts.reading.header_row import layout

LAYOUTS = [
    (["Report 2025", "Name|Sum", "A|1", "B|2"], 1, "Name|Sum", 2),
    (
        ["Konto|DE12", "Zeitraum|2025", "Datum|Text|Betrag", "1.1.2025|Miete|5", "2.1.2025|x|6"],
        2,
        "Datum|Text|Betrag",
        3,
    ),
    (["|2024||2025", "Region|Q1|Q2|Q1|Q2", "N|1|2|3|4", "S|1|2|3|4"], 0, "Region|2024 Q1|2024 Q2|2025 Q1|2025 Q2", 2),
    (["Region|2024||2025", "|Q1|Q2|Q1|Q2", "N|1|2|3|4", "S|1|2|3|4"], 0, "Region|2024 Q1|2024 Q2|2025 Q1|2025 Q2", 2),
    (["Region|Kind|2024|", "||Q1|Q2", "N|x|1|2", "S|y|1|2"], 0, "Region|Kind|2024 Q1|2024 Q2", 2),
    (["|2020|2021", "DE|5|6", "FR|6|7"], 0, "|2020|2021", 1),
    (["1|2|3", "4|5|6"], 0, "||", 0),
    (["Anna|5", "Ben|6", "Cem|7"], 0, "|", 0),
    (["a|b", "c|d"], 0, "a|b", 1),
    (["||Title||", "Name|A|B|C|D", "x|1|2|3|4"], 1, "Name|A|B|C|D", 2),
    (["|a|b", "x|1|2", "y|3|4"], 0, "|a|b", 1),
    (["x", "|x"], 0, "x", 1),
    (["Kept aside"], 0, "Kept aside", 1),
    (["Names", "Ann", "Bob"], 0, "Names", 1),
    (["Revenue||Cost", "1|2|3"], 0, "Revenue||Cost", 1),
]


@pytest.mark.parametrize(("rows", "above", "header", "body"), LAYOUTS)
def test_a_row_names_the_columns(rows: list[str], above: int, header: str, body: int) -> None:
    found = layout([row.split("|") for row in rows])
    assert (found.above, "|".join(found.header), found.body) == (above, header, body)
