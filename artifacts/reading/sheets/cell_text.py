"""What a cell of Excel shows of what it holds: its number format, its letters, and what is set as invisible."""

from collections.abc import Sequence

from artifacts.reading.sheets.number_format import general
from artifacts.reading.sheets.xlsx_styles import CellStyle, Run, SharedText


class CellTexts:
    """Of a sheet; ``invisible`` counts the cells, or parts of them, of which nobody sees anything."""

    def __init__(self, *, is_1904: bool) -> None:
        self._is_1904 = is_1904
        self.shows_zeros = True
        self.invisible = 0

    def number(self, number: float, style: CellStyle) -> str:
        if number == 0 and not self.shows_zeros:
            return ""
        if style.format.is_general:
            shown = general(number)
        else:
            shown = style.format.show(number, is_1904=self._is_1904)
            if not shown and number:
                self.invisible += 1
        return shown if style.is_plain else self._marked(shown, style)

    def text(self, text: SharedText, style: CellStyle) -> str:
        if isinstance(text, list):
            return self._rich(text, style)
        if not text or text.isspace():
            return ""
        shown = style.format.show_text(text)
        if not shown:
            self.invisible += 1
        return shown if style.is_plain else self._marked(shown, style)

    def _marked(self, text: str, style: CellStyle) -> str:
        if text and style.font.is_invisible(style.background):
            self.invisible += 1
            return ""
        return style.font.marked(text)

    def _rich(self, runs: Sequence[Run], style: CellStyle) -> str:
        shown = []
        for run in runs:
            font = run.font or style.font
            if run.text.strip() and font.is_invisible(style.background):
                self.invisible += 1
            else:
                shown.append(font.marked(run.text))
        return style.format.show_text("".join(shown))
