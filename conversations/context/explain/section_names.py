"""What the sections of a request are called, in the order in which they are sent. Those of sources bring their own names."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from conversations.context.render.rendering import GO_ON
from conversations.context.rules.fitting import (
    CALLER,
    CITING,
    INSTRUCTION,
    INSTRUCTIONS,
    MATERIAL,
    PROGRAM,
    ROUND,
    TOOLS,
)
from conversations.context.sources import Place, Source, all_sources
from conversations.models import ContextSnapshot
from conversations.runtime.values import dataclass

HISTORY, FILES, MESSAGE, REPLY = "history", "files", "message", "reply"


@dataclass(frozen=True, kw_only=True)
class SectionName:
    """``name`` is the key in snapshot, pages and API; ``label`` is for staff, ``personal_label`` for the person."""

    name: str
    label: str
    personal_label: str


WRITTEN_BY_STAFF = (
    SectionName(
        name=PROGRAM,
        label="How the provider is asked, as JSON",
        personal_label="How the provider is asked",
    ),
    SectionName(name=TOOLS, label="Tools, as JSON", personal_label="Tools it may use"),
    SectionName(
        name=CALLER,
        label="Tools and format of the program that asked, as JSON",
        personal_label="Tools and format of the program that asked",
    ),
    SectionName(name="base", label="System prompt", personal_label="Instructions"),
    SectionName(name="rules", label="Rules about artifacts", personal_label="Rules about documents"),
    SectionName(name=CITING, label="How files are cited", personal_label="How files are cited"),
    SectionName(
        name=INSTRUCTIONS,
        label="Instructions of the program that asked",
        personal_label="Instructions of the program that asked",
    ),
)
TURNS = (
    SectionName(name=HISTORY, label="Earlier turns", personal_label="Earlier turns"),
    SectionName(name=FILES, label="Files in the turns", personal_label="Files"),
    SectionName(name=MESSAGE, label="The message to answer", personal_label="Your message"),
)
REPLY_SO_FAR = "What this reply said and did before, as JSON"
AFTER = (
    SectionName(name=INSTRUCTION, label="The preset's instruction", personal_label="The button's instruction"),
    SectionName(name=MATERIAL, label="Material, as JSON", personal_label="Material"),
    SectionName(name=REPLY, label=REPLY_SO_FAR, personal_label="What this reply did before"),
    SectionName(name=ROUND, label=REPLY_SO_FAR, personal_label="What this reply did before"),
    SectionName(name=GO_ON, label="Words of Openbook: it is to go on", personal_label="That it is to go on"),
)
OWN_LABELS: dict[str, dict[str, str]] = {
    ContextSnapshot.Purpose.REWRITE: {"base": "Instructions", MESSAGE: "Memory, turns and message, as JSON"},
    ContextSnapshot.Purpose.CONSOLIDATION: {
        "base": "Instructions",
        MESSAGE: "Turns, what is noted and topics, as JSON",
    },
    ContextSnapshot.Purpose.TITLE: {"base": "Instructions", MESSAGE: "Message and reply, as JSON"},
    ContextSnapshot.Purpose.JUDGE: {"base": "Instructions", MESSAGE: "Message, answer and criterion, as JSON"},
    ContextSnapshot.Purpose.ARTIFACT: {MESSAGE: "The preset's instruction"},
}
"""Where a section of a request for one purpose is something else."""


def section_names() -> Mapping[str, SectionName]:
    """By their names, in order."""
    return _section_names(all_sources())


@lru_cache(maxsize=2)
def _section_names(sources: Sequence[Source[Any]]) -> Mapping[str, SectionName]:
    names = {
        place: [
            SectionName(name=source.name, label=source.label, personal_label=source.personal_label)
            for source in sources
            if source.place is place
        ]
        for place in Place
    }
    in_order = [*WRITTEN_BY_STAFF, *names[Place.STANDING], *TURNS, *names[Place.BESIDE], *AFTER]
    return {section.name: section for section in in_order}


def label_of(name: str, purpose: str = "") -> str:
    """What staff call a section. One that no source brings any more is called by its key."""
    section = section_names().get(name)
    return OWN_LABELS.get(purpose, {}).get(name) or (section.label if section else name)
