"""What a label of a figure or a span may say: names that the installation knows. Whatever else a service, a model or a person
wrote is ``other``, so that the number of series is bounded and nothing that was said stands in them.

Reads no database: what is asked for here is known from the work that it is told of.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache

from django.conf import settings

from conversations.context.reasons import Reason
from conversations.errors import OpenbookError
from conversations.models import ContextSnapshot
from conversations.models.replies import STOP_REASONS
from conversations.providers import PROVIDERS, connections, model_catalog, refusals
from conversations.providers.errors import SENTENCES
from conversations.providers.prices import plain_name
from conversations.tools import registered

OTHER = "other"
MOST_LEARNT = 200
"""Names of assistants and their models: beyond it, staff rename them faster than anybody looks."""
CONVENTIONS = {
    "offline": "openbook.offline",
    "claude_cli": "anthropic",
    "bedrock": "aws.bedrock",
    "vertex": "gcp.vertex_ai",
}
"""OpenTelemetry's names of providers, where they are not ours."""
CODES = frozenset(
    {
        *SENTENCES,
        refusals.CODE,
        *("misconfigured", "timeout", "too_long", "cut_off", "model_not_found", "unusable_answer", "tool_error"),
        *("no_moderation", "refused_by_moderation", "moderation_unavailable"),
        *("interrupted", "context_invariant", "database", "internal", "failed"),
    }
)
MODELS = frozenset({"gen_ai.request.model", "gen_ai.response.model"})

_learnt: dict[str, set[str]] = {"gen_ai.agent.name": set(), "gen_ai.request.model": set()}


def learn(label: str, *names: str) -> None:
    """Names that staff gave in a row of the installation's."""
    known = _learnt[label]
    known.update(name for name in names if name and len(known) < MOST_LEARNT)


def bounded(label: str, value: str) -> str:
    """Empty where nothing is told. A model is told without the date of its snapshot, of which there is no end."""
    if label in MODELS and value not in _learnt["gen_ai.request.model"]:
        value = plain_name(value)
    return value if not value or KNOWN[label](value) else OTHER


def _is_model(name: str) -> bool:
    own = (settings.OPENBOOK_MODEL, "offline")
    return name in _learnt["gen_ai.request.model"] or name in own or name in model_catalog.known_names()


def _is_provider(name: str) -> bool:
    return name in PROVIDERS or name in CONVENTIONS.values() or name in connections.known_slugs()


def _is_error(name: str) -> bool:
    return name in CODES or name in _names_of_errors() or any(name == kind.__name__ for kind in _kinds(BaseException))


@cache
def _names_of_errors() -> frozenset[str]:
    return frozenset(kind.code for kind in _kinds(OpenbookError) if issubclass(kind, OpenbookError))


def _kinds(kind: type[BaseException]) -> Iterator[type[BaseException]]:
    yield kind
    for each in kind.__subclasses__():
        yield from _kinds(each)


KNOWN: Mapping[str, Callable[[str], bool]] = {
    "code.function.name": str.isprintable,  # functions of our code, as many as there are and no more
    "gen_ai.operation.name": {"chat", "invoke_agent", "execute_tool"}.__contains__,
    "gen_ai.provider.name": _is_provider,
    "gen_ai.request.model": _is_model,
    "gen_ai.response.model": _is_model,
    "gen_ai.response.finish_reasons": STOP_REASONS.__contains__,
    "gen_ai.agent.name": lambda name: name in _learnt["gen_ai.agent.name"],
    "gen_ai.tool.name": lambda name: name in registered(),
    "gen_ai.tool.type": {"function"}.__contains__,
    "gen_ai.token.modality": {"text", "unknown"}.__contains__,
    "error.type": _is_error,
    "openbook.reason": {reason.value for reason in Reason}.__contains__,
    "openbook.request_status": {status.value for status in ContextSnapshot.Status}.__contains__,
}
"""For each label, whether it is a name that the installation knows."""
