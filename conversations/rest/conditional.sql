-- What tells one state of a row's answer from another; ``xmin`` changes with each change of a row, whoever makes it.

-- name: thread
SELECT thread.xmin, (SELECT id FROM conversations_reply AS reply 
                     WHERE reply.user_id = %(user)s AND reply.thread_id = thread.id AND status = 'running')
FROM conversations_thread AS thread WHERE user_id = %(user)s AND id = %(id)s

-- name: messages
-- Each turn that is stored, and forgetting one, changes its thread. Only the newest question can get another reply.
SELECT thread.xmin, newest.replies
FROM conversations_thread AS thread
LEFT JOIN LATERAL (
    SELECT id FROM conversations_message
    WHERE user_id = %(user)s AND thread_id = thread.id AND is_active AND role = 'user' ORDER BY position DESC LIMIT 1
) AS question ON true
LEFT JOIN LATERAL (
    SELECT array_agg(ROW (reply.id, reply.status, (
        SELECT max(round) FROM conversations_contextsnapshot
        WHERE user_id = %(user)s AND reply_id = reply.id AND id >= %(since)s
    )) ORDER BY reply.id)::text AS replies
    FROM conversations_reply AS reply
    WHERE reply.user_id = %(user)s AND reply.thread_id = thread.id AND reply.user_message_id = question.id
) AS newest ON true
WHERE thread.user_id = %(user)s AND thread.id = %(id)s

-- name: artifact
-- A version that was saved in the middle of a reply names its turn only once there is one.
SELECT artifact.xmin, version.xmin, version.number,
       (SELECT id FROM conversations_message AS turn
        WHERE turn.user_id = %(user)s AND turn.reply_id = version.reply_id
          AND turn.thread_id = artifact.thread_id AND turn.is_active)
FROM artifacts_artifact AS artifact
JOIN artifacts_artifactversion AS version
  ON version.user_id = %(user)s AND version.artifact_id = artifact.id
 AND version.number = coalesce(%(number)s, artifact.version)
WHERE artifact.user_id = %(user)s AND artifact.id = %(id)s
