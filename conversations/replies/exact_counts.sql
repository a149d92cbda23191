-- name: uncounted
-- The newest long turns of the path that the model is given and its provider has not counted yet. The index alone tells which
-- are long.
WITH newest AS (
    SELECT position, token_count FROM conversations_message
    WHERE user_id = %(user)s AND thread_id = %(thread)s AND is_active ORDER BY position DESC LIMIT %(newest)s
)
SELECT turn.position, turn.text, turn.content::text
FROM newest JOIN conversations_message AS turn USING (position)
WHERE turn.user_id = %(user)s AND turn.thread_id = %(thread)s AND newest.token_count >= %(long)s
  AND turn.forgotten_at IS NULL AND NOT turn.offline
  AND turn.position <> ALL(%(but)s)
  AND NOT EXISTS (SELECT FROM conversations_tokencount AS known
                  WHERE known.user_id = %(user)s AND known.thread_id = %(thread)s
                    AND known.provider = %(provider)s AND known.model = %(model)s
                    AND known.position = turn.position)
ORDER BY turn.position DESC LIMIT %(most)s

-- name: keep
-- Not of a turn that was forgotten or cleared away meanwhile.
INSERT INTO conversations_tokencount (thread_id, user_id, position, provider, model, tokens)
SELECT thread_id, user_id, position, %(provider)s, %(model)s, %(tokens)s FROM conversations_message
WHERE user_id = %(user)s AND thread_id = %(thread)s AND position = %(position)s AND forgotten_at IS NULL
FOR SHARE
ON CONFLICT DO NOTHING

-- name: lock_thread
-- First, as by everybody who writes to turns.
SELECT id FROM conversations_thread WHERE user_id = %(user)s AND id = %(thread)s FOR KEY SHARE
