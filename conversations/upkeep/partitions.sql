-- name: partitions
SELECT child.relname, pg_get_expr(child.relpartbound, child.oid)
FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid
WHERE inhparent = %(table)s::regclass

-- name: still_followed
-- Whether a reply that began before then still runs, or has not ended long enough ago.
SELECT 1 FROM conversations_reply WHERE status = 'running' AND id < %(until)s
UNION ALL
SELECT 1 FROM conversations_reply WHERE id >= %(since)s AND id < %(until)s AND ended_at >= %(before)s
LIMIT 1

-- name: forget_rest
DELETE FROM conversations_replyevent_rest WHERE reply_id IN (
    SELECT reply_id FROM conversations_replyevent_rest WHERE type = ANY(%(endings)s) AND at < %(before)s LIMIT 500
)
RETURNING 1

-- name: statement_triggers
SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = %(table)s::regclass AND NOT tgisinternal AND tgtype & 1 = 0
