"""What went wrong with a call of a model, in Openbook's words: pure, and without any SDK."""

from conversations.providers.base import ProviderError
from conversations.providers.claude_cli_version import OLDEST

LONGEST_DETAIL = 300

# code: (whether the same again can help, what the person chatting reads)
SENTENCES: dict[str, tuple[bool, str]] = {
    "authentication": (
        False,
        "The model did not accept the API key. Whoever runs this Openbook has to check ANTHROPIC_API_KEY.",
    ),
    "permission": (
        False,
        "The API key may not use this model. Whoever runs this Openbook has to check its permissions and billing.",
    ),
    "model_not_found": (
        False,
        "The model does not exist or is not open to this API key. Whoever runs this Openbook has to choose another.",
    ),
    "invalid_request": (False, "The model could not take this request. Change your message or start a new thread."),
    "request_too_large": (
        False,
        "The conversation is too large for the model, also without its older turns. Shorten your message.",
    ),
    "rate_limited": (True, "The model's rate limit is reached. Your message is saved; try again a little later."),
    "spending_limit": (
        False,
        "What may be spent on the model is spent. Whoever runs this Openbook can raise the limit with its provider.",
    ),
    "overloaded": (True, "The model is overloaded. Your message is saved; try again in a moment."),
    "server_error": (
        True,
        "The model's service had an error. Your message is saved; try again in a moment.",
    ),
    "unreachable": (True, "The model's service cannot be reached. Your message is saved; try again in a moment."),
    "timeout": (True, "The model took too long to answer. Your message is saved; try again."),
    "stalled": (True, "The model stopped in mid-reply. The text so far is kept; try again."),
    "cut_off": (True, "The connection to the model broke off. Your message is saved; try again."),
    "bad_stream": (True, "The model's service sent something unreadable. Your message is saved; try again."),
    "refused": (False, "The model declined to answer this."),  # refusals.sentence says more
    "empty_reply": (True, "The model sent an empty answer. Try again."),
    "out_of_room": (
        True,
        "The model used up all the room for its answer by thinking. Your message is saved; try again: it gets more room then.",
    ),
    "no_artifact": (True, "The model did not make what was asked for. Try again."),
    "cli_missing": (
        False,
        "The Claude CLI can't be run. Whoever runs this Openbook has to install it, or to name it in OPENBOOK_CLAUDE_CLI.",
    ),
    "cli_version": (
        False,
        f"The Claude CLI is too old, or does not say its version: {OLDEST} or newer is needed. "
        "Whoever runs this Openbook has to update it.",
    ),
    "cli_login": (
        False,
        "The Claude CLI is not logged in, or its login has run out. Whoever runs this Openbook has to set "
        "ANTHROPIC_API_KEY, or to name the folder of a login in OPENBOOK_CLAUDE_LOGIN.",
    ),
    "cli_failed": (
        True,
        "The Claude CLI gave up. Your message is saved; try again, or ask whoever runs this Openbook to look at the CLI.",
    ),
    "cli_killed": (
        True,
        "The system ended the Claude CLI, mostly for want of memory. Your message is saved; try again in a moment.",
    ),
}

# The service's own words help to mend these, and don't concern the key.
WITH_DETAIL = frozenset(
    {
        "permission",
        "model_not_found",
        "invalid_request",
        "request_too_large",
        "cli_missing",
        "cli_version",
        "cli_failed",
    }
)

BY_TYPE = {
    "authentication_error": "authentication",
    "permission_error": "permission",
    "billing_error": "permission",
    "not_found_error": "model_not_found",
    "invalid_request_error": "invalid_request",
    "request_too_large": "request_too_large",
    "rate_limit_error": "rate_limited",
    "overloaded_error": "overloaded",
    "timeout_error": "timeout",
    "api_error": "server_error",
}

BY_STATUS = {
    401: "authentication",
    402: "permission",
    403: "permission",
    404: "model_not_found",
    408: "timeout",
    413: "request_too_large",
    429: "rate_limited",
    504: "timeout",
    529: "overloaded",
}


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
    secret: str = "",
    status: int | None = None,
    retry_after: float | None = None,
) -> ProviderError:
    retryable, sentence = SENTENCES[code]
    if code in WITH_DETAIL and isinstance(detail, str) and detail:
        sentence += f" It says: “{shortened(without(secret, detail))}”"
    return ProviderError(code, sentence, retryable=retryable, status=status, retry_after=retry_after)


def code_for_status(status: int) -> str:
    return BY_STATUS.get(status) or ("invalid_request" if 400 <= status < 500 else "server_error")


def code_for_type(error_type: object) -> str | None:
    return BY_TYPE.get(error_type) if isinstance(error_type, str) else None


def without(secret: str, text: str) -> str:
    return text.replace(secret, "…") if secret else text


def shortened(text: str) -> str:
    return text if len(text) <= LONGEST_DETAIL else text[: LONGEST_DETAIL - 1] + "…"
