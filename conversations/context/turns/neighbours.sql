-- name: turns
SELECT turn.thread_id, turn.depth, turn.id, turn.position, turn.role, turn.status, turn.offline, turn.created_at, turn.reply_id,
       CASE WHEN turn.content IS NOT NULL THEN (
           SELECT json_agg(json_build_object(
               'type', block -> 'type', 'id', block -> 'id', 'tool_use_id', block -> 'tool_use_id'
           )) FROM jsonb_array_elements(turn.content) AS block
       )::text END
FROM unnest(%(threads)s::uuid[], %(firsts)s::int[], %(lasts)s::int[]) AS stretch (thread_id, first, last)
JOIN conversations_message AS turn
  ON turn.user_id = %(user)s AND turn.thread_id = stretch.thread_id AND turn.is_active
 AND turn.depth BETWEEN stretch.first AND stretch.last
ORDER BY turn.thread_id, turn.depth

-- name: made
SELECT made.thread_id, made.created_at, made.message_id, made.reply_id, made.artifact_id, artifact.deleted_at IS NOT NULL,
       coalesce((SELECT depth FROM conversations_message WHERE user_id = %(user)s AND id = made.message_id AND is_active),
                (SELECT depth FROM conversations_message WHERE user_id = %(user)s AND reply_id = made.reply_id AND is_active))
FROM artifacts_artifactversion AS made
JOIN artifacts_artifact AS artifact ON artifact.user_id = %(user)s AND artifact.id = made.artifact_id
WHERE made.user_id = %(user)s AND made.thread_id = ANY(%(threads)s) AND made.origin <> 'hand'

-- name: refused
SELECT thread_id, depth FROM conversations_message
WHERE user_id = %(user)s AND thread_id = ANY(%(threads)s) AND is_active AND status = 'refused'
