-- name: unembedded
-- Only what the index holds: it leaves out what was forgotten or says nothing.
SELECT turn.thread_id, turn.depth, turn.position, turn.text
FROM conversations_thread AS thread
LEFT JOIN LATERAL (
    SELECT position FROM memory_turnvector WHERE thread_id = thread.id ORDER BY depth DESC LIMIT 1
) AS last ON true
CROSS JOIN LATERAL (
    SELECT turn.thread_id, turn.depth, turn.position, left(turn.text, 5000) AS text
    FROM conversations_message AS turn
    JOIN memory_indexedturn AS indexed
      ON indexed.thread_id = turn.thread_id AND indexed.depth = turn.depth AND indexed.position = turn.position
    WHERE turn.thread_id = thread.id AND turn.is_active AND turn.position > coalesce(last.position, 0) AND indexed.length > 0
    ORDER BY turn.position LIMIT %(most)s
) AS turn
WHERE thread.user_id = %(user)s AND thread.last_position > coalesce(last.position, 0)
ORDER BY thread.updated_at DESC, thread.id, turn.position LIMIT %(most)s
