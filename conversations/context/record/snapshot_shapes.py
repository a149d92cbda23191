"""The shape of a model request as REST answers with it; ``snapshot_api`` makes it."""

from datetime import datetime
from typing import Annotated, Any, NotRequired, TypedDict

from conversations.context.query.rewriting import RewritingOutcome
from conversations.context.reasons import Reason
from conversations.context.rules.prompt_cache import LIVES, MESSAGE, SYSTEM, CacheState
from conversations.context.source_problems import ProblemKind
from conversations.context.sources import all_sources
from conversations.context.turns.sources import WebSourceAnswer
from conversations.models import ContextSnapshot, Effort, ModerationFinding, Stage
from conversations.providers.thinking import Display, Mode
from conversations.runtime.shapes import Id


class QuotedTurnAnswer(TypedDict):
    """Where the whole of a turn stands that a line quotes, maybe by its passages only."""

    line: Annotated[int, "The line of the section's text, from 1."]
    thread: Annotated[Id, "The turn's thread."]
    position: Annotated[int, "The turn's place in its thread, from 1."]


class SectionAnswer(TypedDict):
    name: Annotated[
        str,
        "`base`, `instructions`, `memory`, `today`, `open_threads` or `last_conversation` of the system text; `history`; "
        "`files`; `message`.",
    ]
    tokens: Annotated[int, "Estimated tokens."]
    text: Annotated[str | None, "Null once deleted or forgotten."]
    forgotten_at: Annotated[datetime | None, "When something in it was forgotten at the person's wish."]
    quotes: NotRequired[
        Annotated[list[QuotedTurnAnswer], "Of `message`, where it quotes earlier turns that still stand there."]
    ]
    sources: NotRequired[
        Annotated[list[WebSourceAnswer], "Of `history` and `reply`, where tools brought pages of the web: which ones."]
    ]


def item_kinds() -> tuple[str, ...]:
    """Turns, ranges of turns, and what the sources hold."""
    return tuple(dict.fromkeys(["message", "range", *(kind.code for source in all_sources() for kind in source.kinds)]))


def fate_kinds() -> tuple[str, ...]:
    """Kinds of items, turns of other threads apart, and what there is of files."""
    kinds = [kind for kind in item_kinds() if kind != "range"]
    return (*kinds, "message_elsewhere", "file", "part", "picture", "content")


class PassageAnswer(TypedDict):
    """A part of a long turn, with a fate of its own."""

    start: Annotated[int, "The first character of the turn's text, from 0."]
    end: Annotated[int, "The character after the last."]
    included: Annotated[bool, "Whether the model was given it."]
    reason: Annotated[str, Reason, "Why it is included or not."]
    tokens: Annotated[int, "Estimated tokens."]


class ItemAnswer(TypedDict):
    """A turn, or a memory, topic, summary or artifact, that was given or might have been; or a range of turns long
    before the window."""

    kind: Annotated[str, item_kinds, "What it is."]
    included: Annotated[bool, "Whether the model was given it."]
    reason: Annotated[str, Reason, "Why it is included or not."]
    id: NotRequired[Annotated[Id | None, "Not of ranges; null of a turn to come."]]
    tokens: NotRequired[Annotated[int, "Estimated tokens; not of ranges."]]
    exact: NotRequired[
        Annotated[
            bool, "Of turns whose tokens are no estimate: the model's provider had counted them. Else it is missing."
        ]
    ]
    position: NotRequired[Annotated[int, "Of turns: the place in the thread, from 1."]]
    thread: NotRequired[Annotated[Id, "Of recalled turns: where they were said, maybe elsewhere."]]
    score: NotRequired[
        Annotated[float, "Of what was looked for: how much it bears on this message, beside the others."]
    ]
    passages: NotRequired[
        Annotated[
            list[PassageAnswer],
            "Of recalled turns that are long: the passages that bear on this message, in their order. Empty: the whole turn.",
        ]
    ]
    replaced_by: NotRequired[
        Annotated[Id, "Of recalled turns: the note that holds instead of what was noted from it. The request says so."]
    ]
    first: NotRequired[Annotated[int, "Of ranges: the position of the first turn."]]
    last: NotRequired[Annotated[int, "Of ranges: the position of the last turn."]]
    count: NotRequired[Annotated[int, "Of ranges: how many turns."]]


class FileGivenAnswer(TypedDict):
    """Parts of a file that stood in a turn."""

    position: Annotated[int, "The turn's place in the thread, from 1."]
    parts: Annotated[str, "Numbers of the parts, such as `1-3, 7`; empty: none, only that there is the file."]
    whole: Annotated[bool, "Whether it was the whole file: all of its parts, and nothing is `unread`."]
    outlined: Annotated[bool, "Whether a list of all parts stood with them."]
    tokens: Annotated[int, "Estimated tokens."]


class FileReadAnswer(TypedDict):
    """Parts of a file that the reply had read by then, with a tool."""

    parts: Annotated[str, "Numbers of the parts, such as `1-3, 7`."]
    tokens: Annotated[int, "Estimated tokens."]


class FileCitedAnswer(TypedDict):
    """Where the reply's text cites a part of a file."""

    text: Annotated[str, "The mark as it stands in the text."]
    part: Annotated[int | None, "Number of the part; null: there is none such."]
    given: Annotated[bool, "Whether the model was given it in a request of the reply."]
    warning: Annotated[str | None, "What is wrong with it, for people; else null."]


class UnreadAnswer(TypedDict):
    """Things that a file holds and none of its parts does, all of a kind together."""

    what: Annotated[str, "A noun for one of them, such as `chart` or `hidden paragraph`; `rest`: all that follows."]
    why: Annotated[
        str,
        ("hidden", "damaged", "not_read", "broken_off"),
        "`hidden`: nobody sees them who opens the file; `not_read`: of a kind that is not read; `broken_off`: the reading "
        "ended before.",
    ]
    count: Annotated[int, "How many."]
    places: Annotated[list[str], "The pages, slides or sheets of the first of them, where the file has such."]
    text: Annotated[str, "The same in a sentence."]


class FileLeftOutAnswer(TypedDict):
    """Parts of a file that the request did not hold."""

    parts: Annotated[str, "Numbers of the parts, such as `1-3, 7`."]
    reason: Annotated[str, Reason, "Why they were left out."]


class FileInRequestAnswer(TypedDict):
    """Every part of a file of the thread once: given in a turn, read by a tool or left out."""

    id: Annotated[Id, "Id of the file."]
    name: Annotated[str | None, "As the person called it; null once it is deleted."]
    parts: Annotated[int, "How many parts it had."]
    given: Annotated[list[FileGivenAnswer], "By the turns that they stood in."]
    read: Annotated[list[FileReadAnswer], "What the reply had read of it before this request, with a tool."]
    left_out: Annotated[list[FileLeftOutAnswer], "By reason."]
    unread: Annotated[list[UnreadAnswer], "What it holds and no part does; empty once it is deleted."]
    without_pictures: Annotated[str, "Numbers of the parts that were given or read without their pictures."]
    cited: Annotated[list[FileCitedAnswer], "Where the text of the reply cites it, once that has ended."]


class FateAnswer(TypedDict):
    """How many items of a kind share a fate, or which parts of a file."""

    kind: Annotated[str, fate_kinds, "What they are: `message` is a turn of the thread."]
    source: Annotated[str, "The source that they come from; empty: turns and files of the thread."]
    included: Annotated[bool, "Whether the model was given them."]
    reason: Annotated[str, Reason, "Why."]
    count: Annotated[int, "How many."]
    file: Annotated[Id | None, "Of parts, pictures and content that is in no part: whose."]
    parts: Annotated[str, "Of parts and pictures: numbers of the parts, such as `1-3, 7`; else empty."]
    what: Annotated[str, "The same in words, such as `2 turns` or `lease.pdf, pages 3–16`."]
    why: Annotated[str, "The reason in words."]


class RewritingAnswer(TypedDict):
    """The contextualised query of a message that leans on earlier turns."""

    outcome: Annotated[str, RewritingOutcome, "What became of asking for one."]
    query: Annotated[
        str | None, "As it stands beside the message, with the mark that says whose it is; null: there is none."
    ]


class ProblemAnswer(TypedDict):
    """A source that failed, and was left out."""

    source: Annotated[
        str,
        "`preferences`, `memory`, `today`, `open_threads`, `last_conversation` or `recall`; `size` where the request was "
        "too large for the model and was built once more.",
    ]
    kind: Annotated[str, ProblemKind, "What went wrong with it."]
    message: Annotated[str, "In words."]


class CacheAnswer(TypedDict):
    """What is expected of the provider's prompt cache."""

    state: Annotated[str, CacheState, "What is expected of it, in a word."]
    marks: Annotated[list[Annotated[str, (SYSTEM, MESSAGE)]], "What a mark stands after, as far as one pays."]
    expected: Annotated[int, "Tokens that should be read from it."]
    lifetime: Annotated[
        str, tuple(LIVES), "How long its entries live: what costs less with the person's latest pauses."
    ]
    cost_five_minutes: Annotated[
        float | None,
        "What the prompts after these pauses cost with entries of five minutes, as a part of the price without a cache; "
        "null where there are too few pauses.",
    ]
    cost_hour: Annotated[float | None, "The same with entries of an hour."]


class TimingsAnswer(TypedDict):
    """Milliseconds that building the context took, step by step."""

    limits: Annotated[float, "Milliseconds for what the model may be given."]
    history: Annotated[float, "Milliseconds for reading the turns and what is known."]
    fixed: Annotated[float, "Milliseconds for what staff and the caller wrote."]
    memory: Annotated[float, "Milliseconds for the tiers of memory."]
    warmth: Annotated[float, "Milliseconds for whether the prompt cache holds the request before."]
    exclusion: Annotated[float, "Milliseconds for the turns that no model is given."]
    window: Annotated[float, "Milliseconds for cutting the window."]
    rewrite: Annotated[float, "Milliseconds for the contextualised query."]
    beside: Annotated[float, "Milliseconds for what stands beside the message, recall among it."]
    files: Annotated[float, "Milliseconds for choosing parts of the thread's files."]
    file_texts: Annotated[float, "Milliseconds for reading these parts."]
    rounds: Annotated[float, "Milliseconds for what the reply did before."]
    tokens: Annotated[float, "Milliseconds for fitting all of it into the budget."]
    cache: Annotated[float, "Milliseconds for the marks of the prompt cache."]
    render: Annotated[float, "Milliseconds for writing the request."]
    record: Annotated[float, "Milliseconds for the account of it."]
    total: Annotated[float, "Milliseconds from the start to the end of building."]


class UsageAnswer(TypedDict):
    """Tokens as the provider reports them; all `null` where it has reported nothing. What limits and costs count then is
    estimated."""

    input_tokens: Annotated[int | None, "Neither read from the prompt cache nor written to it."]
    output_tokens: Annotated[int | None, "Tokens that the model wrote."]
    cache_read_input_tokens: Annotated[int | None, "Tokens read from the prompt cache."]
    cache_creation_input_tokens: Annotated[int | None, "Tokens written to the prompt cache."]
    cache_creation_1h_input_tokens: Annotated[int | None, "Of these, tokens that stay there for an hour."]
    thinking_tokens: Annotated[int | None, "Of the tokens that the model wrote, its thinking."]
    estimated_input_tokens: Annotated[int | None, "Where nothing was reported: of all that the model was given."]
    estimated_output_tokens: Annotated[int | None, "Where nothing was reported: of what it wrote."]


class ThinkingAnswer(TypedDict):
    """What a request says of thinking, which counts as output."""

    mode: Annotated[Mode, "The Messages API's word. Empty: nothing is said, and the model does not think."]
    display: Annotated[Display, "What it shows of it: `summarized`, or `omitted`. Empty: nothing is said of it."]
    effort: Annotated[str, ("", *Effort.values), "Empty: the model's default."]
    room: Annotated[int, "Tokens of `max_tokens` that are meant for thinking, not for the answer."]


class DuplicatesAnswer(TypedDict):
    rules: Annotated[bool, "The system text says when to make an artifact."]
    tool_wording: Annotated[bool, "Tools were offered, with their wording."]
    filtered_turns: Annotated[int, "Turns left out because their artifact was made."]
    silent: Annotated[bool, "A preset's request, which enters no thread."]


class SwitchAnswer(TypedDict):
    """That the request before in the thread went to another model, and what followed from it."""

    request: Annotated[Id, "The request before."]
    provider: Annotated[str, "Who was asked then."]
    model: Annotated[str, "The model that was asked then."]
    text: Annotated[str, "In words, with what follows from it."]
    effects: Annotated[list[str], "What follows from it, a sentence each: sizes, turns, tools, memory, prompt cache."]


class BudgetOriginAnswer(TypedDict):
    """Where the budget comes from, in tokens of the model."""

    share: Annotated[int | None, "Percent of the model's window that the hard cap is; null: staff set it in tokens."]
    context_window: Annotated[int, "Tokens that a request to the model and its answer may have together."]
    wanted: Annotated[int, "The hard cap before the window cut it."]
    is_cut: Annotated[bool, "Whether the window is too small for that beside the answer."]
    text: Annotated[str, "In words, such as `12 % of 200,000 = 24,000 tokens`."]


class NamedProject(TypedDict):
    id: Annotated[Id, "Id of the project."]
    name: Annotated[str, "As it is called now."]


class MemoryScopeAnswer(TypedDict):
    """Whose memory was open to it."""

    project: Annotated[NamedProject | None, "The one that its thread was in; null: in none."]
    outside: Annotated[bool, "Whether it was given what is remembered outside of projects."]
    shared: Annotated[list[NamedProject], "Other projects whose memory was open to it, as they share it."]
    closed: Annotated[int, "Projects of whose memory it was given nothing."]
    text: Annotated[str, "The same for people, in a sentence."]


class ModerationAnswer(TypedDict):
    """What one check of this server made of the message, or of what a model wrote in this reply."""

    moderator: Annotated[str, "What staff call it."]
    stage: Annotated[str, Stage, "Of the message or of what files say, before a model is given it, or of the reply."]
    result: Annotated[str, ModerationFinding.Result, "`failed`: the check could not be made."]
    labels: Annotated[list[str], "Lines of patterns, or categories; nothing of the text."]
    at: Annotated[datetime, "When it was made."]


class SnapshotAnswer(TypedDict):
    """What one model request was given, what was left out and why."""

    id: Annotated[Id | None, "Null: a preview, nothing is stored."]
    thread: Annotated[Id | None, "Id of the thread; null: a preview for a new one."]
    message: Annotated[Id | None, "The turn to answer."]
    reply: Annotated[Id | None, "Null: a preview, or of no reply."]
    purpose: Annotated[
        str,
        ContextSnapshot.Purpose,
        "`rewrite` asks a small model for the contextualised query only, `consolidation` for what to remember.",
    ]
    round: Annotated[int, "Which request of the reply, or which attempt, from 1."]
    created_at: Annotated[datetime, "When it was recorded, before the model was called."]
    provider: Annotated[
        str, "`anthropic`, `bedrock`, `vertex`, `openai`, `local`, `claude_cli`, `offline`, or a connection's name."
    ]
    model: Annotated[str, "The provider's name of the model."]
    fallback_for: Annotated[str | None, "The model that did not answer, where this one was asked in its place."]
    fallback_cause: Annotated[
        str | None, "The code of why it did not: `refused`, `unreachable`, `overloaded` and others."
    ]
    fallback_text: Annotated[str | None, "Why, after its name: `could not be reached`."]
    switch: Annotated[SwitchAnswer | None, "Null where the same model answered before, or none."]
    max_tokens: Annotated[int, "Most tokens of its answer and of thinking together."]
    thinking: Annotated[ThinkingAnswer, "How it thinks."]
    digest: Annotated[str, "SHA-256 of the request as canonical JSON."]
    message_history_count: Annotated[int, "Earlier turns that it was given."]
    message_history_tokens: Annotated[int, "Estimated tokens of these."]
    today_summary_present: Annotated[bool, "Whether it was given what was said earlier that day."]
    open_threads_count: Annotated[int, "Unresolved topics that it was given."]
    last_conversation_present: Annotated[bool, "Whether it was given the summary of the last conversation."]
    total_tokens: Annotated[
        int, "Tokens of everything, estimated before the model is asked, in the model's own count, as all here."
    ]
    token_factor: Annotated[
        float, "The model's tokens for each that the estimate counts: learnt from what it reported, or as shipped."
    ]
    budget: Annotated[int, "Tokens of the model that it should take."]
    hard_cap: Annotated[int, "Tokens of the model that it never exceeds."]
    budget_origin: Annotated[BudgetOriginAnswer | None, "Null of what was recorded before there was this."]
    version: Annotated[
        int | None, "The version of the assistant that replied; null of what was recorded before there was this."
    ]
    rules: Annotated[int | None, "The number of the rules of the code that chose; null before there was this."]
    sections: Annotated[list[SectionAnswer], "Its parts, in the order sent."]
    items: Annotated[list[ItemAnswer], "Each turn, memory, topic and summary exactly once."]
    window_begins: Annotated[
        Id | None, "The first turn of the thread that it was given, where older ones no longer fit; else null."
    ]
    fates: Annotated[list[FateAnswer], "Items and files counted by their fate: what the book shows."]
    files: Annotated[list[FileInRequestAnswer], "What it was given of the thread's files."]
    rewriting: Annotated[RewritingAnswer, "What became of the message's contextualised query."]
    memory: Annotated[MemoryScopeAnswer | None, "Whose memory was open to it; null where the person had no projects."]
    against_duplicates: Annotated[DuplicatesAnswer, "What kept artifacts from being made twice."]
    moderation: Annotated[list[ModerationAnswer], "Of its reply, in order; empty where nothing is checked."]
    problems: Annotated[list[ProblemAnswer], "Sources that failed; the reply goes on without them."]
    cache: Annotated[CacheAnswer | None, "Null where there is nothing to tell."]
    diagnostics: Annotated[
        dict[str, Any] | None, "What the provider says about its prompt cache, and its program about itself."
    ]
    request: Annotated[
        dict[str, Any] | None,
        "Exactly what the provider is given, in its shape; null once any of it was deleted or forgotten.",
    ]
    forgotten_at: Annotated[datetime | None, "When any of it was last forgotten at the person's wish."]
    timings_ms: Annotated[TimingsAnswer, "Milliseconds."]
    thinking_ms: Annotated[
        int | None, "Milliseconds that the model thought; null where it didn't, or where nothing came of it yet."
    ]
    first_token_ms: Annotated[int | None, "Milliseconds until the first word, or tool call, that could be seen."]
    usage: Annotated[UsageAnswer, "Tokens as reported."]
    stop_reason: Annotated[str, "The provider's; empty until it ends."]
    stop_details: Annotated[
        dict[str, Any] | None, "What the provider says about why it declined, as it came: type, category, explanation."
    ]
    status: Annotated[str, ContextSnapshot.Status, "How it went."]
    error: Annotated[dict[str, Any] | None, "The error object of a request that failed; else null."]
