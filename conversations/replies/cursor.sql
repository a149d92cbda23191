-- Where a turn goes: the user's thread, what runs in it, whether the turn is there already, the turn before it, and when the
-- user was last active in whatever thread. `cursor.py` puts the columns of thread and assistant in front, as the models have
-- them: by `*` a prepared statement would break when a migration adds one.

-- name: place
running.id, known.id, before.id,
       CASE WHEN before.role = 'user' THEN before.id ELSE before.parent_id END, before.token_total,
       before.reply_id, recent.updated_at, recent.session_started_at, recent.away_since,
       (SELECT forgettings FROM conversations_allowance WHERE user_id = %(user)s AND token_id IS NULL),
       CASE WHEN thread.model > '' THEN ARRAY(
           SELECT model.provider || '/' || model.name
           FROM conversations_assistant_offered_models AS offered
           JOIN conversations_model AS model ON model.id = offered.model_id
           WHERE offered.assistant_id = thread.assistant_id AND model.is_active
       ) END,
       (SELECT json_agg(json_build_array(id, uses_outside_memory, shares_memory) ORDER BY id)::text
        FROM conversations_project WHERE user_id = %(user)s),
       (SELECT json_agg(json_build_array(access.assistants, access.models, access.connections, access.tools))::text
        FROM conversations_groupaccess AS access
        JOIN auth_user_groups AS membership ON membership.group_id = access.group_id AND membership.user_id = %(user)s)
FROM conversations_thread AS thread
JOIN conversations_assistant AS assistant ON assistant.id = thread.assistant_id
LEFT JOIN conversations_reply AS running
       ON running.user_id = %(user)s AND running.thread_id = thread.id AND running.status = 'running'
LEFT JOIN conversations_message AS known
       ON known.user_id = %(user)s AND known.thread_id = thread.id AND known.client_message_id = %(sent)s
LEFT JOIN LATERAL (
    SELECT id, role, parent_id, token_total, reply_id FROM conversations_message
    WHERE user_id = %(user)s AND thread_id = thread.id AND is_active ORDER BY depth DESC LIMIT 1
) AS before ON true
LEFT JOIN LATERAL (
    SELECT updated_at, session_started_at, away_since FROM conversations_thread
    WHERE user_id = %(user)s AND message_count > 0 ORDER BY updated_at DESC, id DESC LIMIT 1
) AS recent ON true
WHERE thread.id = %(thread)s AND thread.user_id = %(user)s

-- name: opening
SELECT (SELECT forgettings FROM conversations_allowance WHERE user_id = %(user)s AND token_id IS NULL),
       (SELECT json_agg(json_build_array(access.assistants, access.models, access.connections, access.tools))::text
        FROM conversations_groupaccess AS access
        JOIN auth_user_groups AS membership ON membership.group_id = access.group_id AND membership.user_id = %(user)s)
