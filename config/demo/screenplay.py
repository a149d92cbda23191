"""Reads a screenplay: what somebody of the demo and the assistant say to each other in a month.

A line begins with what it is; all other lines are the assistant's words:

    === 29 08:10 garden companion The new garden   a session, so many days ago; the assistant and the title open the thread
    --- what the session was about                 its summary in the person's notes
    > what the person writes                       several such lines are one message
    + a fact                                       that the message tells; `+ new <- old` where it replaces another
    ? a topic                                      that the message opens
    ! a topic                                      that the message settles
    @save table A title  …  @end                   an artifact that the assistant saves before it goes on to speak
    @refuse cyber, @fail overloaded, @interrupt    how the attempt ends, after the words before
    @retry                                         another attempt at the same message
    @preset meeting-summary                        a click instead of a message; the words are its artifact
    @forget                                        the person forgets the message when the session is over
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import time
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass
class SavedArtifact:
    kind: str
    title: str
    lines: list[str] = field(default_factory=list)

    @property
    def content(self) -> str:
        return "\n".join(self.lines).strip() + "\n"


@dataclass
class Attempt:
    """``ends`` is empty where the model says all that it wanted; ``detail`` says more of another end."""

    lines: list[str] = field(default_factory=list)
    artifact: SavedArtifact | None = None
    ends: str = ""
    detail: str = ""

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip()

    @property
    def rounds(self) -> list["Attempt"]:
        """One for each call of the model: an artifact is saved before the rest is said."""
        return [Attempt(artifact=self.artifact), replace(self, artifact=None)] if self.artifact else [self]


@dataclass
class Exchange:
    """A message, or the ``preset`` that was clicked instead, with the attempts to answer it and what there is to note."""

    message: str = ""
    preset: str = ""
    attempts: list[Attempt] = field(default_factory=lambda: [Attempt()])
    facts: list[str] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)
    resolved: list[str] = field(default_factory=list)
    is_forgotten: bool = False


@dataclass
class Session:
    days_ago: int
    at: time
    thread: str
    assistant: str
    title: str
    summary: str = ""
    exchanges: list[Exchange] = field(default_factory=list)


def read(name: str) -> list[Session]:
    return sessions((FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines())


def sessions(lines: Iterable[str]) -> list[Session]:
    """Raises ``ValueError`` or ``IndexError`` where it is no screenplay."""
    reader = _Reader()
    for line in lines:
        reader.take(line)
    return reader.sessions


@dataclass
class _Reader:
    sessions: list[Session] = field(default_factory=list)
    artifact: SavedArtifact | None = None
    before: str = ""

    def take(self, line: str) -> None:
        mark, _, rest = line.partition(" ")
        if self.artifact is None:
            self._read(mark, rest, line)
        elif mark == "@end":
            self.artifact = None
        else:
            self.artifact.lines.append(line)
        self.before = mark

    def _read(self, mark: str, rest: str, line: str) -> None:
        match mark:
            case "===":
                self.sessions.append(_session(rest))
            case "---":
                self.sessions[-1].summary = rest
            case ">" if self.before == ">":
                self.sessions[-1].exchanges[-1].message += f"\n{rest}"
            case ">":
                self.sessions[-1].exchanges.append(Exchange(message=rest))
            case "@preset":
                self.sessions[-1].exchanges.append(Exchange(preset=rest))
            case _:
                self.artifact = _direct(self.sessions[-1].exchanges[-1], mark, rest, line)


def _session(rest: str) -> Session:
    days_ago, at, thread, *opening = rest.split(" ", 4)
    assistant, title = opening or ("", "")
    return Session(days_ago=int(days_ago), at=time.fromisoformat(at), thread=thread, assistant=assistant, title=title)


def _direct(exchange: Exchange, mark: str, rest: str, line: str) -> SavedArtifact | None:
    """What a line says of an exchange. Returns the artifact that it begins, if one."""
    attempt = exchange.attempts[-1]
    match mark:
        case "+":
            exchange.facts.append(rest)
        case "?":
            exchange.opened.append(rest)
        case "!":
            exchange.resolved.append(rest)
        case "@save":
            kind, title = rest.split(" ", 1)
            attempt.artifact = SavedArtifact(kind, title)
            return attempt.artifact
        case "@refuse" | "@fail" | "@interrupt":
            attempt.ends, attempt.detail = mark[1:], rest
        case "@retry":
            exchange.attempts.append(Attempt())
        case "@forget":
            exchange.is_forgotten = True
        case _:
            attempt.lines.append(line)
    return None
