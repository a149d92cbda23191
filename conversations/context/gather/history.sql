-- name: turns
-- The newest turns of the path before a position: an index range, whatever the length of the thread and whatever was left
-- beside the path. The index alone tells by the running total where the budget ends, among so many turns and no more; then the
-- rows from there on are read. One turn more than fits is read, to know that something was left out; what the provider counted
-- to be less than the estimate makes room for more. Beside the oldest row stands what is read once.
WITH newest AS (
    SELECT depth, position, token_total, token_count FROM conversations_message
    WHERE user_id = %(user)s AND thread_id = %(thread)s AND {path} AND position < %(before)s
    ORDER BY depth DESC LIMIT %(turns)s
), counted AS (
    SELECT position, tokens FROM conversations_tokencount
    WHERE user_id = %(user)s AND thread_id = %(thread)s AND provider = %(provider)s AND model = %(model)s
      AND position >= (SELECT min(position) FROM newest)
), oldest AS (
    SELECT least(min(depth) FILTER (
                     WHERE token_total > (SELECT max(token_total) FROM newest) - %(tokens)s - coalesce((
                         SELECT sum(greatest(token_count - tokens / %(factor)s, 0)) FROM newest JOIN counted USING (position)
                     ), 0)),
                 coalesce((array_agg(depth ORDER BY depth DESC))[3], min(depth))) AS first
    FROM newest
)
SELECT id, position, depth, role, text, content::text, token_count, created_at, reply_id, status, offline, tokens{beside}
FROM oldest, conversations_message turn LEFT JOIN counted USING (position)
WHERE user_id = %(user)s AND thread_id = %(thread)s AND {path}
  AND position < %(before)s AND depth >= (SELECT first FROM oldest)
ORDER BY depth

-- name: chain
-- The newest turns of the path that ends with one, whether that is the active path or not.
WITH RECURSIVE path AS (
    SELECT parent_id, position, 1 AS steps FROM conversations_message
    WHERE user_id = %(user)s AND thread_id = %(thread)s AND id = %(last)s
    UNION ALL
    SELECT turn.parent_id, turn.position, steps + 1
    FROM path JOIN conversations_message AS turn ON turn.user_id = %(user)s AND turn.id = path.parent_id
    WHERE steps < %(turns)s
)
SELECT position FROM path

-- name: made
-- The artifacts that one of the turns may have made: since the oldest, beside which this stands, or in the middle of its reply.
SELECT json_agg(json_build_array(m.created_at, m.message_id, m.reply_id))::text
FROM artifacts_artifactversion m JOIN artifacts_artifact a ON a.user_id = %(user)s AND a.id = m.artifact_id
WHERE %(filtering)s AND m.user_id = %(user)s AND m.thread_id = %(thread)s AND m.origin <> 'hand' AND a.deleted_at IS NULL
  AND m.created_at >= turn.created_at - %(longest_reply)s

-- name: made_then
SELECT json_agg(json_build_array(m.created_at, m.message_id, m.reply_id))::text
FROM artifacts_artifactversion m JOIN artifacts_artifact a ON a.user_id = %(user)s AND a.id = m.artifact_id
WHERE %(filtering)s AND m.user_id = %(user)s AND m.thread_id = %(thread)s AND m.origin <> 'hand'
  AND m.created_at <= %(at)s AND (a.deleted_at IS NULL OR a.deleted_at > %(at)s)
  AND m.created_at >= turn.created_at - %(longest_reply)s

-- name: previous
-- The request before this one. Partitions are not looked at from before the reply that made the last turn, or the thread, began.
SELECT json_build_array(created_at,provider,model,sections,runs,cache,provider_message_id)::text
FROM conversations_contextsnapshot
WHERE user_id = %(user)s AND thread_id = %(thread)s AND id>=%(since)s AND purpose = 'reply' ORDER BY created_at DESC LIMIT 1

-- name: previous_then
SELECT json_build_array(created_at, provider, model, sections, runs, cache, provider_message_id)::text
FROM conversations_contextsnapshot
WHERE user_id = %(user)s AND thread_id = %(thread)s AND id >= %(since)s AND purpose = 'reply' AND created_at < %(at)s
ORDER BY created_at DESC LIMIT 1
