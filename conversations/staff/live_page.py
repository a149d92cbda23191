"""The page on which staff watch a reply: which one, and what the model was given for it so far."""

from collections.abc import Sequence
from dataclasses import dataclass

from conversations.models import ContextSnapshot, Reply, Thread
from conversations.staff.snapshot.bar import Segment, budget_x, segments
from conversations.staff.snapshot.evidence import evidence_of
from conversations.staff.snapshot.verdict import verdict


@dataclass(frozen=True, kw_only=True)
class RequestSummary:
    """What one model request was given, without a word of it."""

    request: ContextSnapshot
    verdict: str
    segments: Sequence[Segment]
    budget_x: float | None


@dataclass(frozen=True, kw_only=True)
class LivePage:
    """The reply that runs, else the newest, and its newest request."""

    reply: Reply | None
    given: RequestSummary | None

    @property
    def runs(self) -> bool:
        return self.reply is not None and self.reply.status == Reply.Status.RUNNING


def live_page(thread: Thread) -> LivePage:
    replies = Reply.objects.filter(thread=thread)
    reply = replies.filter(status=Reply.Status.RUNNING).first() or replies.order_by("-id").first()
    if reply is None:
        return LivePage(reply=None, given=None)
    request = ContextSnapshot.objects.filter(reply=reply).order_by("-id").first()
    return LivePage(reply=reply, given=summarize_request(request) if request else None)


def summarize_request(request: ContextSnapshot) -> RequestSummary:
    sections = evidence_of(request, shown=False).body["sections"]
    return RequestSummary(
        request=request,
        verdict=verdict(request),
        segments=segments(request, sections),
        budget_x=budget_x(request),
    )
