"""What stands beside the person's own words in the newest message: what each source gives for it, in the room that is left.

It goes by the message, so unlike what stands before the turns (``standing``) it is another with each one (Q2).
"""

from dataclasses import replace

from conversations.context.choose.choice import Choice
from conversations.context.choose.step import Step
from conversations.context.gather.material import Material, SearchedSource
from conversations.context.gather.reader import Reader
from conversations.context.rules.fitting import Section
from conversations.context.sources import MessageQuery, Place, sources_at
from conversations.context.tokens.estimate import text_of


def read(reader: Reader, material: Material, choice: Choice) -> Material:
    """What every source gives that is asked, in the order in which they are sent."""
    query, known, room = message_query(material, choice), material.known, room_left(choice)
    beside: dict[str, SearchedSource] = {}
    for source in sources_at(Place.BESIDE):
        is_open = known.remembers or not source.is_memory or (query.withholds and source.tells_withheld)
        if source.is_wanted(query) and is_open:
            tokens = source.tokens(choice.limits.assistant)
            its_room = None if tokens is None else min(material.facts.factor.to_estimate(tokens), room)
            fitted = reader.search(source, known, query, its_room)
            beside[source.name] = SearchedSource(fitted=fitted, by=source.searches_by(query), room=its_room)
            room -= Section.of(source.name, fitted.text).tokens if fitted.text else 0
    return replace(material, beside=beside)


def choose(material: Material, choice: Choice) -> Choice:
    texts = {name: searched.fitted.text for name, searched in material.beside.items()}
    additions = [Section.of(name, text) for name, text in texts.items() if text]
    return replace(choice, parts=replace(choice.parts, additions=additions))


def room_left(choice: Choice) -> int:
    """Estimated tokens beside all that stands in the request by now."""
    return choice.limits.fitting.total_tokens - choice.parts.total_tokens


def message_query(material: Material, choice: Choice) -> MessageQuery:
    request, parts = material.request, choice.parts
    return MessageQuery(
        **vars(material.source_query),
        at=request.at,
        zone=material.known.zone,
        text=text_of(request.newest.content),
        query=choice.query.query,
        before=parts.history[0].depth if parts.history else request.newest.depth,
        gone=frozenset(turn.id for turn, _ in choice.candidates.excluded),
        filtering=choice.limits.assistant.filters_artifacts,
        is_past=material.facts.is_past,
        already_sent={tier.name: tier.items for tier in parts.tiers},
        lines_sent=[
            *(line for tier in parts.tiers for line in tier.text.splitlines()),
            *(text_of(turn.content) for turn in parts.history),
        ],
    )


STEP = Step(name="beside", label="Beside the message: artifacts, memories recalled", read=read, choose=choose)
