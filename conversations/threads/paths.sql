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

-- name: siblings
-- The versions of turns: those that follow the same turn, with their parent. What was left is found by its own index.
WITH wanted AS (
    SELECT DISTINCT turn.depth, turn.parent_id FROM conversations_message AS turn
    WHERE turn.user_id = %(user)s AND turn.thread_id = %(thread)s AND turn.id = ANY(%(turns)s)
)
SELECT version.id, version.parent_id, version.position
FROM wanted JOIN conversations_message AS version
  ON version.user_id = %(user)s AND version.thread_id = %(thread)s AND version.depth = wanted.depth
 AND NOT version.is_active AND version.parent_id IS NOT DISTINCT FROM wanted.parent_id
UNION ALL
SELECT version.id, version.parent_id, version.position
FROM wanted JOIN conversations_message AS version
  ON version.user_id = %(user)s AND version.thread_id = %(thread)s AND version.depth = wanted.depth
 AND version.is_active AND version.parent_id IS NOT DISTINCT FROM wanted.parent_id
ORDER BY position
