from django.db import models


class Reason(models.TextChoices):
    """Why a turn, memory, topic or summary is in a context or not. The admin, the API and the snapshots share these codes."""

    NEWEST = "newest", "The message to answer"
    RECENT = "recent", "Recent enough for the window"
    SHORTENED = "shortened", "Shortened to fit the hard cap"
    OVER_BUDGET = "over_budget", "Older than what the token budget holds"
    TURN_LIMIT = "turn_limit", "Older than the largest number of turns"
    SUPERSEDED = "superseded", "Replaced by a later attempt"
    FULFILLED_ARTIFACT = "fulfilled_artifact", "Its artifact was made"
    ORPHAN_TOOL = "orphan_tool", "Nothing to send: half of a tool call, or of a kind that models don't take"
    REMEMBERED = "remembered", "What is known of the person in this session"
    RECALLED = "recalled", "Recalled for this message"
    LISTED = "listed", "Exists beside the thread"
    OUTSIDE_PART = "outside_part", "Not of the part of the conversation that was read, or forgotten before"
    EXPIRED = "expired", "No longer true, or switched off"
