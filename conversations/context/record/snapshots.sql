-- name: sent
-- Turns at the places from each first to its last, as they are stored, oldest first.
SELECT {columns}
FROM unnest(%(first)s::int[], %(last)s::int[]) AS place (first, last)
JOIN conversations_message AS turn
  ON turn.user_id = %(user)s AND turn.thread_id = %(thread)s AND turn.position BETWEEN place.first AND place.last
ORDER BY turn.position

-- name: texts
-- Texts by their digests: those of the thread, and those that staff wrote.
SELECT sha256, text, forgotten_at FROM conversations_contextblock
WHERE user_id = %(user)s AND thread_id = %(thread)s AND sha256 = ANY(%(digests)s::bytea[])
UNION ALL
SELECT sha256, text, forgotten_at FROM conversations_contextblock
WHERE user_id IS NULL AND thread_id IS NULL AND sha256 = ANY(%(digests)s::bytea[])
