-- name: unread
-- Turns behind the last part of each thread, with that part itself where there is one, which they may extend, unless its turns
-- are copies.
SELECT thread.id, coalesce(last.first_position, 1), coalesce(last.last_position, 0),
       turn.position, turn.created_at, char_length(turn.text), turn.role
FROM conversations_thread AS thread
LEFT JOIN LATERAL (
    SELECT CASE made_by WHEN 'copy' THEN last_position + 1 ELSE first_position END AS first_position, last_position
    FROM memory_threadsummary AS part
    WHERE user_id = %(user)s AND thread_id = thread.id ORDER BY part.first_position DESC LIMIT 1
) AS last ON true
CROSS JOIN LATERAL (
    SELECT position, created_at, text, role FROM conversations_message
    WHERE user_id = %(user)s AND thread_id = thread.id AND is_active AND status <> 'forgotten'
      AND position >= coalesce(last.first_position, 1)
    ORDER BY position
) AS turn
WHERE thread.user_id = %(user)s AND thread.remembers AND NOT thread.temporary
  AND thread.last_position > coalesce(last.last_position, 0)
  AND NOT EXISTS (
    SELECT FROM conversations_reply WHERE user_id = %(user)s AND thread_id = thread.id AND status = 'running'
  )
  AND EXISTS (
    SELECT FROM conversations_message
    WHERE user_id = %(user)s AND thread_id = thread.id AND is_active AND status <> 'forgotten'
      AND position > coalesce(last.last_position, 0)
  )
ORDER BY thread.id, turn.position

-- name: stale
-- Only a thread that was written to since can have lost a turn; what is forgotten is marked by whoever forgets it. A CASE,
-- because the planner would look at the turns of every part before it looks at its thread.
SELECT part.thread_id, part.first_position, part.last_position, part.started_at, part.ended_at
FROM memory_threadsummary AS part
JOIN conversations_thread AS thread ON thread.user_id = %(user)s AND thread.id = part.thread_id AND thread.remembers
 AND NOT thread.temporary
WHERE part.user_id = %(user)s AND part.made_by <> 'copy'
  AND NOT EXISTS (
    SELECT FROM conversations_reply WHERE user_id = %(user)s AND thread_id = thread.id AND status = 'running'
  )
  AND CASE
    WHEN part.stale_since IS NOT NULL THEN true
    WHEN thread.updated_at < part.made_at - %(late)s THEN false
    ELSE EXISTS (
        SELECT FROM unnest(part.sources) AS source
        LEFT JOIN conversations_message AS turn
          ON turn.user_id = %(user)s AND turn.id = source AND turn.is_active AND turn.status NOT IN ('forgotten', 'refused')
        WHERE turn.id IS NULL
    )
  END
ORDER BY part.started_at, part.thread_id, part.first_position

-- name: days_off
-- Days that tell of parts that are gone, and of the last days those that the time zone has moved since.
SELECT day FROM memory_dailysummary
WHERE user_id = %(user)s AND EXISTS (
    SELECT FROM unnest(parts) AS told
    LEFT JOIN memory_threadsummary AS part ON part.user_id = %(user)s AND part.id = told
    WHERE part.id IS NULL
)
UNION
SELECT (part.started_at AT TIME ZONE %(zone)s)::date FROM memory_threadsummary AS part
WHERE part.user_id = %(user)s AND part.ended_at > %(recent)s AND part.text <> '' AND NOT EXISTS (
    SELECT FROM memory_dailysummary
    WHERE user_id = %(user)s AND day = (part.started_at AT TIME ZONE %(zone)s)::date AND part.id = ANY(parts)
)
