"""What exists beside the thread: the model is told, as the requests that made it are left out."""

from collections.abc import Sequence

from artifacts.models import Artifact
from conversations.context.reasons import Reason
from conversations.context.sources import Fitted, ItemKind, Place, Reading, Row, Source, SourceItem, SourceQuery
from conversations.context.tokens.estimate import estimate_tokens
from conversations.providers.markers import ARTIFACTS, BULLET
from conversations.providers.quoting import quote_name
from conversations.runtime.text import clean


class ArtifactListSource(Source[tuple[tuple[str, str], ...]]):
    """The list stands beside the message, not before the history: it changes whenever something is made, and the provider's
    cache would break (C3). What a turn made that does not lead to the message is not in it. Candidates are ids with their
    lines."""

    name = "artifacts"
    place = Place.BESIDE
    label = "List of artifacts"
    personal_label = "Documents of this conversation"
    kinds = (
        ItemKind(
            code="artifact",
            what="artifact",
            model=Artifact,
            text="title",
            thread="thread",
            page="admin:artifacts_artifact_change",
        ),
    )
    is_memory = False
    statement = """
SELECT json_agg(json_build_array(id, title, kind, number))
FROM (
    SELECT id, title, kind, number FROM artifacts_artifact AS artifact
    CROSS JOIN LATERAL (
        SELECT max(number) AS number FROM artifacts_artifactversion AS version
        WHERE version.user_id = %(user)s AND version.artifact_id = artifact.id AND NOT EXISTS (
            SELECT FROM conversations_message AS turn
            WHERE turn.user_id = %(user)s AND (turn.id = version.message_id OR turn.reply_id = version.reply_id)
              AND NOT (turn.is_active AND turn.depth < %(depth)s)
        )
    ) AS made
    WHERE user_id = %(user)s AND thread_id = %(thread)s AND deleted_at IS NULL AND number IS NOT NULL
    ORDER BY created_at DESC, id LIMIT 20
) AS newest"""
    statement_then = """
SELECT json_agg(json_build_array(id, title, kind, version))
FROM (
    SELECT id, title, kind, version FROM artifacts_artifact
    WHERE user_id = %(user)s AND thread_id = %(thread)s AND created_at <= %(at)s AND (deleted_at IS NULL OR deleted_at > %(at)s)
    ORDER BY created_at DESC, id LIMIT 20
) AS newest"""
    comes_from = ("the artifacts of then, by their titles of today", True)

    def is_wanted(self, query: SourceQuery) -> bool:
        return query.offers_tools

    def read(self, rows: Sequence[Row], reading: Reading) -> tuple[tuple[str, str], ...] | None:
        return tuple(
            (id, f"{BULLET}{quote_name(clean(title))} ({kind}, version {version}, id {id})")
            for id, title, kind, version in rows
        )

    def fit(self, candidates: tuple[tuple[str, str], ...], tokens: int) -> Fitted:
        if not candidates:
            return Fitted()
        return Fitted(
            text="\n".join([ARTIFACTS, *(line for _, line in candidates)]),
            items=[
                SourceItem(kind="artifact", id=id, included=True, reason=Reason.LISTED, tokens=estimate_tokens(line))
                for id, line in candidates
            ],
        )
