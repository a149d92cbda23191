"""A connection tried out for staff: its list of models is read, and one of them asked for a word."""

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from conversations.models import Connection
from conversations.providers import connections, model_catalog
from conversations.providers.base import Finished, ModelCall, Provider, ProviderError, ask
from conversations.providers.messages_api import RequestParts
from conversations.providers.model_listing import OfferedModel, can_chat

SECONDS = 20.0
"""For the list, and for the answer."""
QUESTION_TOKENS, ANSWER_TOKENS = 20, 64
SYSTEM = [{"type": "text", "text": "Answer with one word."}]
QUESTION = [{"role": "user", "content": "Are you there?"}]

WORDS = {
    "authentication": "The service refused the key.",
    "inner_network": "Nothing was sent: {host} is in an inner network, and OPENBOOK_INNER_NETWORKS does not name it.",
    "name_not_found": "The name {host} was not found.",
    "certificate": "Nothing was sent: the certificate of {host} is not trusted on this machine.",
    "redirected": "It answered with a redirect. Redirects are not followed, so that the key goes nowhere else: enter the "
    "address that it leads to.",
    "proxy": "The proxy did not let the request pass.",
    "no_connection": "Timed out: nothing answered at {host} within {seconds:g} s.",
    "unreachable": "Nothing listens at {host}: the connection was refused or broke off.",
    "timeout": "Timed out: connected, but there was no answer within {wait:g} s.",
    "bad_stream": "It answered, but not in the shape that is expected: check the address and the kind.",
    "web_page": "A web page answers at {host}: check the address, which mostly ends in /v1, and whether a sign-in stands "
    "before it.",
    "cut_off": "It answered, but broke off in the middle.",
    "server_error": "It answered with an error of its own.",
}
"""By the code of the failure; of others the error's own words."""
NOT_THERE = "It answered, but has no list of models there (404): check the address and the kind."
LISTS_NOTHING = (
    "Nothing was asked: this service lists no models. Add one under Models, with this connection as its provider."
)
OFFERS_NOTHING = "It answered, but offers no models. Add one under Models, with this connection as its provider."


@dataclass(frozen=True, kw_only=True)
class Trial:
    is_working: bool
    words: str


def try_out(row: Connection, call: ModelCall) -> Trial:
    """``call`` is kept up to date. Takes up to 40 seconds: hold no database connection meanwhile."""
    provider = connections.provider_of(row)
    try:
        return asyncio.run(_ask(provider, model_to_ask(row), call))
    except ProviderError as error:
        return Trial(is_working=False, words=in_words(error, row))


def model_to_ask(row: Connection) -> str:
    """Empty where none has a row: then the first is asked that the service offers."""
    with suppress(ProviderError):
        return connections.first_model(row)
    return ""


def offered_models(row: Connection) -> list[OfferedModel]:
    """Those that the service offers now, by name. Raises ``ProviderError``; takes up to 20 seconds."""
    provider = connections.provider_of(row)
    found = asyncio.run(provider.models(seconds=SECONDS))
    return sorted({model.id: model for model in found}.values(), key=lambda model: model.id)


def in_words(error: ProviderError, row: Connection) -> str:
    if error.code == "model_not_found" and error.status == 404:
        return error.message if model_catalog.offered(row.slug) else NOT_THERE
    host = urlsplit(connections.address_of_row(row)).netloc
    words = WORDS.get(error.code, error.message)
    return words.format(host=host, seconds=row.connect_seconds, wait=SECONDS)


async def _ask(provider: Provider, model: str, call: ModelCall) -> Trial:
    if not model:
        listed = await provider.models(seconds=SECONDS)
        if not listed:
            return Trial(is_working=False, words=OFFERS_NOTHING if provider.lists_models else LISTS_NOTHING)
        model = next((each.id for each in listed if can_chat(each.id)), listed[0].id)
    payload = provider.render(RequestParts(model=model, max_tokens=ANSWER_TOKENS, system=SYSTEM, messages=QUESTION))
    began = time.perf_counter()
    async for event in ask(provider, payload, call, seconds=SECONDS):
        if isinstance(event, Finished):
            milliseconds = round((time.perf_counter() - began) * 1000)
            return Trial(is_working=True, words=f"Answered in {milliseconds:,} ms with {event.model or model}.")
    return Trial(is_working=False, words=WORDS["cut_off"])
