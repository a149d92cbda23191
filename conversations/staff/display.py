"""Values as support staff read them: times with their zone, ids to copy, numbers with separators, links, small bars."""

import json
from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from django.db.models import Model
from django.urls import get_script_prefix, reverse
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from conversations.models import ContextSnapshot
from conversations.models.replies import STOP_REASONS
from conversations.runtime import wording
from conversations.runtime.wording import filled

NOTHING = "–"
SHORT = 100
PLACE = "place-of-the-id"
DAY, TIME = "%Y-%m-%d", "%H:%M:%S %Z"


def change_url(model: type[Model], pk: object) -> str:
    before, after = _change_path(model, get_script_prefix())
    return f"{before}{quote(str(pk), safe='/~:@')}{after}"


@lru_cache
def _change_path(model: type[Model], prefix: str) -> tuple[str, str]:
    """What stands before and after the id: a page names hundreds of rows, and ``reverse`` takes as long for each."""
    path = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_change", args=[PLACE])
    before, _, after = path.partition(PLACE)
    return before, after


def link(model: type[Model], pk: object, label: object) -> SafeString:
    return format_html('<a href="{}">{}</a>', change_url(model, pk), label)


def links(items: Iterable[SafeString]) -> SafeString | str:
    return format_html_join(", ", "{}", ((item,) for item in items)) or NOTHING


def list_link(model: type[Model], label: str, /, **filters: object) -> SafeString:
    """To the list of a model, filtered."""
    return format_html('<a href="{}">{}</a>', list_url(model, **filters), label)


def list_url(model: type[Model], /, **filters: object) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist", query=filters or None)


def when(value: datetime | None) -> SafeString | str:
    if value is None:
        return NOTHING
    local = timezone.localtime(value)
    return format_html(
        '<time class="ob-time" datetime="{}"><span>{}</span> <span>{}</span></time>',
        value.isoformat(),
        local.strftime(DAY),
        local.strftime(TIME),
    )


def moment(value: datetime) -> str:
    """A time within a sentence, or where no markup can be."""
    return timezone.localtime(value).strftime(f"{DAY} {TIME}")


def took(start: datetime, end: datetime | None) -> str:
    return NOTHING if end is None else milliseconds((end - start).total_seconds() * 1000)


def milliseconds(value: float | None) -> str:
    if value is None:
        return NOTHING
    if value < 10:
        return filled("{number} ms", number=wording.number(value, 1))
    if value < 1000:
        return filled("{number} ms", number=wording.number(value))
    return filled("{number} s", number=wording.number(value / 1000, 1))


def mono(value: object) -> SafeString:
    return format_html('<code class="ob-id">{}</code>', value)


def number(value: int | None) -> str:
    return NOTHING if value is None else wording.number(value)


def masked() -> SafeString:
    """In the place of content that is not shown."""
    return format_html('<span class="ob-masked">{}</span>', gettext("masked"))


def rough(size: int) -> str:
    """The length of content that is not shown: what is short could be guessed by its length, too."""
    return filled("fewer than {size} characters", size=SHORT) if size < SHORT else with_noun(size, "character")


def digest(sha256: bytes, *, shown: bool) -> SafeString:
    """Of content. Where that is not shown another digest, which only this server can take: it tells what is the same and what
    changed, and nobody can try guesses at a short text with it."""
    if shown:
        return mono(sha256.hex())
    keyed = salted_hmac("openbook.digest", sha256, algorithm="sha256").hexdigest()
    return format_html("{} {}", mono(keyed), gettext("keyed"))


def short_id(pk: object) -> str:
    """Enough of an id to tell it from others in a list: its head is the time, its tail is random."""
    return f"{str(pk)[:8]}…{str(pk)[-4:]}"


def id_link(model: type[Model], pk: object) -> SafeString:
    """A row that is named by its id alone, as what it says is content."""
    return link(model, pk, mono(short_id(pk)))


def money(usd: Decimal | None) -> str:
    """To a hundredth of a cent below a dollar, as most requests cost less than a cent."""
    if usd is None:
        return NOTHING
    if 0 < usd < Decimal("0.0001"):
        return f"< ${wording.number(0.0001, 4)}"
    return f"${wording.number(usd, 4 if 0 < usd < 1 else 2)}"


def share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else NOTHING


def with_note(main: object, note: object) -> SafeString:
    """A cell of a list with a smaller second line."""
    return format_html('{}<span class="ob-second">{}</span>', main, note)


NOUNS = (
    *("artifact", "character", "day", "earlier turn", "hour", "minute", "model request", "part", "request", "task"),
    *("time", "token", "topic", "turn", "user"),
)
"""Those that ``with_noun`` is asked for: the catalogues have their forms."""


def with_noun(count: int, noun: str) -> str:
    return wording.counted(*forms_of(noun), count)


def forms_of(noun: str) -> tuple[str, str]:
    return f"{{count}} {noun}", f"{{count}} {noun}s"


def with_tokens(count: int) -> str:
    return with_noun(count, "token")


def duration(seconds: float) -> str:
    """Rounded down to the largest unit that fits."""
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            return with_noun(int(seconds // size), unit)
    return f"{seconds:.0f} s"


def pretty(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def folded_json(value: Any) -> SafeString | str:
    return folded(pretty(value) if value else "")


def folded(text: str) -> SafeString | str:
    return format_html('<pre class="ob-text">{}</pre>', text) if text else NOTHING


def status(value: str, label: str = "") -> SafeString:
    return format_html('<span class="ob-status ob-{}">{}</span>', value, label or gettext(value))


def error_object(error: dict[str, Any] | None, *, shown: bool) -> str:
    """What went wrong, as JSON. A provider quotes what it was sent, so its words are content; the rest is not."""
    if not error:
        return ""
    return pretty(
        error if shown else {key: error.get(key) for key in ("type", "code")} | {"message": gettext("masked")}
    )


def stop_reason(value: str) -> str:
    """One that is known; what else a service writes there may be a person's words."""
    return value if not value or value in STOP_REASONS else gettext("another reason")


def error_code(error: dict[str, Any] | None) -> str:
    return error.get("code", "unknown") if error else ""


def purpose(value: str, round: int) -> str:
    """What a model request was made for."""
    own = {
        ContextSnapshot.Purpose.REWRITE: gettext("contextualised query"),
        ContextSnapshot.Purpose.ARTIFACT: gettext("silent artifact"),
        ContextSnapshot.Purpose.CONSOLIDATION: gettext("notes of a conversation"),
        ContextSnapshot.Purpose.TITLE: gettext("title of a conversation"),
        ContextSnapshot.Purpose.EXPERIMENT: gettext("answer in an experiment"),
        ContextSnapshot.Purpose.JUDGE: gettext("verdict on an answer"),
    }
    return ", ".join(filter(None, [own.get(ContextSnapshot.Purpose(value)), which(value, round)]))


def which(purpose: str, round: int) -> str:
    """Which of several that a reply, or a part of a conversation, took."""
    match purpose:
        case ContextSnapshot.Purpose.REWRITE | ContextSnapshot.Purpose.TITLE | ContextSnapshot.Purpose.JUDGE:
            return ""
        case ContextSnapshot.Purpose.CONSOLIDATION:
            return filled("attempt {round}", round=round) if round > 1 else ""
    return filled("round {round}", round=round)


def tokens_bar(total: int, budget: int, hard_cap: int) -> SafeString:
    """Tokens against the budget; the bar's full width is the hard cap."""
    scale = 90 / max(total, hard_cap, 1)
    return format_html(
        '<span class="ob-tokens">{} / {}</span>'
        '<svg class="ob-bar{}" width="90" height="6" aria-hidden="true"><rect class="ob-track" width="90" height="6"/>'
        '<rect class="ob-fill" width="{}" height="6"/><rect class="ob-mark" x="{}" width="1" height="6"/></svg>',
        number(total),
        number(budget),
        " ob-over" if total > budget else "",
        round(total * scale, 1),
        round(min(budget * scale, 89), 1),
    )
