-- The thread's row is locked first, as by every other writer. Only then it shows whether the reply is still running, and
-- nobody wrote to it since this statement began: a request that was recorded meanwhile would not be seen, and stay without its
-- end. Its requests are looked for in the partitions of its time only.

-- name: close
WITH running AS (
    SELECT reply.id, reply.thread_id, reply.user_message_id, reply.continues_id, reply.lease_until, question.depth,
           question.token_total, question.status AS question_status, assistant.fallback_model,
           thread.user_id, reply.token_id, reply.reserved,
           -- Nothing for the last call: all that is set aside. Nothing for those before: as the reply's row has it.
           coalesce(coalesce(%(spent_before)s::bigint, reply.spent, 0) + %(spent)s::bigint, reply.reserved) AS spent,
           (reply.created_at AT TIME ZONE 'UTC')::date AS day
    FROM conversations_reply AS reply
    JOIN conversations_thread AS thread ON thread.user_id = %(user)s AND thread.id = reply.thread_id
    JOIN conversations_assistant AS assistant ON assistant.id = thread.assistant_id
    LEFT JOIN conversations_message AS question
           ON question.user_id = %(user)s AND question.id = reply.user_message_id
    WHERE reply.user_id = %(user)s AND reply.id = %(reply)s AND reply.status = 'running'
      AND (reply.owner = %(owner)s
           OR %(owner)s::text IS NULL AND (reply.lease_until <= now() OR reply.lease_until > now() + %(longest_lease)s))
    FOR NO KEY UPDATE OF thread
), ended AS (
    UPDATE conversations_reply AS reply
    SET status = %(status)s, stop_reason = %(stop_reason)s, usage = %(usage)s, error = %(error)s, ended_at = %(now)s,
        spent = running.spent
    FROM running
    WHERE reply.user_id = %(user)s AND reply.id = running.id AND reply.status = 'running'
      AND reply.lease_until = running.lease_until
    RETURNING running.*
), request AS (
    UPDATE conversations_contextsnapshot AS snapshot
    SET status = %(status)s, stop_reason = new.stop_reason, usage = new.usage, error = new.error, ended_at = %(now)s,
        provider_request_id = new.provider_request_id, provider_message_id = new.provider_message_id,
        diagnostics = new.diagnostics, stop_details = new.stop_details, thinking_ms = new.thinking_ms,
        first_token_ms = new.first_token_ms
    FROM ended, jsonb_populate_record(NULL::conversations_contextsnapshot, %(response)s) AS new
    WHERE snapshot.user_id = %(user)s AND snapshot.reply_id = ended.id AND snapshot.status = 'pending'
      AND snapshot.id >= %(earliest)s AND snapshot.id < %(latest)s
), answered AS (
    UPDATE conversations_message AS question SET status = %(question_status)s
    FROM ended
    WHERE question.user_id = %(user)s AND question.id = ended.user_message_id
      AND question.status IN ('complete', 'refused') AND question.status <> %(question_status)s
), moved AS (
    UPDATE conversations_thread AS thread
    SET last_position = thread.last_position + 1, message_count = ended.depth + 1, updated_at = %(now)s
    FROM ended
    WHERE thread.user_id = %(user)s AND thread.id = ended.thread_id AND %(answer)s::jsonb IS NOT NULL
    RETURNING thread.last_position
), replaced AS (
    UPDATE conversations_message AS earlier SET is_active = false
    FROM ended, moved
    WHERE earlier.user_id = %(user)s AND earlier.thread_id = ended.thread_id
      AND earlier.depth = ended.depth + 1 AND earlier.is_active
    RETURNING earlier.id, earlier.position
), answer AS (
    INSERT INTO conversations_message
    SELECT new.*
    FROM ended, moved, jsonb_populate_record(NULL::conversations_message, %(answer)s::jsonb || jsonb_build_object(
        'thread_id', ended.thread_id, 'user_id', ended.user_id, 'parent_id', ended.user_message_id,
        'position', moved.last_position,
        'depth', ended.depth + 1, 'token_total', ended.token_total + (%(answer)s::jsonb ->> 'token_count')::bigint,
        'offline', coalesce((
            SELECT provider = 'offline' FROM conversations_contextsnapshot
            WHERE user_id = %(user)s AND reply_id = ended.id AND purpose <> 'rewrite'
              AND id >= %(earliest)s AND id < %(latest)s
            ORDER BY round DESC LIMIT 1
        ), false)
    )) AS new
    WHERE (SELECT count(*) FROM replaced) >= 0  -- so that what an earlier attempt left has made room
), kept AS (
    -- What an answer made before it was cut short is of the turn that goes on with it, which is now the one on the path (F4).
    UPDATE artifacts_artifactversion AS version SET message_id = (%(answer)s::jsonb ->> 'id')::uuid
    FROM ended, moved
    WHERE ended.continues_id IS NOT NULL AND version.user_id = %(user)s AND version.thread_id = ended.thread_id AND (
        version.reply_id = ended.continues_id
        OR version.message_id = (
            SELECT id FROM conversations_message WHERE user_id = %(user)s AND reply_id = ended.continues_id
        )
    )
), last AS (
    SELECT greatest(1, %(last_seq)s::int, max(seq)) + 1 AS seq FROM conversations_replyevent
    WHERE user_id = %(user)s AND reply_id = %(reply)s
), event AS (
    INSERT INTO conversations_replyevent (reply_id, user_id, seq, type, data, at)
    SELECT ended.id, ended.user_id, new.seq, new.type, new.data, new.at
    FROM ended, jsonb_populate_recordset(NULL::conversations_replyevent, %(events)s) AS new
    ON CONFLICT DO NOTHING
), ending AS (
    INSERT INTO conversations_replyevent (reply_id, user_id, seq, type, data, at)
    SELECT ended.id, ended.user_id, last.seq, 'reply.' || %(status)s, '{}', %(now)s FROM ended, last
), told AS (
    -- Who wants to hear of it, as `webhooks/outbox.sql` has it.
    INSERT INTO conversations_webhookdelivery (id, webhook_id, user_id, event, data, created_at, due_at)
    SELECT gen_random_uuid(), webhook.id, ended.user_id, %(webhook_event)s::text, jsonb_build_object(
        'user', ended.user_id, 'reply', ended.id, 'thread', ended.thread_id,
        'message', (%(answer)s::jsonb ->> 'id'), 'status', %(status)s::text
    ), %(now)s::timestamptz, %(now)s::timestamptz
    FROM ended, conversations_webhook AS webhook
    WHERE webhook.is_active AND (webhook.user_id = %(user)s OR webhook.for_all)
      AND %(webhook_event)s::text = ANY(webhook.events)
), counted AS (
    SELECT allowance.id
    FROM ended, conversations_allowance AS allowance
    WHERE allowance.user_id = %(user)s AND (allowance.token_id IS NULL OR allowance.token_id = ended.token_id)
    ORDER BY allowance.token_id NULLS FIRST  -- as they are locked by whoever begins a reply
    FOR NO KEY UPDATE OF allowance
), allowance AS (
    UPDATE conversations_allowance AS allowance
    SET running = greatest(allowance.running - 1, 0), reserved = greatest(allowance.reserved - ended.reserved, 0),
        spent = allowance.spent
                + CASE WHEN allowance.day = ended.day THEN ended.spent ELSE 0 END,
        most_running = NULL, most_tokens = NULL
    FROM ended, counted
    WHERE allowance.user_id = %(user)s AND allowance.id = counted.id
), taken AS (
    SELECT charge.id, charge.budget_id, charge.user_id, charge.reserved_tokens, charge.reserved_money, charge.day,
           ended.spent AS tokens,
           coalesce(coalesce(%(money_before)s::bigint, charge.spent_money) + %(money)s::bigint, charge.reserved_money) AS money
    FROM ended JOIN conversations_budgetcharge AS charge ON charge.reply_id = ended.id AND charge.is_open
    FOR NO KEY UPDATE OF charge
),
-- part: settle
SELECT running.thread_id, running.user_message_id, running.depth, running.question_status, running.fallback_model,
       ended.id IS NOT NULL AS has_ended, moved.last_position AS position, last.seq,
       replaced.id AS replaced_id, replaced.position AS replaced_position,
       newest.id, newest.message_history_count, newest.total_tokens, newest.provider, newest.model, newest.fallback_for,
       newest.fallback_cause
FROM running
CROSS JOIN last
LEFT JOIN ended ON true
LEFT JOIN moved ON true
LEFT JOIN replaced ON true
LEFT JOIN LATERAL (
    SELECT id, message_history_count, total_tokens, provider, model, fallback_for, fallback_cause
    FROM conversations_contextsnapshot
    WHERE user_id = %(user)s AND reply_id = running.id AND purpose <> 'rewrite'
      AND id >= %(earliest)s AND id < %(latest)s
    ORDER BY round DESC LIMIT 1
) AS newest ON true
