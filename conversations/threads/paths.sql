-- name: off_path
-- From a turn back to the first that stands on the active path, without that one.
WITH RECURSIVE branch AS (
    SELECT id, parent_id, position, depth FROM conversations_message
    WHERE user_id = %(user)s AND thread_id = %(thread)s AND id = %(turn)s AND NOT is_active
    UNION ALL
    SELECT turn.id, turn.parent_id, turn.position, turn.depth
    FROM branch JOIN conversations_message AS turn ON turn.user_id = %(user)s AND turn.id = branch.parent_id
    WHERE NOT turn.is_active
)
SELECT id, position, depth FROM branch ORDER BY depth

-- name: leave
UPDATE conversations_message SET is_active = false
WHERE user_id = %(user)s AND thread_id = %(thread)s AND is_active AND depth > %(depth)s
RETURNING id, position, depth

-- name: join
UPDATE conversations_message SET is_active = true
WHERE user_id = %(user)s AND thread_id = %(thread)s AND id = ANY(%(turns)s)

-- name: move
UPDATE conversations_thread
SET message_count = %(depth)s, path_version = path_version + 1, updated_at = %(now)s
WHERE user_id = %(user)s AND id = %(thread)s

-- name: path
-- A turn and those before it, oldest first, by the parents alone: what other paths went through is never met.
WITH RECURSIVE path AS (
    SELECT id, parent_id, depth FROM conversations_message
    WHERE user_id = %(user)s AND thread_id = %(thread)s AND id = %(turn)s
    UNION ALL
    SELECT turn.id, turn.parent_id, turn.depth
    FROM path JOIN conversations_message AS turn
      ON turn.user_id = %(user)s AND turn.thread_id = %(thread)s AND turn.id = path.parent_id
)
SELECT id FROM path ORDER BY depth

-- name: versions
-- The versions of turns: those that follow the same turn – or the thread, where it is a first one –, numbered in the order in
-- which they were stored. Of many only those that stand near one of the turns; the index of what was left counts the others.
WITH wanted AS (
    SELECT DISTINCT turn.depth, coalesce(turn.parent_id, turn.thread_id) AS follows FROM conversations_message AS turn
    WHERE turn.user_id = %(user)s AND turn.thread_id = %(thread)s AND turn.id = ANY(%(turns)s)
), version AS (
    SELECT turn.id, wanted.follows, turn.position FROM wanted JOIN conversations_message AS turn
      ON turn.user_id = %(user)s AND NOT turn.is_active AND coalesce(turn.parent_id, turn.thread_id) = wanted.follows
    UNION ALL
    SELECT turn.id, wanted.follows, turn.position FROM wanted JOIN conversations_message AS turn
      ON turn.user_id = %(user)s AND turn.thread_id = %(thread)s AND turn.is_active AND turn.depth = wanted.depth
     AND coalesce(turn.parent_id, turn.thread_id) = wanted.follows
), numbered AS (
    SELECT id, follows,
           row_number() OVER (PARTITION BY follows ORDER BY position) AS number,
           count(*) OVER (PARTITION BY follows) AS count,
           count(*) FILTER (WHERE id = ANY(%(turns)s)) OVER (
               PARTITION BY follows ORDER BY position ROWS BETWEEN %(near)s PRECEDING AND %(near)s FOLLOWING
           ) AS near
    FROM version
)
SELECT id, follows, number, count FROM numbered WHERE near > 0 ORDER BY follows, number
