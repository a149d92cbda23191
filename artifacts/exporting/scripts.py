"""Raised and lowered letters where a format has text alone: as signs of Unicode, else with a mark. Pure."""

from artifacts.reading import marks

RAISED = str.maketrans("0123456789+-−=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ")
LOWERED = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")


def raised(text: str) -> str:
    """``3`` becomes ``³``, ``x`` becomes ``^x``."""
    return text.translate(RAISED) if all(ord(sign) in RAISED for sign in text) else marks.raised(text)


def lowered(text: str) -> str:
    """``2`` becomes ``₂``, ``max`` becomes ``_max``."""
    return text.translate(LOWERED) if all(ord(sign) in LOWERED for sign in text) else marks.lowered(text)
