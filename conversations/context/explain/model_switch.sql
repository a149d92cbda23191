-- name: before
-- The request before one of a thread, but for others of the same reply, and whom it was asked of.
SELECT id, provider, model FROM conversations_contextsnapshot
WHERE user_id = %(user)s AND thread_id = %(thread)s AND id >= %(since)s AND id < %(until)s AND created_at < %(at)s
  AND purpose IN ('reply', 'artifact') AND status <> 'failed'
  AND reply_id IS DISTINCT FROM coalesce(%(reply)s::uuid, '00000000-0000-0000-0000-000000000000')
ORDER BY created_at DESC, id DESC LIMIT 1
