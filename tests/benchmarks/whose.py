"""Whose fact is it: what is noted without a model of made messages in five languages that nothing was learnt from.

Of what others said, of what is not so and of what passes nothing may be noted; of true facts each value must be.
"""

from collections.abc import Sequence

from memory.consolidation.rule_extraction import extract
from tests.made_messages import ASIDE, FACTS, KINDS, LANGUAGES, NEGATIONS, MadeMessage, messages
from tests.memory.turns import conversation


def is_right(message: MadeMessage) -> bool:
    """Whether notes of a fact hold its values; whether those of a negation deny as it does; whether there are none."""
    notes = [fact.text.casefold() for fact in extract(conversation(message.text)).facts]
    if message.kind == FACTS:
        return all(any(value in note for note in notes) for value in message.values)
    if message.kind == NEGATIONS:
        return all(value in note for note in notes for value in message.values)
    return not notes


def main() -> None:
    outcomes = [(message, is_right(message)) for message in messages(ASIDE)]
    print(f"\n== whose fact is it, right of {len(outcomes)} messages that were kept aside")
    for kind in KINDS:
        print_share(kind, [right for message, right in outcomes if message.kind == kind])
    print_share("all but facts", [right for message, right in outcomes if message.kind != FACTS])
    for language in LANGUAGES:
        of_language = [(message, right) for message, right in outcomes if message.language == language]
        print_share(f"facts, {language}", [right for message, right in of_language if message.kind == FACTS])
        print_share(f"others, {language}", [right for message, right in of_language if message.kind != FACTS])


def print_share(name: str, some: Sequence[bool]) -> None:
    print(f"  {name:<20}{100 * sum(some) / len(some):6.0f} % of {len(some)}")
