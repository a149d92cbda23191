-- name: turn_ids
-- From a turn to the first of its thread by the parents alone: what other paths went through is never met.
WITH RECURSIVE path AS (
    SELECT id, parent_id, 1 AS steps
    FROM conversations_message
    WHERE id = %(message)s AND thread_id = %(thread)s AND user_id = %(user)s
    UNION ALL
    SELECT earlier.id, earlier.parent_id, path.steps + 1
    FROM path
    JOIN conversations_message AS earlier
        ON earlier.id = path.parent_id AND earlier.thread_id = %(thread)s AND earlier.user_id = %(user)s
)
SELECT id FROM path ORDER BY steps DESC
