"""How letters that are set otherwise are written in plain Markdown, the same for every kind of file. Pure."""

import re

PLAIN_SCRIPT = re.compile(r"[+\-−–]?[\w.,′']+|[*†‡°]")
"""What stands behind a ``^`` or ``_`` without brackets."""


def raised(text: str) -> str:
    """``8`` becomes ``^8``, ``n + 1`` becomes ``^(n + 1)``; white space around it stays outside."""
    return _script("^", text)


def lowered(text: str) -> str:
    """``2`` becomes ``_2``."""
    return _script("_", text)


def struck(text: str) -> str:
    """As Markdown marks what was struck through."""
    return _around(text, "~~", "~~")


def deleted(text: str, author: str = "") -> str:
    """What a tracked change takes out."""
    return _around(text, f"[deleted{f' by {author}' if author else ''}: ", "]")


def inserted(text: str, author: str = "") -> str:
    """What a tracked change adds, where that has to be seen."""
    return _around(text, f"[inserted{f' by {author}' if author else ''}: ", "]")


def comment(text: str, author: str = "") -> str:
    """What somebody remarked on the text before it."""
    return f"[comment{f' by {author}' if author else ''}: {text}]"


def cell_note(text: str, author: str = "") -> str:
    """What somebody noted at a cell of a sheet."""
    return f"[{author or 'comment'}: {text}]"


def not_filled_in(hint: str) -> str:
    """A field of a form that holds nothing but the hint what belongs there."""
    return _around(hint, "[not filled in: ", "]")


def checked(is_on: bool) -> str:
    """A box to tick, alone or before its words."""
    return "[x]" if is_on else "[ ]"


def _script(sign: str, text: str) -> str:
    inner = text.strip()
    if not inner:
        return text
    return _around(text, sign, "") if PLAIN_SCRIPT.fullmatch(inner) else _around(text, f"{sign}(", ")")


def _around(text: str, before: str, after: str) -> str:
    inner = text.strip()
    if not inner:
        return text
    start = text.index(inner)
    return f"{text[:start]}{before}{inner}{after}{text[start + len(inner) :]}"
