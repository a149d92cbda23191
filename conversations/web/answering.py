"""What the chat page says of who answers, where that is no model, one not to be relied upon, or one of a small window."""

from typing import TypedDict

from django.conf import settings
from django.utils.translation import gettext

from conversations.context.tokens.budget import shortage
from conversations.models import Assistant
from conversations.providers import PROVIDERS, ProviderError, get_provider, model_catalog, provider_name
from conversations.providers.answering_model import own_row
from conversations.providers.local_model import PROVIDER, SMALL_MODEL, served_model
from conversations.runtime import local_engine


class Note(TypedDict):
    """``short`` stands below the message box; ``long``, and the ``command`` that brings a model, on the first page."""

    short: str
    long: str
    command: str


OFFLINE_NOTE = Note(
    short="Offline responder: no language model, it quotes the conversation.",
    long="No language model is connected: the offline responder quotes what it finds in the conversation. Whoever "
    "runs this Openbook can bring a small model to its machine by one command; it answers after the next start.",
    command="make local",
)
CHOSEN_OFFLINE_NOTE = Note(
    short=OFFLINE_NOTE["short"],
    long="No language model is asked, as whoever runs this Openbook chose: the offline responder quotes what it finds in "
    "the conversation.",
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


NOBODY = "Nobody can be asked at the moment."


def notes() -> dict[str, Note]:
    """By slug, of the assistants of which there is something to say."""
    said = {assistant.slug: note(assistant) for assistant in Assistant.objects.prefetch_related("fallbacks")}
    return {slug: each for slug, each in said.items() if each}


def note(assistant: Assistant) -> Note | None:
    """Who answers, and that the window is small, where it is."""
    known, row = who_answers(assistant), own_row(assistant)
    window = shortage(assistant, row) if row else ""
    if not (known and window):
        return known or (Note(short=window, long=window, command="") if window else None)
    return Note(short=f"{known['short']} {window}", long=f"{known['long']} {window}", command=known["command"])


def who_answers(assistant: Assistant) -> Note | None:
    name = provider_name(assistant)
    match name:
        case "offline":
            is_there = local_engine.is_ready(settings.OPENBOOK_LOCAL_MODEL)
            return CHOSEN_OFFLINE_NOTE if is_there else OFFLINE_NOTE
        case "local":
            name = served_model()
            chosen = SMALL_NOTE if name == SMALL_MODEL else LOCAL_NOTE
            label = str(model_catalog.get(PROVIDER, name))
            return Note(
                short=gettext(chosen["short"]).format(model=label),
                long=gettext(chosen["long"]).format(model=label),
                command=chosen["command"],
            )
    return None if name in PROVIDERS or assistant.fallbacks.all() else of_connection(name)


def of_connection(slug: str) -> Note | None:
    """What keeps a connection from being asked, before somebody writes a message that nobody answers."""
    try:
        obstacle = get_provider(slug).obstacle()
    except ProviderError as error:
        obstacle = error
    return Note(short=NOBODY, long=f"{gettext(NOBODY)} {gettext(obstacle.message)}", command="") if obstacle else None
