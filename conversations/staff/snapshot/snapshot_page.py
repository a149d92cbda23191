"""What the page of one model request shows: the answer first, the evidence below, the raw request last."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.safestring import SafeString
from django.utils.translation import gettext

from artifacts.staff.repeat_layers import Layer, layers
from conversations.context.explain.model_switch import ModelSwitch, switch_before
from conversations.context.record import snapshots
from conversations.context.tokens.thinking import in_words
from conversations.models import ContextSnapshot
from conversations.staff import display
from conversations.staff.snapshot import response
from conversations.staff.snapshot.bar import Segment, budget_x, segments
from conversations.staff.snapshot.candidates import CandidateRow, Tally, known_rows, tallied
from conversations.staff.snapshot.evidence import Relatives, evidence_of, is_turn_of_thread, relatives_of
from conversations.staff.snapshot.exact import Exact, exact
from conversations.staff.snapshot.files import RequestFile, other_files, request_files
from conversations.staff.snapshot.included import IncludedParts, included
from conversations.staff.snapshot.missing import Cause, LeftOut, causes, left_out_rows
from conversations.staff.snapshot.response import AnswerTurn, CheckRow, Refusal, TokenFigure
from conversations.staff.snapshot.rewritten import ContextualQuery, contextual_query
from conversations.staff.snapshot.timing import TimingStep, waterfall
from conversations.staff.snapshot.verdict import failures, source_label, verdict

__all__ = ["SnapshotPage", "failures", "snapshot_page", "verdict"]


@dataclass(frozen=True, kw_only=True)
class ProblemRow:
    """A source that failed, and was left out."""

    source: str
    kind: str
    message: str


@dataclass(frozen=True, kw_only=True)
class SnapshotPage:
    """``exact`` is ``None`` where the request can't be rebuilt any more, or may not be shown."""

    verdict: str
    switch: ModelSwitch | None
    proven: bool
    forgotten_at: datetime | None
    digest: SafeString
    segments: Sequence[Segment]
    budget_x: float | None
    budget_origin: str
    sent: IncludedParts
    causes: Sequence[Cause]
    left_out: Sequence[LeftOut]
    known: Sequence[CandidateRow]
    known_tally: Sequence[Tally]
    layers: Sequence[Layer]
    files: Sequence[RequestFile]
    other_files: str
    rewritten: ContextualQuery
    problems: Sequence[ProblemRow]
    can_be_rebuilt: bool
    exact: Exact | None
    answer: AnswerTurn | None
    thinking: str
    effort: str
    room: int
    stop_reason: str
    refusal: Refusal | None
    moderation: Sequence[CheckRow]
    figures: Sequence[TokenFigure]
    cost: str
    factor: str
    cache: str
    cache_hit: str
    diagnosis: str
    diagnostics: str
    timings: Sequence[TimingStep]
    error: str
    relatives: Relatives

    @property
    def cites(self) -> bool:
        return any(file.citations for file in self.files)


def snapshot_page(snapshot: ContextSnapshot, *, shown: bool) -> SnapshotPage:
    """Without ``shown``, no text of it: neither what was sent nor what was answered."""
    evidence, relatives = evidence_of(snapshot, shown=shown), relatives_of(snapshot)
    body, plan = evidence.body, snapshots.thinking_of(snapshot)
    others = [item for item in evidence.items if not is_turn_of_thread(item)]
    known = known_rows(others, snapshot.thread.assistant, shown=shown)
    return SnapshotPage(
        verdict=verdict(snapshot),
        switch=switch_before(snapshot),
        proven=evidence.proven,
        forgotten_at=body["forgotten_at"],
        digest=display.digest(bytes(snapshot.digest), shown=shown),
        segments=segments(snapshot, body["sections"]),
        budget_x=budget_x(snapshot),
        budget_origin=origin.words if (origin := snapshots.origin_of(snapshot)) else "",
        sent=included(evidence),
        causes=causes(evidence),
        left_out=left_out_rows(evidence),
        known=known,
        known_tally=tallied(body["fates"], snapshot.thread.assistant),
        layers=layers(evidence),
        files=request_files(body["files"], shown=shown),
        other_files=other_files(snapshot.files),
        rewritten=contextual_query(evidence, relatives),
        problems=[ProblemRow(**problem | {"source": source_label(problem)}) for problem in body["problems"]],
        can_be_rebuilt=evidence.can_be_rebuilt,
        exact=exact(evidence.request) if evidence.request else None,
        answer=response.answer(evidence.answer),
        thinking=in_words(plan),
        effort=plan.effort or gettext("the model’s default"),
        room=plan.room,
        stop_reason=response.stop_reason(snapshot),
        refusal=response.refusal(snapshot, shown=shown),
        moderation=response.checks(body["moderation"]),
        figures=response.figures(snapshot),
        cost=response.cost(snapshot),
        factor=response.factor(snapshot),
        cache=response.expected_of_cache(snapshot),
        cache_hit=response.hit(snapshot),
        diagnosis=response.diagnosis(snapshot),
        diagnostics=display.pretty(snapshot.diagnostics) if snapshot.diagnostics and shown else "",
        timings=waterfall(snapshot),
        error=display.error_object(snapshot.error, shown=shown),
        relatives=relatives,
    )
