"""What the sources of memory share: parts of rows, lines of a tier, the account of a row. Pure."""

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, tzinfo

from conversations.context.reasons import Reason
from conversations.context.render.excerpts import FittedLines, count, piece
from conversations.context.sources import Fitted, InvalidRow, SourceItem
from conversations.models import Assistant
from conversations.providers.markers import BULLET
from conversations.runtime.values import dataclass
from conversations.runtime.wording import filled
from memory.sources.repeats import repeating, said_again

MARKS = re.compile(r"(?:- )?(?:(?:User|Assistant): )?")


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """Of a day, with its key moments in order, or of a conversation, with the day it ended on."""

    id: str
    text: str
    moments: tuple[str, ...] = ()
    ended_on: date | None = None
    is_repeated: bool = False
    """Whether all that it says stands elsewhere in the request."""
    others: tuple[str, ...] = ()
    """Ids of further summaries that it is made of."""


def without_repeats(summary: Summary) -> Summary:
    """The summary without the lines and moments that it says again later in much the same words."""
    body = summary.text.splitlines()
    return _without(summary, said_again(map(spoken, [*body, *summary.moments])))


def summary_unrepeated(summary: Summary, lines: Iterable[str]) -> Summary:
    """The summary without the lines and moments that say much the same as one of the lines."""
    said = [*summary.text.splitlines(), *summary.moments]
    shorter = _without(summary, {*repeating(enumerate(map(spoken, said)), map(spoken, lines))})
    is_repeated = shorter is not summary and not any(line.strip() for line in (shorter.text, *shorter.moments))
    return replace(shorter, is_repeated=is_repeated)


def _without(summary: Summary, places: Container[int]) -> Summary:
    """Without the lines and moments at these places, counted through both."""
    body = summary.text.splitlines()
    text = [line for n, line in enumerate(body) if n not in places]
    moments = tuple(line for n, line in enumerate(summary.moments, len(body)) if n not in places)
    if (len(text), len(moments)) == (len(body), len(summary.moments)):
        return summary
    return replace(summary, text="\n".join(text), moments=moments)


def repeated_rows(rows: Iterable[tuple[str, str]], lines: Iterable[str]) -> frozenset[str]:
    """The ids of the rows that say much the same as one of the lines, or as a row before them."""
    return frozenset(repeating(rows, map(spoken, lines)))


def spoken(line: str) -> str:
    """A line of a section without what marks it as one, and who spoke."""
    return MARKS.sub("", line, count=1)


def parse_text(text: str | None) -> str:
    if text is None:
        raise InvalidRow("A text is too long.")
    return text


def parse_time(written: str, zone: tzinfo = UTC) -> datetime:
    try:
        return datetime.fromisoformat(written).astimezone(zone)
    except (ValueError, OverflowError) as error:  # PostgreSQL knows infinity and years that Python doesn't
        raise InvalidRow("A time is out of range.") from error


def list_item(kind: str, id: str, fitted: FittedLines, *, instead: Reason) -> SourceItem:
    reason, tokens = fitted.get(id, (instead, 0))
    return SourceItem(kind=kind, id=id, included=id in fitted, reason=reason, tokens=tokens)


def summary_fitted(summary: Summary, text: str, reason: Reason) -> Fitted:
    """Its tokens are told with the first of what it is made of."""
    item = SourceItem(kind="summary", id=summary.id, included=bool(text), reason=reason, tokens=count(text))
    return Fitted(text=text, items=[item, *(replace(item, id=id, tokens=0) for id in summary.others)])


def fit_summary(summary: Summary, heading: str, body: str, tokens: int) -> Fitted:
    """The summary whole or a piece of it; nothing where it says nothing."""
    if summary.is_repeated:
        return summary_fitted(summary, "", Reason.REPEATED)
    if not body:
        return Fitted()
    text = piece(heading, body, tokens)
    whole = text == f"{heading}\n\n{body}"
    return summary_fitted(
        summary, text, Reason.REMEMBERED if whole else Reason.SHORTENED if text else Reason.OVER_BUDGET
    )


def summary_rule(assistant: Assistant) -> str:
    """Of any summary: the record doesn't tell which of the two it was."""
    return filled(
        "Today takes at most {today} tokens, the last conversation {last}.",
        today=assistant.today_tokens,
        last=assistant.last_conversation_tokens,
    )


def included_lines(body: str, items: Sequence[SourceItem]) -> Iterator[tuple[str, str]]:
    """The ids of what was included, each with its line of a recorded list."""
    included_ids = [item.id for item in items if item.included]
    lines = [line for line in body.splitlines() if line.startswith(BULLET)]
    return zip(included_ids, lines, strict=False)
