"""Tags and texts of HTML, fed piece by piece, in time that grows with the length alone.

``html.parser`` of the standard library looks for the end of a tag or comment anew wherever one may begin: for 400 KB of
``<!--`` that takes minutes. Here every character is looked at a fixed number of times, as a browser does it: what is never
closed ends with the page (https://html.spec.whatwg.org/multipage/parsing.html#tokenization).
"""

import html
import re
from collections.abc import Mapping

Attributes = list[tuple[str, str | None]]
ByName = Mapping[str, str | None]
"""None where there is a name and no value."""
MOST_DIGITS = 6

LONGEST_TAG = 64 * 2**10
"""Of a longer one – a picture may stand in it – only the attributes up to there are known."""
LONGEST_REFERENCE = 40
"""Of a character, such as ``&amp;``."""
RAW = {"script", "style"}
"""What stands in these is no HTML."""
LETTERS_ONLY = {"textarea", "title"}
"""In these no tags are read, but references of characters are."""

WHOLE_TAG = re.compile(r'<(/?)([a-zA-Z][a-zA-Z0-9:-]*+)((?:\s++[a-zA-Z:-]++="[^"<>&]*+")*+)\s*+>')
"""As most tags are, for a shorter way."""
PLAIN_ATTRIBUTE = re.compile(r'\s([a-zA-Z:-]++)="([^"]*+)"')
TAG_NAME = re.compile(r"</?([a-zA-Z][^\t\n\r\f />]*)")
SPACE = re.compile(r"[\s/]*")
ATTRIBUTE_NAME = re.compile(r"[^\s/>][^\s/>=]*")
EQUALS = re.compile(r"\s*=\s*")
BARE_VALUE = re.compile(r"[^\s>]*")
LONG_NUMBER = re.compile(r"&#[xX]?[0-9a-fA-F]{9,};?")


class HtmlTokens:
    """Calls ``handle_starttag``, ``handle_startendtag``, ``handle_endtag``, ``handle_data`` and ``handle_skipped`` in the
    order of the page."""

    def __init__(self) -> None:
        self._rest = ""
        self._skips_to = ""
        """There is no tag before this."""
        self._is_said = False
        """What stands before it is text."""

    def feed(self, data: str) -> None:
        self._rest = self._read(self._rest + data)

    def close(self) -> None:
        if self._is_said or not (self._skips_to or re.match(r"<[a-zA-Z/!?]", self._rest)):
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

    def handle_skipped(self, end: str, data: str) -> None:
        """A piece of what is neither text nor a tag: ``-->`` ends comments, ``</style`` style sheets, and so on."""

    def handle_skipped_end(self, end: str) -> None:
        """What was skipped ends here."""

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
            kept = _before_reference(text, at, kept) if self._is_said else kept
            self._pass(wanted, text[at:kept])
            return kept if kept > at else -1
        self._pass(wanted, text[at : found.start()])
        self._skips_to, self._is_said = "", False
        self.handle_skipped_end(wanted)
        # The end of a script is a tag of its own.
        return found.start() if wanted.startswith("</") else found.end()

    def _pass(self, end: str, data: str) -> None:
        if self._is_said:
            self._say(data)
        elif data:
            self.handle_skipped(end, data)

    def _markup(self, text: str, at: int) -> int:
        whole = WHOLE_TAG.match(text, at)
        if whole and whole.end() - at <= LONGEST_TAG:
            return self._whole_tag(whole)
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

    def _whole_tag(self, whole: re.Match[str]) -> int:
        slash, name, written = whole.groups()
        tag = name.lower()
        if slash:
            self.handle_endtag(tag)
            return whole.end()
        attributes: Attributes = []
        if written:
            attributes = [(name.lower(), value) for name, value in PLAIN_ATTRIBUTE.findall(written)]
        self.handle_starttag(tag, attributes)
        self._read_within(tag)
        return whole.end()

    def _read_within(self, tag: str) -> None:
        if tag in RAW or tag in LETTERS_ONLY:
            self._skips_to, self._is_said = f"</{tag}", tag in LETTERS_ONLY

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
            if text[at + 1] != "/" and text[end - 1] != "/":
                self._read_within(tag)
            return end + 1
        self._skips_to = ">"
        return at + LONGEST_TAG

    def _text(self, text: str, at: int) -> int:
        end = text.find("<", at)
        if end < 0:
            end = _before_reference(text, at, len(text))
            if end == at:
                return -1
        self._say(text[at:end])
        return end

    def _say(self, text: str) -> None:
        if text:
            self.handle_data(_unescaped(text))


def whole_number(text: str | None) -> int | None:
    """None where it is none, or one too large to mean anything."""
    digits = (text or "").strip()
    bare = digits.removeprefix("-")
    return int(digits) if bare.isascii() and bare.isdecimal() and len(bare) <= MOST_DIGITS else None


def _before_reference(text: str, at: int, end: int) -> int:
    """The end of what can be said by now: a reference of a character that may go on is not."""
    reference = text.rfind("&", max(at, end - LONGEST_REFERENCE), end)
    return reference if reference >= 0 and ";" not in text[reference:end] else end


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
    if "&" not in text:
        return text
    return html.unescape(LONG_NUMBER.sub("\ufffd", text))
