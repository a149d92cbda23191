"""What became of every turn of a thread in a request: each position once (S3). Pure."""

from collections.abc import Collection, Iterator, Sequence

from conversations.context.reasons import OFF_PATH, Reason
from conversations.context.tokens.factor import PLAIN, Factor
from conversations.context.turns.turn import Turn
from conversations.runtime.values import dataclass

NOT_SENT = frozenset(
    {
        *(Reason.FULFILLED_ARTIFACT, Reason.REFUSED, Reason.FAILED, Reason.OFFLINE),
        *(Reason.ORPHAN_TOOL, Reason.RECALLED),
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnRun:
    """Neighbouring turns that share their fate: positions ``first`` to ``last``, both included.

    ``sha256`` names the block that stands in for a shortened turn.
    """

    first: int
    last: int
    count: int
    included: bool
    reason: Reason
    tokens: int = 0
    sha256: str = ""

    @property
    def is_mixed(self) -> bool:
        """Whether turns of other paths lie between those that it counts."""
        return self.reason not in OFF_PATH and self.count < self.last - self.first + 1


def account(
    history: Sequence[Turn],
    newest: Turn | None,
    left_out: Reason,
    digests: dict[int, str],
    *,
    excluded: Collection[tuple[Turn, Reason]] = (),
    begins_after: int = 0,
    factor: Factor = PLAIN,
) -> list[TurnRun]:
    """Every position of the thread up to the newest message exactly once (S3). A preset's request has no such message.

    What is ``excluded`` was taken out before the window was cut, or stands beside the message and not in its place, as what was
    recalled: its run is of no turn that is sent. What lies before the oldest candidate is one run, however long the thread is.
    A position missing before an answer on the path belongs to an attempt that a retry replaced, one before a message of the
    person to another branch. ``digests``: position to SHA-256
    of a shortened turn's stand-in. Of a thread that was cleared nothing is told up to the position ``begins_after``: there are
    no such turns. ``factor``: the tokens of a run are the model's.
    """
    named = [
        *excluded,
        *[(turn, Reason.SHORTENED if turn.position in digests else Reason.RECENT) for turn in history],
        *(((newest, Reason.SHORTENED if newest.position in digests else Reason.NEWEST),) if newest else ()),
    ]
    if excluded:
        named.sort(key=lambda turn_and_reason: turn_and_reason[0].position)
    return list(_runs(named, left_out, digests, begins_after, factor))


def _runs(
    named: Sequence[tuple[Turn, Reason]], left_out: Reason, digests: dict[int, str], position: int, factor: Factor
) -> Iterator[TurnRun]:
    depth = 0
    for turns, reason in _neighbours(named):
        first, last = turns[0], turns[-1]
        if between := first.position - position - 1:
            of_path = first.depth - depth - 1
            yield TurnRun(
                first=position + 1,
                last=first.position - 1,
                count=of_path or between,
                included=False,
                reason=left_out if of_path else _beside_the_path(first),
            )
        included = reason not in NOT_SENT
        yield TurnRun(
            first=first.position,
            last=last.position,
            count=len(turns),
            included=included,
            reason=reason,
            tokens=factor.of_estimate(sum([turn.token_count for turn in turns])) if included else 0,
            sha256=digests.get(first.position, "") if reason is Reason.SHORTENED else "",
        )
        position, depth = last.position, last.depth


def _beside_the_path(following: Turn) -> Reason:
    return Reason.SUPERSEDED if following.role == "assistant" else Reason.OTHER_BRANCH


def _neighbours(named: Sequence[tuple[Turn, Reason]]) -> Iterator[tuple[list[Turn], Reason]]:
    """Turns that follow one another and share a reason. A shortened one stands alone: its run names its stand-in."""
    group: list[Turn] = []
    common, following = Reason.NEWEST, 0
    for turn, reason in named:
        if turn.position == following and reason is common and reason is not Reason.SHORTENED:
            group.append(turn)
        else:
            if group:
                yield group, common
            group, common = [turn], reason
        following = turn.position + 1
    if group:
        yield group, common
