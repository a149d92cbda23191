-- A reply, with its user turn where that is new and its first request where that is built: in a new thread, or in the one that
-- was looked at.

-- name: open
WITH created AS (
    INSERT INTO conversations_thread
    SELECT new.* FROM jsonb_populate_record(NULL::conversations_thread, %(thread)s) AS new WHERE %(is_new)s
    RETURNING id
), moved AS (
    -- Nobody else may have written to the thread since it was looked at, cleared it, or gone to another branch; a lock would have to be held while
    -- the context is built. A title that was given meanwhile stays.
    UPDATE conversations_thread AS thread
    SET last_position = new.last_position, message_count = new.message_count, updated_at = new.updated_at,
        session_started_at = new.session_started_at, away_since = new.away_since,
        title = CASE WHEN thread.title = '' THEN new.title ELSE thread.title END
    FROM jsonb_populate_record(NULL::conversations_thread, %(thread)s) AS new
    WHERE NOT %(is_new)s AND thread.user_id = %(user)s AND thread.id = new.id
      AND thread.last_position = %(last_position)s AND thread.cleared_through = new.cleared_through
      AND thread.path_version = new.path_version
    RETURNING thread.id
), step AS (
    SELECT id FROM created UNION ALL SELECT id FROM moved
), allowance AS (
    -- One row of the user's decides, so that of many replies that begin at once only as many do as the limits leave room
    -- for; and one of the token's, where that has limits of its own. All lock them last, the user's first. A limit that is
    -- reached fails the whole statement, and so does what was forgotten since the thread was looked at: the request may hold it.
    -- Whether there was no such row is told by the rows as they were when the statement began.
    INSERT INTO conversations_allowance AS allowance
        (user_id, token_id, day, running, reserved, spent, most_running, most_tokens)
    SELECT %(user)s, whose.token_id, (now() AT TIME ZONE 'UTC')::date, 1, %(reserved)s, 0,
           nullif(whose.running_replies, 0), nullif(whose.tokens_day, 0)
    FROM step, (
        SELECT NULL::bigint AS token_id, coalesce(own.running_replies, %(most_running)s) AS running_replies,
               coalesce(own.tokens_day, %(most_tokens)s) AS tokens_day
        FROM (SELECT) AS every LEFT JOIN conversations_userlimits AS own ON own.user_id = %(user)s
        UNION ALL
        SELECT id, running_replies, tokens_day FROM conversations_apitoken
        WHERE id = %(token)s AND (running_replies > 0 OR tokens_day > 0)
    ) AS whose
    ORDER BY whose.token_id NULLS FIRST
    ON CONFLICT (user_id, token_id) DO UPDATE
    SET day = excluded.day, running = allowance.running + 1, reserved = allowance.reserved + excluded.reserved,
        spent = CASE WHEN allowance.day = excluded.day THEN allowance.spent ELSE 0 END,
        most_running = excluded.most_running, most_tokens = excluded.most_tokens,
        forgettings = CASE WHEN allowance.token_id IS NULL AND allowance.forgettings <> %(forgettings)s THEN -1
                           ELSE allowance.forgettings END
    RETURNING allowance.token_id, NOT EXISTS (
        SELECT FROM conversations_allowance AS known
        WHERE known.user_id = %(user)s AND known.token_id IS NOT DISTINCT FROM allowance.token_id
    ) AS is_new
),
-- part: reserve
, charge AS (
    INSERT INTO conversations_budgetcharge (
        budget_id, user_id, reply_id, provider, model, day, reserved_tokens, reserved_money, spent_tokens, spent_money, is_open
    )
    SELECT budget_id, %(user)s, (%(reply)s ->> 'id')::uuid, %(provider)s, %(model)s, (now() AT TIME ZONE 'UTC')::date,
           %(reserved)s, coalesce(%(money)s::bigint, 0), 0, 0, true
    FROM pool WHERE user_id IS NULL
), message AS (
    INSERT INTO conversations_message
    SELECT new.* FROM step, jsonb_populate_recordset(NULL::conversations_message, %(messages)s) AS new
), file AS (
    -- A file belongs to the thread of its first message.
    UPDATE conversations_file AS file SET thread_id = (%(thread)s ->> 'id')::uuid FROM step
    WHERE file.user_id = %(user)s AND file.id = ANY(%(files)s) AND file.thread_id IS NULL
), turn_file AS (
    INSERT INTO conversations_turnfile (thread_id, user_id, position, place, file_id, numbers, outlined)
    SELECT new.thread_id, new.user_id, new.position, new.place, new.file_id, new.numbers, new.outlined
    FROM step, jsonb_populate_recordset(NULL::conversations_turnfile, %(turn_files)s) AS new
    JOIN conversations_file AS file ON file.user_id = %(user)s AND file.id = new.file_id
    ON CONFLICT DO NOTHING
), reply AS (
    INSERT INTO conversations_reply
    SELECT new.*
    FROM step, jsonb_populate_record(
        NULL::conversations_reply, %(reply)s || jsonb_build_object('lease_until', now() + %(lease)s)
    ) AS new
), snapshot AS (
    INSERT INTO conversations_contextsnapshot
    SELECT new.* FROM step, jsonb_populate_recordset(NULL::conversations_contextsnapshot, %(snapshots)s) AS new
), block AS (
    -- A text that is known stays as it is; it was stored by an earlier request.
    INSERT INTO conversations_contextblock (thread_id, user_id, sha256, text)
    SELECT new.thread_id, new.user_id, new.sha256, new.text
    FROM step, jsonb_populate_recordset(NULL::conversations_contextblock, %(blocks)s) AS new
    ON CONFLICT DO NOTHING
)
SELECT array_agg(token_id) FILTER (WHERE is_new) AS new_allowances FROM allowance HAVING count(*) > 0
