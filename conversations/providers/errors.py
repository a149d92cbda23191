"""What went wrong with a call of a model, in Openbook's words, without any SDK."""

import traceback
from collections.abc import Iterable
from pathlib import Path

from django.conf import settings

from conversations.providers.base import ProviderError
from conversations.providers.claude_cli_version import OLDEST
from conversations.providers.masking import mask_of
from conversations.runtime.text import printable, shortened
from conversations.runtime.word_tables import read_tables

LONGEST_DETAIL = 300
LONGEST_READ = 10 * LONGEST_DETAIL

ROWS = read_tables(__file__)
SENTENCES: dict[str, tuple[bool, str]] = {
    code: ("retryable" in row, row["text"].replace("{oldest_cli}", OLDEST)) for code, row in ROWS.items()
}
"""By code: whether the same again can help, and what the person chatting reads."""

DOWN = frozenset(code for code, row in ROWS.items() if "down" in row)
"""What says that the service is away, where it comes before any content."""

OWN_ERRORS = frozenset(code for code, row in ROWS.items() if row.get("down") == "maybe")
"""Those of it that may lie in the request or in the model."""

ELSEWHERE = frozenset({"misconfigured", *(code for code, row in ROWS.items() if "instead" in row)})
"""What says nothing against the request: before any content, another model may be asked."""

BY_TYPE, BY_STATUS, BY_WORD = (
    {name: code for code, row in ROWS.items() for name in row.get(kind, ())} for kind in ("types", "statuses", "words")
)


class StreamError(Exception):
    """The service said in the stream, or by its end, that the reply is not complete. ``detail`` is its own word for it,
    ``retry_after`` the seconds that it asks to wait for."""

    def __init__(
        self, code: str, detail: str = "", *, status: int | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(code)
        self.code = code
        self.detail = detail
        self.status = status
        self.retry_after = retry_after


def provider_error(
    code: str,
    *,
    detail: object = None,
    secrets: Iterable[str] = (),
    key_name: str = "ANTHROPIC_API_KEY",
    status: int | None = None,
    retry_after: float | None = None,
) -> ProviderError:
    """``secrets`` are taken out of ``detail``, the service's own words. ``key_name`` is what the key is called where it is
    configured."""
    retryable, sentence = SENTENCES[code]
    sentence = sentence.replace("{key_name}", key_name)
    if "with_detail" in ROWS[code] and isinstance(detail, str) and detail:
        sentence += (
            f" It says: “{shortened(mask_of(tuple(secrets)).text(printable(detail[:LONGEST_READ])), LONGEST_DETAIL)}”"
        )
    return ProviderError(code, sentence, retryable=retryable, status=status, retry_after=retry_after)


def words_instead(cause: str) -> str:
    """What kept a model from answering, after its name, where another one was asked in its place."""
    words: str = ROWS.get(cause or "refused", {}).get("instead", "could not be asked")
    return words


def code_for_status(status: int) -> str:
    return BY_STATUS.get(status) or ("invalid_request" if 400 <= status < 500 else "server_error")


def code_for_type(error_type: object) -> str | None:
    return BY_TYPE.get(error_type) if isinstance(error_type, str) else None


def place_of(error: BaseException) -> str:
    """An exception by its kind and the line of ours that it came from: what it says itself may hold a text of a user's."""
    kind = f"{type(error).__name__} ({error.code})" if isinstance(error, ProviderError) else type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    paths = [(Path(frame.filename), frame.lineno) for frame in frames if "site-packages" not in frame.filename]
    ours = [
        f"{path.relative_to(settings.BASE_DIR)}:{line}"
        for path, line in paths
        if path.is_relative_to(settings.BASE_DIR)
    ]
    return f"{kind} at {ours[-1]}" if ours else kind
