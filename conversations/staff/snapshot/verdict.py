"""What a model request was given and what not, in one line."""

from typing import Any

from conversations.context.query.rewriting import RewritingOutcome
from conversations.context.record.snapshots import left_out
from conversations.context.source_problems import ProblemKind
from conversations.models import ContextSnapshot
from conversations.staff import display

FAILURES = {
    ProblemKind.ERROR: "failed",
    ProblemKind.TIMED_OUT: "timed out",
    ProblemKind.GARBAGE: "could not be used",
    ProblemKind.TOO_LARGE: "was too large, so built once more and smaller",
}
FAILED_QUERIES: dict[str, str] = {
    RewritingOutcome.FAILED: "failed",
    RewritingOutcome.TIMED_OUT: "timed out",
    RewritingOutcome.BY_RULES: "failed with the model, made by rules",
}

ASKED_FOR: dict[str, str] = {
    ContextSnapshot.Purpose.CONSOLIDATION: "what to note of a conversation",
    ContextSnapshot.Purpose.TITLE: "a title",
}


def verdict(snapshot: ContextSnapshot) -> str:
    what = ASKED_FOR.get(snapshot.purpose, "a contextualised query")
    noun = "turn" if snapshot.purpose in ASKED_FOR else "earlier turn"
    turns = display.with_noun(snapshot.message_history_count, noun)
    counts = left_out(snapshot)
    why = ", ".join(f"{count:,} {reason.replace('_', ' ')}" for reason, count in counts.most_common())
    missing = f"{counts.total():,} left out: {why}" if counts else "none left out"
    if snapshot.quotes_turns:
        sentence = f"{snapshot.model} asked for {what}, given {turns}, {missing}"
        return "; ".join([sentence, display.with_noun(snapshot.total_tokens, "token"), *failures(snapshot)])
    size = f"{snapshot.total_tokens:,} of {snapshot.budget:,} tokens"
    if snapshot.token_factor != 1:
        size += f" as the model counts ({snapshot.token_factor:.2f} × the estimate)"
    return "; ".join([f"{turns} sent, {missing}", size, *failures(snapshot)])


def failures(snapshot: ContextSnapshot) -> list[str]:
    """What the request had to do without, or what became of a query that failed: a few words each."""
    if snapshot.quotes_turns:
        return [display.error_code(snapshot.error)] if snapshot.error else []
    failed = [f"{source_label(problem)} {FAILURES[problem['kind']]}" for problem in snapshot.problems or []]
    if snapshot.rewriting in FAILED_QUERIES:
        failed.append(f"contextualised query {FAILED_QUERIES[snapshot.rewriting]}")
    return failed


def source_label(problem: dict[str, Any]) -> str:
    return str(problem["source"]).replace("_", " ")
