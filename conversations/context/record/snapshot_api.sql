-- name: near
-- Turns at the places from each first to its last.
SELECT turn.id, turn.position, turn.token_count
FROM unnest(%(first)s::int[], %(last)s::int[]) AS place (first, last)
JOIN conversations_message AS turn
  ON turn.user_id = %(user)s AND turn.thread_id = %(thread)s AND turn.position BETWEEN place.first AND place.last
ORDER BY turn.position

-- name: quoted
-- What turns say today that the message quoted.
SELECT id::text, text FROM conversations_message
WHERE user_id = %(user)s AND id = ANY(%(turns)s::uuid[]) AND is_active AND forgotten_at IS NULL
