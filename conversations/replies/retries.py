"""What another attempt at a reply is asked for, by how the one before ended. Reads only."""

from collections.abc import Sequence
from dataclasses import replace

from django.conf import settings

from conversations.context.caller_options import CallerOptions
from conversations.context.fitting import Section, resumed
from conversations.context.turn_groups import whole_blocks
from conversations.context.windowing import Turn
from conversations.errors import ModelNotOffered
from conversations.models import ContextSnapshot, Message, Reply
from conversations.providers import get_provider, model_of, refusals

LESS = 0.7
"""How much of a request that was too large for its model the next one may take."""
MORE = 2
"""How many times as much as the one before an answer may take that ran out of room by thinking."""
TOO_LARGE, OUT_OF_ROOM = "request_too_large", "out_of_room"
WINDOW_EXCEEDED = "model_context_window_exceeded"


def after(before: Reply, options: CallerOptions, model: str = "") -> CallerOptions:
    """The options of the next attempt. Where no model is named it is asked of the one that answered before. Raises
    ``ModelNotOffered``."""
    assistant = before.thread.assistant
    own = model_of(assistant, get_provider(assistant.provider or settings.OPENBOOK_PROVIDER))
    fallback = assistant.fallback_model
    offered = [name for name in (own, fallback) if name]
    if model and model not in offered:
        raise ModelNotOffered(
            f"This reply can be asked of {' or '.join(offered)}, and of no other model.", models=offered
        )
    last = before.snapshots.exclude(purpose=ContextSnapshot.Purpose.REWRITE).order_by("-round").first()
    declined = last.model if last and last.stop_reason == refusals.STOP_REASON else ""
    answered = last.model if last and not declined else before.model
    chosen = model or (answered if answered in offered else own)
    options = replace(options, model=chosen if chosen != own else "")
    if last is None:
        return options
    if declined:
        return replace(options, fallback_for=declined if declined != chosen == fallback else "")
    return replace(
        options,
        fallback_for=last.fallback_for if last.model == chosen else "",
        least_output=MORE * last.max_tokens if code_of(before) == OUT_OF_ROOM else 0,
        most_input=less_than(last.total_tokens) if last.stop_reason == WINDOW_EXCEEDED else None,
    )


def less_than(tokens: int) -> int:
    return int(tokens * LESS)


def code_of(reply: Reply) -> str:
    return reply.error["code"] if reply.error else ""


def turn_to_go_on_with(before: Reply) -> Message | None:
    """Of an attempt to go on with a reply that came to nothing good: another one goes on with the same."""
    if before.continues_id is None or before.status == Reply.Status.COMPLETED:
        return None
    return Message.objects.filter(reply=before.continues_id).exclude(status=Message.Status.FORGOTTEN).first()


def so_far(turn: Message) -> Sequence[Section]:
    """What is to be gone on with, as far as a model takes it back."""
    return resumed(whole_blocks([Turn.of(turn)])[0])
