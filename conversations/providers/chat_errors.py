"""The errors of servers that speak Chat Completions, in Openbook's words: the tables of ``chat_errors.toml``. Pure."""

from collections.abc import Mapping
from typing import Any

from conversations.providers import refusals
from conversations.providers.base import is_token_figure
from conversations.providers.errors import StreamError, code_for_status
from conversations.providers.message_stream import LONGEST_DETAILS
from conversations.runtime.text import clean
from conversations.runtime.word_tables import pattern, read_tables

TABLES = read_tables(__file__)
CODES: Mapping[str, str] = TABLES["codes"]
STATUSES: Mapping[int, str] = {int(status): code for status, code in TABLES["statuses"].items()}
MESSAGES = {code: pattern(text) for code, text in TABLES["messages"].items()}
ANSWER = frozenset({"choices", "usage"})
"""What is in an event that tells no error."""


def error_in(chunk: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The error object that an event holds or is."""
    error, base = chunk.get("error"), chunk.get("base_resp")
    if isinstance(error, str) and error:
        return {"message": error}
    if isinstance(error, dict) and any(error.values()):
        return error
    if isinstance(base, dict) and base.get("status_code"):  # MiniMax
        return {"message": base.get("status_msg"), "code": base["status_code"]}
    if chunk.get("object") == "error":  # earlier vLLM
        return chunk
    if any(chunk.get(name) for name in ANSWER) or isinstance(chunk.get("message"), dict):
        return None
    words = chunk.get("detail") or chunk.get("message")
    return {**chunk, "message": words} if isinstance(words, str) else None


def stream_error(error: Mapping[str, Any], status: int | None = None) -> StreamError:
    """An error object in Openbook's words. Without an HTTP status its own code may be one."""
    code, detail = error.get("code"), text_in(error.get("message"))
    told = status or number(code) or (number(int(code)) if isinstance(code, str) and code.isdecimal() else 0)
    return StreamError(code_of(error, told or None), detail, status=status)


def code_of(error: Mapping[str, Any], status: int | None) -> str:
    message = text_in(error.get("message"))
    if nested(error, "metadata", "flagged_input") is not None:  # OpenRouter's moderation
        return refusals.CODE
    named = (CODES.get(value) for value in (error.get("code"), error.get("type")) if isinstance(value, str))
    said = (code for code, words in MESSAGES.items() if words.search(message))
    by_status = (STATUSES.get(status) or code_for_status(status)) if status and status >= 300 else "server_error"
    return next(filter(None, (*said, *named)), by_status)


def refusal_details(explanation: str) -> dict[str, Any]:
    return {"type": refusals.STOP_REASON, "category": None, "explanation": clean(explanation)[:LONGEST_DETAILS] or None}


def text_in(value: object) -> str:
    text = value.get("text") if isinstance(value, dict) else value
    return text if isinstance(text, str) else ""


def nested(value: Mapping[str, Any], *names: str) -> Any:
    found: Any = value
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def number(value: object) -> int:
    """The figure, 0 where it is none that can be meant."""
    return value if is_token_figure(value) else 0
