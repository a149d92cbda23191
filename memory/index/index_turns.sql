-- name: oldest_unindexed
-- Only threads that were written to since all was indexed; of each, what lies behind the last place that is.
SELECT turn.thread_id, turn.depth, turn.position, turn.role, left(turn.text, 100000) AS text, turn.created_at,
       thread.path_version AS path
FROM conversations_thread AS thread
LEFT JOIN LATERAL (
    SELECT position FROM memory_indexedpassage
    WHERE user_id = %(user)s AND thread_id = thread.id ORDER BY depth DESC LIMIT 1
) AS last ON true
CROSS JOIN LATERAL (
    SELECT * FROM conversations_message
    WHERE user_id = %(user)s AND thread_id = thread.id AND is_active AND position > coalesce(last.position, 0)
    ORDER BY position ASC LIMIT %(most)s
) AS turn
WHERE thread.user_id = %(user)s AND NOT thread.temporary AND thread.updated_at > coalesce(
    (SELECT indexed_until FROM memory_vocabulary WHERE user_id = %(user)s), '-infinity')
ORDER BY thread.updated_at ASC, thread.id, turn.position LIMIT %(most)s

-- name: newest_unindexed
-- The same, newest first.
SELECT turn.thread_id, turn.depth, turn.position, turn.role, left(turn.text, 100000) AS text, turn.created_at
FROM conversations_thread AS thread
LEFT JOIN LATERAL (
    SELECT position FROM memory_indexedpassage
    WHERE user_id = %(user)s AND thread_id = thread.id ORDER BY depth DESC LIMIT 1
) AS last ON true
CROSS JOIN LATERAL (
    SELECT * FROM conversations_message
    WHERE user_id = %(user)s AND thread_id = thread.id AND is_active AND position > coalesce(last.position, 0)
    ORDER BY position DESC LIMIT %(most)s
) AS turn
WHERE thread.user_id = %(user)s AND NOT thread.temporary AND thread.updated_at > coalesce(
    (SELECT indexed_until FROM memory_vocabulary WHERE user_id = %(user)s), '-infinity')
ORDER BY thread.updated_at DESC, thread.id, turn.position LIMIT %(most)s
