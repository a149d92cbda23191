"""What somebody of the demo and the assistant say to each other in a month, from a TOML file beside this one.

A session opens its thread with ``assistant`` and ``title``, or goes on in it; several attempts answer a message one after the
other, each as a retry of the one before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import time
from pathlib import Path
from typing import Any

from conversations.runtime.word_tables import read_tables


@dataclass(frozen=True, kw_only=True)
class SavedArtifact:
    kind: str
    title: str
    content: str


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """``ends`` is empty where the model says all that it wanted, else ``refuse``, ``fail`` or ``interrupt``; ``detail`` is the
    category of a refusal, or the code of a failure."""

    text: str = ""
    artifact: SavedArtifact | None = None
    ends: str = ""
    detail: str = ""

    @property
    def rounds(self) -> list["Attempt"]:
        """One for each call of the model: an artifact is saved before the rest is said."""
        return [Attempt(artifact=self.artifact), replace(self, artifact=None)] if self.artifact else [self]


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """A message, or the ``preset`` that was clicked instead, whose artifact is the text, with what there is to note: facts (as
    ``new <- old`` where one replaces another), topics that are opened or resolved. It may be forgotten after the session."""

    attempts: Sequence[Attempt]
    message: str = ""
    preset: str = ""
    facts: Sequence[str] = ()
    opened: Sequence[str] = ()
    resolved: Sequence[str] = ()
    is_forgotten: bool = False


@dataclass(frozen=True, kw_only=True)
class Session:
    days_ago: int
    at: time
    thread: str
    exchanges: Sequence[Exchange]
    assistant: str = ""
    title: str = ""
    summary: str = ""


def read(name: str) -> list[Session]:
    """Raises ``TypeError`` and ``KeyError`` where it is no screenplay."""
    sessions = read_tables(Path(__file__).with_name(name))["sessions"]
    return [
        Session(**{**session, "exchanges": [_exchange(each) for each in session["exchanges"]]}) for session in sessions
    ]


def _exchange(values: Mapping[str, Any]) -> Exchange:
    return Exchange(**{**values, "attempts": [_attempt(each) for each in values["attempts"]]})


def _attempt(values: Mapping[str, Any]) -> Attempt:
    artifact = SavedArtifact(**values["artifact"]) if "artifact" in values else None
    return Attempt(**{**values, "artifact": artifact})
