"""The SQL of a reply's steps: one statement each, so that all of a step is stored or nothing is, in one round trip.

Rows travel as JSON, which PostgreSQL turns into rows by itself: one parameter a table, whatever columns it has.
"""

from conversations.models import Assistant, Thread

THREAD_AND_ASSISTANT = ", ".join(
    f'{name}."{field.column}"'
    for name, model in (("thread", Thread), ("assistant", Assistant))
    for field in model._meta.concrete_fields
)
# Where a turn goes: the user's thread, what runs in it, whether the turn is there already, the turn before it, and when the
# user was last active in whatever thread.
PLACE = """,
       running.id, known.id, before.id,
       CASE WHEN before.role = 'user' THEN before.id ELSE before.parent_id END, before.token_total,
       recent.updated_at, recent.session_started_at, recent.away_since
FROM conversations_thread AS thread
JOIN conversations_assistant AS assistant ON assistant.id = thread.assistant_id
LEFT JOIN conversations_reply AS running ON running.thread_id = thread.id AND running.status = 'running'
LEFT JOIN conversations_message AS known ON known.thread_id = thread.id AND known.client_message_id = %(sent)s
LEFT JOIN LATERAL (
    SELECT id, role, parent_id, token_total FROM conversations_message
    WHERE thread_id = thread.id AND is_active ORDER BY position DESC LIMIT 1
) AS before ON true
LEFT JOIN LATERAL (
    SELECT updated_at, session_started_at, away_since FROM conversations_thread
    WHERE user_id = thread.user_id AND message_count > 0 ORDER BY updated_at DESC, id DESC LIMIT 1
) AS recent ON true
WHERE thread.id = %(thread)s AND thread.user_id = %(user)s
"""

LOOK = "SELECT " + THREAD_AND_ASSISTANT + PLACE

NEW_THREAD = """
WITH step AS (
    INSERT INTO conversations_thread
    SELECT new.* FROM jsonb_populate_record(NULL::conversations_thread, %(thread)s) AS new
    RETURNING id
), """

# Nobody else may have written to the thread since it was looked at, nor cleared it; a lock would have to be held while the
# context is built. A title that was given meanwhile stays.
SAME_THREAD = """
WITH step AS (
    UPDATE conversations_thread AS thread
    SET last_position = new.last_position, message_count = new.message_count, updated_at = new.updated_at,
        session_started_at = new.session_started_at, away_since = new.away_since,
        title = CASE WHEN thread.title = '' THEN new.title ELSE thread.title END
    FROM jsonb_populate_record(NULL::conversations_thread, %(thread)s) AS new
    WHERE thread.id = new.id AND thread.last_position = %(last_position)s AND thread.cleared_through = new.cleared_through
    RETURNING thread.id
), """

# The reply is written to as well, so that an end that is being stored meanwhile looks again and ends this request too.
RUNNING_REPLY = """
WITH step AS (
    UPDATE conversations_reply SET lease_until = now() + %(lease)s
    WHERE id = %(reply)s AND status = 'running'
    RETURNING id
), """

OPENED = "SELECT array_agg(token_id) FILTER (WHERE is_new) FROM allowance HAVING count(*) > 0"
RECORDED = "SELECT id FROM step"

# A text that is known stays as it is; it was stored by an earlier request.
REQUEST = """snapshot AS (
    INSERT INTO conversations_contextsnapshot
    SELECT new.* FROM step, jsonb_populate_recordset(NULL::conversations_contextsnapshot, %(snapshots)s) AS new
), block AS (
    INSERT INTO conversations_contextblock (thread_id, sha256, text)
    SELECT new.thread_id, new.sha256, new.text
    FROM step, jsonb_populate_recordset(NULL::conversations_contextblock, %(blocks)s) AS new
    ON CONFLICT DO NOTHING
)
"""

# One row of the user's decides, so that of many replies that begin at once only as many do as the limits leave room for; and
# one of the token's, where that has limits of its own. All lock them last, the user's first. A limit that is reached fails the
# whole statement. Without an old version (xmax) there was no such row.
OPEN = """allowance AS (
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
        most_running = excluded.most_running, most_tokens = excluded.most_tokens
    RETURNING allowance.token_id, allowance.xmax = 0 AS is_new
), message AS (
    INSERT INTO conversations_message
    SELECT new.* FROM step, jsonb_populate_recordset(NULL::conversations_message, %(messages)s) AS new
), reply AS (
    INSERT INTO conversations_reply
    SELECT new.*
    FROM step, jsonb_populate_record(
        NULL::conversations_reply, %(reply)s || jsonb_build_object('lease_until', now() + %(lease)s)
    ) AS new
), """

# The thread's row is locked first, as by every other writer. Only then it shows whether the reply is still running, and nobody
# wrote to it since this statement began: a request that was recorded meanwhile would not be seen, and stay without its end.
CLOSE = """
WITH running AS (
    SELECT reply.id, reply.thread_id, reply.user_message_id, reply.continues_id, reply.lease_until, question.depth,
           question.token_total, question.status AS question_status, assistant.fallback_model,
           thread.user_id, reply.token_id, reply.reserved, (reply.created_at AT TIME ZONE 'UTC')::date AS day
    FROM conversations_reply AS reply
    JOIN conversations_thread AS thread ON thread.id = reply.thread_id
    JOIN conversations_assistant AS assistant ON assistant.id = thread.assistant_id
    LEFT JOIN conversations_message AS question ON question.id = reply.user_message_id
    WHERE reply.id = %(reply)s AND reply.status = 'running'
      AND (reply.owner = %(owner)s
           OR %(owner)s::text IS NULL AND (reply.lease_until <= now() OR reply.lease_until > now() + %(longest_lease)s))
    FOR NO KEY UPDATE OF thread
), ended AS (
    UPDATE conversations_reply AS reply
    SET status = %(status)s, stop_reason = %(stop_reason)s, usage = %(usage)s, error = %(error)s, ended_at = %(now)s
    FROM running
    WHERE reply.id = running.id AND reply.status = 'running' AND reply.lease_until = running.lease_until
    RETURNING running.*
), request AS (
    UPDATE conversations_contextsnapshot AS snapshot
    SET status = %(status)s, stop_reason = %(stop_reason)s, usage = %(request_usage)s, error = %(request_error)s,
        ended_at = %(now)s,
        provider_request_id = %(provider_request_id)s, provider_message_id = %(provider_message_id)s,
        diagnostics = %(diagnostics)s, stop_details = %(stop_details)s, thinking_ms = %(thinking_ms)s,
        first_token_ms = %(first_token_ms)s
    FROM ended
    WHERE snapshot.reply_id = ended.id AND snapshot.status = 'pending'
), answered AS (
    UPDATE conversations_message AS question SET status = %(question_status)s
    FROM ended
    WHERE question.id = ended.user_message_id
      AND question.status IN ('complete', 'refused') AND question.status <> %(question_status)s
), moved AS (
    UPDATE conversations_thread AS thread
    SET last_position = thread.last_position + 1, message_count = ended.depth + 1, updated_at = %(now)s
    FROM ended
    WHERE thread.id = ended.thread_id AND %(answer)s::jsonb IS NOT NULL
    RETURNING thread.last_position
), replaced AS (
    UPDATE conversations_message AS earlier SET is_active = false
    FROM ended, moved
    WHERE earlier.thread_id = ended.thread_id AND earlier.depth = ended.depth + 1 AND earlier.is_active
    RETURNING earlier.id
), answer AS (
    INSERT INTO conversations_message
    SELECT new.*
    FROM ended, moved, jsonb_populate_record(NULL::conversations_message, %(answer)s::jsonb || jsonb_build_object(
        'thread_id', ended.thread_id, 'parent_id', ended.user_message_id, 'position', moved.last_position,
        'depth', ended.depth + 1, 'token_total', ended.token_total + (%(answer)s::jsonb ->> 'token_count')::bigint,
        'offline', coalesce((
            SELECT provider = 'offline' FROM conversations_contextsnapshot
            WHERE reply_id = ended.id AND purpose <> 'rewrite' ORDER BY round DESC LIMIT 1
        ), false)
    )) AS new
    WHERE (SELECT count(*) FROM replaced) >= 0  -- so that what an earlier attempt left has made room
), kept AS (
    -- What an answer made before it was cut short is of the turn that goes on with it, which is now the one on the path (F4).
    UPDATE artifacts_artifactversion AS version SET message_id = (%(answer)s::jsonb ->> 'id')::uuid
    FROM ended, moved
    WHERE ended.continues_id IS NOT NULL AND version.thread_id = ended.thread_id AND (
        version.reply_id = ended.continues_id
        OR version.message_id = (SELECT id FROM conversations_message WHERE reply_id = ended.continues_id)
    )
), last AS (
    SELECT greatest(1, %(last_seq)s::int, max(seq)) + 1 AS seq FROM conversations_replyevent WHERE reply_id = %(reply)s
), event AS (
    INSERT INTO conversations_replyevent
    SELECT new.* FROM ended, jsonb_populate_recordset(NULL::conversations_replyevent, %(events)s) AS new
    ON CONFLICT DO NOTHING
), ending AS (
    INSERT INTO conversations_replyevent (reply_id, seq, type, data, at)
    SELECT ended.id, last.seq, 'reply.' || %(status)s, '{}', %(now)s FROM ended, last
), counted AS (
    SELECT allowance.id
    FROM ended, conversations_allowance AS allowance
    WHERE allowance.user_id = ended.user_id AND (allowance.token_id IS NULL OR allowance.token_id = ended.token_id)
    ORDER BY allowance.token_id NULLS FIRST  -- as they are locked by whoever begins a reply
    FOR NO KEY UPDATE OF allowance
), allowance AS (
    UPDATE conversations_allowance AS allowance
    SET running = greatest(allowance.running - 1, 0), reserved = greatest(allowance.reserved - ended.reserved, 0),
        spent = allowance.spent
                + CASE WHEN allowance.day = ended.day THEN coalesce(%(spent)s::bigint, ended.reserved) ELSE 0 END,
        most_running = NULL, most_tokens = NULL
    FROM ended, counted
    WHERE allowance.id = counted.id
)
SELECT running.thread_id, running.user_message_id, running.question_status, running.fallback_model, ended.id IS NOT NULL,
       moved.last_position, last.seq,
       newest.id, newest.message_history_count, newest.total_tokens, newest.model, newest.fallback_for
FROM running
CROSS JOIN last
LEFT JOIN ended ON true
LEFT JOIN moved ON true
LEFT JOIN LATERAL (
    SELECT id, message_history_count, total_tokens, model, fallback_for FROM conversations_contextsnapshot
    WHERE reply_id = running.id AND purpose <> 'rewrite' ORDER BY round DESC LIMIT 1
) AS newest ON true
"""


TURN_IN_NEW_THREAD = NEW_THREAD + OPEN + REQUEST + OPENED
TURN_IN_THREAD = SAME_THREAD + OPEN + REQUEST + OPENED
FURTHER_REQUEST = RUNNING_REPLY + REQUEST + RECORDED
