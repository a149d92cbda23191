-- A further request, and how the one before it ended. Nothing is done twice where it is repeated. The reply is written to as
-- well, so that an end that is being stored meanwhile looks again and ends this request too.

-- name: record
WITH step AS (
    UPDATE conversations_reply SET lease_until = now() + %(lease)s, suspected_at = NULL
    WHERE user_id = %(user)s AND id = %(reply)s AND status = 'running'
    RETURNING id
), snapshot AS (
    INSERT INTO conversations_contextsnapshot
    SELECT new.* FROM step, jsonb_populate_recordset(NULL::conversations_contextsnapshot, %(snapshots)s) AS new
    ON CONFLICT DO NOTHING
), ended AS (
    UPDATE conversations_contextsnapshot AS earlier
    SET status = %(status)s, stop_reason = new.stop_reason, usage = new.usage, error = new.error, ended_at = %(now)s,
        provider_request_id = new.provider_request_id, provider_message_id = new.provider_message_id,
        diagnostics = new.diagnostics, stop_details = new.stop_details, thinking_ms = new.thinking_ms,
        first_token_ms = new.first_token_ms
    FROM step, jsonb_populate_record(NULL::conversations_contextsnapshot, %(response)s::jsonb) AS new
    WHERE earlier.user_id = %(user)s AND earlier.id = %(before)s::uuid AND earlier.status = 'pending'
), block AS (
    -- A text that is known stays as it is; it was stored by an earlier request.
    INSERT INTO conversations_contextblock (thread_id, user_id, sha256, text)
    SELECT new.thread_id, new.user_id, new.sha256, new.text
    FROM step, jsonb_populate_recordset(NULL::conversations_contextblock, %(blocks)s) AS new
    ON CONFLICT DO NOTHING
), turn_file AS (
    INSERT INTO conversations_turnfile (thread_id, user_id, position, place, file_id, numbers, outlined)
    SELECT new.thread_id, new.user_id, new.position, new.place, new.file_id, new.numbers, new.outlined
    FROM step, jsonb_populate_recordset(NULL::conversations_turnfile, %(turn_files)s) AS new
    JOIN conversations_file AS file ON file.user_id = %(user)s AND file.id = new.file_id
    ON CONFLICT DO NOTHING
)
SELECT id FROM step
