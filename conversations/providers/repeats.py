"""Text that comes in pieces, of which some hold all that came before them once more. Pure.

Some servers end a stream with an event that holds the whole text, others send in each event all that was written so far.
"""

SHORTEST = 8
"""Characters of a text that is not said twice by chance, as "ha" is."""


class RepeatFilter:
    """A piece that begins with all that came before it is held back until it shows what it is: by the next piece, which goes on
    from it or does not, or by the end."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._held = ""
        self._is_cumulative = False

    @property
    def said(self) -> str:
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces[:-1]), self._pieces[-1]]
        return "".join(self._pieces)

    @property
    def has_said(self) -> bool:
        return self._length > 0

    def feed(self, piece: str) -> str:
        """What is new."""
        if self._is_cumulative:
            return self._add(self.rest_of(piece))
        held, self._held = self._held, ""
        if held and len(held) > self._length and piece.startswith(held):
            self._is_cumulative = True
            return self._add(self.rest_of(piece))
        new = self._add(held)
        least = self._length + (0 if self._is_long else 1)
        if self._length > 0 and len(piece) >= least and piece.startswith(self.said):
            self._held = piece
            return new
        return new + self._add(piece)

    def end(self) -> str:
        """What was held back, as far as it is new."""
        held, self._held = self._held, ""
        return self._add(self.rest_of(held) if self._is_long else held)

    def rest_of(self, text: str) -> str:
        """What is new in a text that is said to be the whole."""
        said = self.said
        return "" if said.startswith(text) else text.removeprefix(said)

    @property
    def _is_long(self) -> bool:
        """Whether a piece that says it all again does so on purpose."""
        return len(self._pieces) > 1 and self._length >= SHORTEST

    def _add(self, new: str) -> str:
        if new:
            self._pieces.append(new)
            self._length += len(new)
        return new
