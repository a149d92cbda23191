"""What checks make of a text, and what comes of it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from conversations.models import ModerationFinding, Moderator, Stage
from conversations.runtime.wording import worded

Result = ModerationFinding.Result

STAYS = "Your message stays, but later answers are not given it. You can put it another way."
REFUSED_WORDS = {
    Stage.MESSAGE: worded("This message was not sent to a model: it is against the rules of this server.", STAYS),
    Stage.FILES: worded(
        "This message was not answered: what its files say is against the rules of this server.", STAYS
    ),
    Stage.REPLY: worded("The answer is not shown: it is against the rules of this server.", STAYS),
}
UNAVAILABLE = worded(
    "What is sent and answered here has to be checked first, and the check can't be made at the moment.",
    "Your message is saved; try again.",
)
MOST_LABELS = 20
LABEL_CHARS = 80


@dataclass(frozen=True, kw_only=True, slots=True)
class Opinion:
    """What a check says of a text. ``labels`` name what it saw, without words of the text; none: nothing. ``refuses`` is
    whether it wants the text refused rather than marked, as far as it makes a difference; ``words`` are for the person."""

    labels: tuple[str, ...] = ()
    refuses: bool = True
    words: str = ""

    @property
    def has_seen_something(self) -> bool:
        return bool(self.labels)


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What one check decided. ``problem`` is why it failed."""

    moderator: str
    result: Result
    labels: tuple[str, ...] = ()
    words: str = ""
    problem: str = ""
    must_stop: bool = False
    milliseconds: int = 0

    @property
    def stops(self) -> bool:
        """Whether the text goes no further."""
        return self.result is Result.REFUSED or self.must_stop


def verdict_of(moderator: Moderator, stage: Stage, opinion: Opinion, *, milliseconds: int) -> Verdict:
    """A check refuses only where its row lets it."""
    if not opinion.has_seen_something:
        return Verdict(moderator=moderator.name, result=Result.ALLOWED, milliseconds=milliseconds)
    refuses = opinion.refuses and moderator.action == Moderator.Action.REFUSE
    return Verdict(
        moderator=moderator.name,
        result=Result.REFUSED if refuses else Result.MARKED,
        labels=tuple(label[:LABEL_CHARS] for label in opinion.labels[:MOST_LABELS]),
        words=(opinion.words or moderator.words or REFUSED_WORDS[stage]) if refuses else "",
        milliseconds=milliseconds,
    )


def failed_verdict(moderator: Moderator, problem: str, *, milliseconds: int) -> Verdict:
    """Of a check that could not be made: its row says whether the text goes on without it."""
    must_stop = moderator.when_failing == Moderator.Failing.CLOSED
    return Verdict(
        moderator=moderator.name,
        result=Result.FAILED,
        problem=problem[:200],
        words=UNAVAILABLE if must_stop else "",
        must_stop=must_stop,
        milliseconds=milliseconds,
    )


def holds_back(moderators: Sequence[Moderator]) -> bool:
    """Whether a reply is shown only once it has been checked: what was shown can't be taken back."""
    return any(
        moderator.examines_replies
        and (moderator.action == Moderator.Action.REFUSE or moderator.when_failing == Moderator.Failing.CLOSED)
        for moderator in moderators
    )
