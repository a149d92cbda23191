"""What the chat page says of who answers, where that is no model, or one that is not to be relied upon."""

from typing import TypedDict

from django.conf import settings

from conversations.providers import model_catalog
from conversations.providers.local_model import PROVIDER, SMALL_MODEL, served_model
from conversations.runtime import local_engine


class Note(TypedDict):
    """``short`` stands below the message box; ``long``, and the ``command`` that brings a model, on the first page."""

    short: str
    long: str
    command: str


OFFLINE_NOTE = Note(
    short="Offline responder: no language model, it quotes the conversation.",
    long="No language model is connected: the offline responder quotes what it finds in the conversation. One command brings "
    "a small model to this machine; it answers once Openbook is started again.",
    command="make local",
)
CHOSEN_OFFLINE_NOTE = Note(
    short=OFFLINE_NOTE["short"],
    long="No language model is asked, as OPENBOOK_PROVIDER says: the offline responder quotes what it finds in the "
    "conversation.",
    command="",
)
SMALL_NOTE = Note(
    short="A very small model on this machine: fluent, often wrong.",
    long="{model} answers: a very small model on this machine, fluent, often wrong, best in English. What you write "
    "is sent to no model elsewhere.",
    command="",
)
LOCAL_NOTE = Note(
    short="{model}, on this machine.",
    long="{model} answers, a model on this machine. What you write is sent to no model elsewhere.",
    command="",
)


def note() -> Note | None:
    match settings.OPENBOOK_PROVIDER:
        case "offline":
            is_there = local_engine.is_ready(settings.OPENBOOK_LOCAL_MODEL)
            return CHOSEN_OFFLINE_NOTE if is_there else OFFLINE_NOTE
        case "local":
            name = served_model()
            chosen = SMALL_NOTE if name == SMALL_MODEL else LOCAL_NOTE
            label = str(model_catalog.get(PROVIDER, name))
            return Note(
                short=chosen["short"].format(model=label),
                long=chosen["long"].format(model=label),
                command=chosen["command"],
            )
    return None
