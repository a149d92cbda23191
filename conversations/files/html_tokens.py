"""Tags and texts of HTML, fed piece by piece, in time that grows with the length alone.

``html.parser`` of the standard library looks for the end of a tag or comment anew wherever one may begin: for 400 KB of
``<!--`` that takes minutes. Here every character is looked at a fixed number of times, as a browser does it: what is never
closed ends with the page (https://html.spec.whatwg.org/multipage/parsing.html#tokenization).
"""

import html
import re

Attributes = list[tuple[str, str | None]]

LONGEST_TAG = 64 * 2**10
"""Of a longer one – a picture may stand in it – only the attributes up to there are known."""
LONGEST_REFERENCE = 40
"""Of a character, such as ``&amp;``."""
RAW = {"script", "style"}
"""What stands in these is no HTML."""

TAG_NAME = re.compile(r"</?([a-zA-Z][^\t\n\r\f />]*)")
SPACE = re.compile(r"[\s/]*")
ATTRIBUTE_NAME = re.compile(r"[^\s/>][^\s/>=]*")
EQUALS = re.compile(r"\s*=\s*")
BARE_VALUE = re.compile(r"[^\s>]*")
LONG_NUMBER = re.compile(r"&#[xX]?[0-9a-fA-F]{9,};?")


class HtmlTokens:
    """Calls ``handle_starttag``, ``handle_startendtag``, ``handle_endtag`` and ``handle_data`` in the order of the page."""

    def __init__(self) -> None:
        self._rest = ""
        self._skips_to = ""
        """Nothing before this is of interest."""

    def feed(self, data: str) -> None:
        self._rest = self._read(self._rest + data)

    def close(self) -> None:
        if not self._skips_to and not _begins_markup(self._rest):
            self._say(self._rest)
        self._rest = ""

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        raise NotImplementedError

    def handle_startendtag(self, tag: str, attrs: Attributes) -> None:
        raise NotImplementedError

    def handle_endtag(self, tag: str) -> None:
        raise NotImplementedError

    def handle_data(self, data: str) -> None:
        raise NotImplementedError

    def _read(self, text: str) -> str:
        """Returns what is to be read again with what comes next: a beginning of bounded length."""
        at = 0
        while at < len(text):
            if self._skips_to:
                after = self._skip(text, at)
            elif text[at] == "<":
                after = self._markup(text, at)
            else:
                after = self._text(text, at)
            if after < 0:
                return text[at:]
            at = after
        return ""

    def _skip(self, text: str, at: int) -> int:
        """Behind what is skipped to. Of a text without it only an end is kept that may be its beginning."""
        wanted = self._skips_to
        found = re.compile(re.escape(wanted), re.IGNORECASE).search(text, at)
        if found is None:
            kept = max(len(text) - len(wanted) + 1, at)
            return kept if kept > at else -1
        self._skips_to = ""
        # The end of a script is a tag of its own.
        return found.start() if wanted.startswith("</") else found.end()

    def _markup(self, text: str, at: int) -> int:
        if text.startswith("<!--", at):
            # ``<!-->`` and ``<!--->`` are whole comments.
            self._skips_to = "-->"
            return at + 2
        if text.startswith(("<!", "<?"), at):
            if "<!--".startswith(text[at:]):
                return -1
            self._skips_to = ">"
            return at + 2
        name = TAG_NAME.match(text, at)
        if name is None:
            if len(text) - at < len("</x"):
                return -1
            if text[at + 1] == "/":
                self._skips_to = ">"
                return at + 2
            self.handle_data("<")
            return at + 1
        return self._tag(text, at, name)

    def _tag(self, text: str, at: int, name: re.Match[str]) -> int:
        attributes: Attributes = []
        end = _tag_end(text, name.end(), at + LONGEST_TAG, attributes)
        if end < 0 and len(text) - at <= LONGEST_TAG:
            return -1
        is_whole, tag = end >= 0, name[1].lower()
        if text[at + 1] == "/":
            self.handle_endtag(tag)
        elif is_whole and text[end - 1] == "/":
            self.handle_startendtag(tag, attributes)
        else:
            self.handle_starttag(tag, attributes)
        if is_whole:
            if tag in RAW and text[at + 1] != "/" and text[end - 1] != "/":
                self._skips_to = f"</{tag}"
            return end + 1
        self._skips_to = ">"
        return at + LONGEST_TAG

    def _text(self, text: str, at: int) -> int:
        end = text.find("<", at)
        if end < 0:
            end = len(text)
            reference = text.rfind("&", max(at, end - LONGEST_REFERENCE))
            if reference >= 0 and ";" not in text[reference:]:
                end = reference
            if end == at:
                return -1
        self._say(text[at:end])
        return end

    def _say(self, text: str) -> None:
        if text:
            self.handle_data(_unescaped(text))


def _tag_end(text: str, at: int, latest: int, attributes: Attributes) -> int:
    """Where the ``>`` of a tag stands, whose attributes begin at this place and are appended; -1 where it does not stand before
    ``latest`` or the end of the text."""
    while (at := _end_of(SPACE, text, at)) < min(latest, len(text)):
        if text[at] == ">":
            return at
        end = _end_of(ATTRIBUTE_NAME, text, at)
        name, value = text[at:end].lower(), None
        at = end
        if equals := EQUALS.match(text, at):
            at = equals.end()
            quote = text[at : at + 1]
            if quote and quote in "\"'":
                end = text.find(quote, at + 1)
                if end < 0:
                    return -1
                value, at = text[at + 1 : end], end + 1
            else:
                end = _end_of(BARE_VALUE, text, at)
                value, at = text[at:end], end
        attributes.append((name, value and _unescaped(value)))
    return -1


def _end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _unescaped(text: str) -> str:
    """A number of more digits than any character has is none; Python refuses the longest."""
    return html.unescape(LONG_NUMBER.sub("\ufffd", text))


def _begins_markup(text: str) -> bool:
    return re.match(r"<[a-zA-Z/!?]", text) is not None
