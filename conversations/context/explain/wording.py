"""What the person reads of a request: reasons, sections and problems in words, for the page's script."""

from typing import TypedDict

from conversations.context.explain.section_names import section_names
from conversations.context.gather.known import PREFERENCES
from conversations.context.query.rewriting import RewritingOutcome
from conversations.context.reasons import PERSONAL, PERSONAL_OF_KIND
from conversations.context.sources import all_sources

QUERY_FAILURES = {
    RewritingOutcome.FAILED: "Nobody could be asked what your message refers to. It was sent just as you wrote it.",
    RewritingOutcome.TIMED_OUT: (
        "Finding out what your message refers to took too long. It was sent just as you wrote it."
    ),
    RewritingOutcome.BY_RULES: "No model could say what your message refers to. It was found by simple rules.",
}


class Wording(TypedDict):
    """By code; ``reasons_of`` by kind of item first, where a reason says something else of it."""

    reasons: dict[str, str]
    reasons_of: dict[str, dict[str, str]]
    sections: dict[str, str]
    sources: dict[str, str]
    query_failures: dict[str, str]


def wording() -> Wording:
    sources = {PREFERENCES: "Your memory settings"}
    for source in all_sources():
        sources |= {source.name: source.personal_label, **source.named_in_problems}
    return {
        "reasons": {reason.value: words for reason, words in PERSONAL.items()},
        "reasons_of": {
            kind: {reason.value: words for reason, words in reasons.items()}
            for kind, reasons in PERSONAL_OF_KIND.items()
        },
        "sections": {section.name: section.personal_label for section in section_names().values()},
        "sources": sources,
        "query_failures": {outcome.value: words for outcome, words in QUERY_FAILURES.items()},
    }
