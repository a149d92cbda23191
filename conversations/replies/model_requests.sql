-- A further request, and how the one before it ended. Nothing is done twice where it is repeated. The reply is written to as
-- well, so that an end that is being stored meanwhile looks again and ends this request too.

-- name: record
WITH before AS (
    SELECT id, reserved, token_id FROM conversations_reply
    WHERE user_id = %(user)s AND id = %(reply)s AND status = 'running'
    FOR NO KEY UPDATE
), step AS (
    -- What the requests before took, and what this one may take, is set aside for as long as the reply runs.
    UPDATE conversations_reply AS reply
    SET lease_until = now() + %(lease)s, suspected_at = NULL, reserved = %(reserved)s, spent = %(spent)s
    FROM before
    WHERE reply.user_id = %(user)s AND reply.id = before.id AND reply.status = 'running'
    RETURNING reply.id, before.token_id, %(reserved)s - before.reserved AS more
), counted AS (
    -- A limit that is reached fails the whole statement, as where the reply was opened, and so does what was forgotten since
    -- the request was begun, where it was built of rows.
    SELECT allowance.id, step.more, CASE WHEN allowance.token_id IS NULL
               THEN coalesce(own.tokens_day, %(most_tokens)s) ELSE token.tokens_day END AS most_tokens
    FROM step
    JOIN conversations_allowance AS allowance
      ON allowance.user_id = %(user)s AND (allowance.token_id IS NULL OR allowance.token_id = step.token_id)
    LEFT JOIN conversations_userlimits AS own ON own.user_id = %(user)s
    LEFT JOIN conversations_apitoken AS token ON token.id = allowance.token_id
    ORDER BY allowance.token_id NULLS FIRST  -- as they are locked by whoever begins a reply
    FOR NO KEY UPDATE OF allowance
), allowance AS (
    UPDATE conversations_allowance AS allowance
    SET reserved = greatest(allowance.reserved + counted.more, 0),
        forgettings = CASE WHEN allowance.token_id IS NULL AND allowance.forgettings <> %(forgettings)s::int THEN -1
                           ELSE allowance.forgettings END,
        most_running = NULL, most_tokens = CASE WHEN counted.more > 0 THEN nullif(counted.most_tokens, 0) END
    FROM counted
    WHERE allowance.user_id = %(user)s AND allowance.id = counted.id
),
-- part: reserve_more
, snapshot AS (
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
