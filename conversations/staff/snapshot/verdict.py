"""What a model request was given and what not, in one line."""

from typing import Any

from django.utils.translation import gettext, gettext_noop

from conversations.context.query.rewriting import RewritingOutcome
from conversations.context.record.snapshots import left_out
from conversations.context.source_problems import ProblemKind
from conversations.models import ContextSnapshot
from conversations.runtime.wording import filled, number
from conversations.staff import display

FAILURES = {
    ProblemKind.ERROR: gettext_noop("failed"),
    ProblemKind.TIMED_OUT: gettext_noop("timed out"),
    ProblemKind.GARBAGE: gettext_noop("could not be used"),
    ProblemKind.TOO_LARGE: gettext_noop("was too large, so built once more and smaller"),
}
FAILED_QUERIES: dict[str, str] = {
    RewritingOutcome.FAILED: gettext_noop("failed"),
    RewritingOutcome.TIMED_OUT: gettext_noop("timed out"),
    RewritingOutcome.BY_RULES: gettext_noop("failed with the model, made by rules"),
}

ASKED_FOR: dict[str, str] = {
    ContextSnapshot.Purpose.CONSOLIDATION: gettext_noop("what to note of a conversation"),
    ContextSnapshot.Purpose.TITLE: gettext_noop("a title"),
    ContextSnapshot.Purpose.JUDGE: gettext_noop("a verdict on an answer in an experiment"),
}


def verdict(snapshot: ContextSnapshot) -> str:
    what = gettext(ASKED_FOR.get(snapshot.purpose, gettext_noop("a contextualised query")))
    noun = "turn" if snapshot.purpose in ASKED_FOR else "earlier turn"
    turns = display.with_noun(snapshot.message_history_count, noun)
    counts = left_out(snapshot)
    why = ", ".join(f"{number(count)} {gettext(reason.replace('_', ' '))}" for reason, count in counts.most_common())
    missing = filled("{total} left out: {why}", total=counts.total(), why=why) if counts else gettext("none left out")
    if snapshot.quotes_turns:
        sentence = filled(
            "{model} asked for {what}, given {turns}, {missing}",
            model=snapshot.model,
            what=what,
            turns=turns,
            missing=missing,
        )
        return "; ".join([sentence, display.with_noun(snapshot.total_tokens, "token"), *failures(snapshot)])
    size = filled("{number} of {budget} tokens", number=snapshot.total_tokens, budget=snapshot.budget)
    if snapshot.token_factor != 1:
        size += filled(
            " as the model counts ({token_factor} × the estimate)", token_factor=f"{snapshot.token_factor:.2f}"
        )
    return "; ".join([filled("{turns} sent, {missing}", turns=turns, missing=missing), size, *failures(snapshot)])


def failures(snapshot: ContextSnapshot) -> list[str]:
    """What the request had to do without, or what became of a query that failed: a few words each."""
    if snapshot.quotes_turns:
        return [display.error_code(snapshot.error)] if snapshot.error else []
    failed = [f"{source_label(problem)} {gettext(FAILURES[problem['kind']])}" for problem in snapshot.problems or []]
    if snapshot.rewriting in FAILED_QUERIES:
        failed.append(f"{gettext('contextualised query')} {gettext(FAILED_QUERIES[snapshot.rewriting])}")
    return failed


def source_label(problem: dict[str, Any]) -> str:
    return gettext(str(problem["source"]).replace("_", " "))
