-- A further request. The reply is written to as well, so that an end that is being stored meanwhile looks again and ends this
-- request too.

-- name: record
WITH step AS (
    UPDATE conversations_reply SET lease_until = now() + %(lease)s
    WHERE user_id = %(user)s AND id = %(reply)s AND status = 'running'
    RETURNING id
), snapshot AS (
    INSERT INTO conversations_contextsnapshot
    SELECT new.* FROM step, jsonb_populate_recordset(NULL::conversations_contextsnapshot, %(snapshots)s) AS new
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
