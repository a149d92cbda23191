from django.db import models


class Reason(models.TextChoices):
    """Why a turn, memory, topic or summary is in a context or not. The admin, the API and the snapshots share these codes."""

    NEWEST = "newest", "The message to answer"
    RECENT = "recent", "Recent enough for the window"
    SHORTENED = "shortened", "Shortened to fit the hard cap"
    OVER_BUDGET = "over_budget", "Older than what the token budget holds"
    TURN_LIMIT = "turn_limit", "Older than the largest number of turns"
    SUPERSEDED = "superseded", "Replaced by a later attempt"
    OTHER_BRANCH = "other_branch", "On another branch than the one that is answered"
    FULFILLED_ARTIFACT = "fulfilled_artifact", "Its artifact was made"
    ORPHAN_TOOL = "orphan_tool", "Nothing to send: half of a tool call, or of a kind that models don't take"
    REFUSED = "refused", "It was declined"
    FAILED = "failed", "Words of a reply that failed"
    OFFLINE = "offline", "Words of the offline responder"
    LIMIT = "limit", "More than the largest number of such items"
    REPEATED = "repeated", "Said elsewhere in the request in much the same words"
    INSTRUCTED = "instructed", "What the person wants of every answer"
    REMEMBERED = "remembered", "What is known of the person in this session"
    RECALLED = "recalled", "Recalled for this message"
    UNRELATED = "unrelated", "Does not bear on a message that it could have been given with"
    READ = "read", "Read by the model, with a tool"
    UNSEEN = "unseen", "A picture, and the model takes none"
    UNREAD = "unread", "A file of which nothing could be read by then"
    HIDDEN = "hidden", "In the file, and nobody sees it who opens that"
    DAMAGED = "damaged", "Damaged"
    NOT_READ = "not_read", "Of a kind that is not read"
    BROKEN_OFF = "broken_off", "The reading of the file ended before it"
    OFFERED = "offered", "A tool that the model may call"
    CHANGED = "changed", "Changed since it was allowed"
    LISTED = "listed", "Exists beside the thread"
    OUTSIDE_PART = "outside_part", "Not of the part of the thread that was read, or forgotten before"
    EXPIRED = "expired", "No longer true, or switched off"
    OTHER_PROJECT = "other_project", "Said in another project, whose memory is its own"
    TEMPORARY = "temporary", "Said in another thread, and this is a temporary chat"

    @property
    def item_label(self) -> str:
        """Of a row that is no turn, where it says something else."""
        return ITEM_LABELS.get(self, self.label)

    @property
    def rule(self) -> str:
        """The rule behind it, in a sentence."""
        return RULES[self]


OFF_PATH = frozenset({Reason.SUPERSEDED, Reason.OTHER_BRANCH})
"""Of turns that don't stand on the path that is answered."""

ITEM_LABELS: dict[Reason, str] = {
    Reason.REMEMBERED: "Known as the session began",
    Reason.OVER_BUDGET: "No room for it",
    Reason.SHORTENED: "Shortened to the room that it has",
}

RULES: dict[Reason, str] = {
    Reason.NEWEST: "The message to answer is always sent, last of all.",  # C1, W6
    Reason.RECENT: "The window holds the newest turns, in order, as many as its turns and tokens allow.",  # W1, W2
    Reason.SHORTENED: "A single turn that the hard cap can't hold is shortened with a visible mark.",  # W6
    Reason.OVER_BUDGET: (  # W2, W5
        "The history holds a number of tokens; when they are full it drops to its low mark in one step, "
        "oldest turns first."
    ),
    Reason.TURN_LIMIT: (  # W2, W5
        "The history holds a number of turns; when they are reached it drops to its low mark in one step, "
        "oldest turns first."
    ),
    Reason.SUPERSEDED: "Only the path that the chat shows is sent; what a retry replaced stays stored.",  # T3
    Reason.OTHER_BRANCH: (  # T3
        "Only the path that leads to the message is sent; what was said on a branch that was left stays stored."
    ),
    Reason.FULFILLED_ARTIFACT: (  # F2–F5
        "A request whose artifact was made is left out with its answer, so that it is not made again; they "
        "come back when the artifact is deleted."
    ),
    Reason.ORPHAN_TOOL: "A tool call and its result are sent together or not at all.",  # W4
    Reason.REFUSED: (  # P6
        "A message that a model declined to answer, or that moderation refused, is left out of what comes later, as it "
        "would be declined again."
    ),
    Reason.FAILED: "What a reply wrote before it failed is nobody's words and is not sent.",  # P6
    Reason.OFFLINE: (  # P6
        "What the offline responder wrote is no model's words: it is not sent to a model, nor remembered."
    ),
    Reason.LIMIT: "At most five open topics are given, those of the last seven days first.",  # C6
    Reason.REPEATED: (  # F11
        "What was said several times is recalled once, as it was said last, with how often; what another section of the "
        "request says is not said again."
    ),
    Reason.INSTRUCTED: "What the person wrote for all answers, a project or a thread stands before the history.",  # Q
    Reason.REMEMBERED: "What is known of the person stands before the history, the same all session long.",  # C3
    Reason.RECALLED: (  # C3, Q2
        "What bears on the message and is not in the window stands beside the message, as far as there is room."
    ),
    Reason.UNRELATED: (  # K
        "Of a file that is too large to go in whole, and of those of a project, a message brings the parts that bear on it."
    ),
    Reason.READ: "What the reply reads of a file stands in the result of its call.",  # K
    Reason.UNSEEN: "A model that takes no pictures is told in their place how large they are.",  # K
    Reason.UNREAD: "A file that can't be read, or not yet, is named in the turn that brought it, with the reason.",  # K
    Reason.HIDDEN: (  # K
        "Of what nobody sees who opens a file, a model is told that it is there, not what it says: it would be an easy "
        "way to slip it an instruction."
    ),
    Reason.DAMAGED: "What can't be read of a file is counted and named; it costs itself only.",  # K
    Reason.NOT_READ: "What a file holds beside texts, tables and pictures is counted and named.",  # K
    Reason.BROKEN_OFF: "A file is read as far as its limits of time, memory and length allow.",  # K
    Reason.OFFERED: (
        "Tools that were allowed are offered with their definitions, or, where these take too much, by their names."
    ),
    Reason.CHANGED: "A tool that is not as it was allowed is not offered until it is allowed again.",
    Reason.LISTED: "Artifacts are named beside the message, as what asked for them is left out.",  # F9
    Reason.OUTSIDE_PART: "A thread is summed up part by part.",  # C5, C7
    Reason.EXPIRED: "What has ended is given to no request.",  # C3
    Reason.OTHER_PROJECT: (  # Q
        "What is remembered in a project is used in it alone, and nothing of outside in it, unless its two switches say so. "
        "Its files are read in its own threads alone."
    ),
    Reason.TEMPORARY: "A temporary chat is given nothing that is remembered, unless its person switches that on.",  # Q
}
"""What staff and people read; behind each stand the numbers of docs/requirements.md."""

# What the person reads.
PERSONAL: dict[Reason, str] = {
    Reason.NEWEST: "the message to answer",
    Reason.RECENT: "recent enough for the window",
    Reason.SHORTENED: "shortened to fit",
    Reason.OVER_BUDGET: "older than what the budget holds",
    Reason.TURN_LIMIT: "older than the largest number of turns",
    Reason.SUPERSEDED: "replaced by a later attempt",
    Reason.OTHER_BRANCH: "on another branch of this conversation",
    Reason.FULFILLED_ARTIFACT: "already done: its artifact exists",
    Reason.ORPHAN_TOOL: "nothing in it that a model can read",
    Reason.REFUSED: "it was declined",
    Reason.FAILED: "words of a reply that failed",
    Reason.OFFLINE: "words of the offline responder, which are no model's",
    Reason.LIMIT: "more than are told of at once",
    Reason.REPEATED: "said elsewhere in the request",
    Reason.INSTRUCTED: "what you want of every answer",
    Reason.REMEMBERED: "remembered about you",
    Reason.RECALLED: "recalled for this message",
    Reason.UNRELATED: "does not bear on what you asked",
    Reason.READ: "read by the model, with a tool",
    Reason.UNSEEN: "a picture, which this model can’t see",
    Reason.UNREAD: "nothing of it could be read by then",
    Reason.HIDDEN: "not seen by anybody who opens the file",
    Reason.DAMAGED: "damaged",
    Reason.NOT_READ: "of a kind that is not read",
    Reason.BROKEN_OFF: "its reading ended before that",
    Reason.OFFERED: "the model may call it",
    Reason.CHANGED: "changed since you allowed it",
    Reason.LISTED: "named, because it stands beside this conversation",
    Reason.OUTSIDE_PART: "not of the part that was read",
    Reason.EXPIRED: "no longer true",
    Reason.OTHER_PROJECT: "said in another project, whose memory is its own",
    Reason.TEMPORARY: "said in another conversation, and this is a temporary chat",
}
PERSONAL_OF_KIND: dict[str, dict[Reason, str]] = {
    "memory": {Reason.OVER_BUDGET: "no room left for it"},
    "topic": {Reason.OVER_BUDGET: "no room left for it", Reason.REMEMBERED: "still open"},
    "artifact": {Reason.OVER_BUDGET: "no room left for it"},
    "message_elsewhere": {Reason.OVER_BUDGET: "no room was left beside your message"},
    "part": {
        Reason.NEWEST: "given with your message",
        Reason.RECENT: "given with an earlier turn",
        Reason.OVER_BUDGET: "no room was left for it",
        Reason.OTHER_PROJECT: "of another project, whose files are its own",
    },
    "picture": {Reason.UNSEEN: "this model can’t see pictures"},
    "summary": {
        Reason.OVER_BUDGET: "no room left for it",
        Reason.REMEMBERED: "what was said before, in short",
    },
}
"""Where the same reason says something else than of a turn of the thread."""


def personal_words(reason: Reason, kind: str) -> str:
    """Why an item of this kind is in a context or not, for the person."""
    return PERSONAL_OF_KIND.get(kind, {}).get(reason) or PERSONAL[reason]
