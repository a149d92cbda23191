-- name: held_item
-- The requests of a person that held one of these items. What stands all session long is told by a block of the thread, which
-- its requests name; what was found for one message by the request itself. An item's account is written in one order of keys
-- (snapshots.packed_items), and only what a request names as such an account is read as one. Requests that are known to have
-- held the first item in a place of its own are named themselves, with its estimated tokens.
WITH standing AS MATERIALIZED (
    SELECT block.thread_id, block.sha256, wanted.id, told.tokens::int AS tokens
    FROM conversations_thread AS thread
    JOIN conversations_contextblock AS block ON block.thread_id = thread.id AND block.user_id = %(user)s
    CROSS JOIN unnest(%(ids)s::text[]) AS wanted(id)
    CROSS JOIN LATERAL (
        SELECT substring(
            split_part(block.text, '"id":"' || wanted.id || '","included":true,', 2)
            FROM '^"reason":"[a-z_]+","tokens":([0-9]{1,7})'
        ) AS tokens
    ) AS told
    WHERE thread.user_id = %(user)s AND block.text LIKE '[{"kind":"%%' AND told.tokens IS NOT NULL
), held AS (
    SELECT standing.id, snapshot.id AS request, snapshot.reply_id, snapshot.created_at, snapshot.thread_id,
           snapshot.provider, snapshot.model, standing.tokens
    FROM standing
    JOIN conversations_contextsnapshot AS snapshot
      ON snapshot.user_id = %(user)s AND snapshot.thread_id = standing.thread_id AND snapshot.items = standing.sha256
    UNION ALL
    SELECT item ->> 'id', snapshot.id, snapshot.reply_id, snapshot.created_at, snapshot.thread_id,
           snapshot.provider, snapshot.model, (item ->> 'tokens')::int
    FROM conversations_thread AS thread
    JOIN conversations_contextsnapshot AS snapshot
      ON snapshot.user_id = %(user)s AND snapshot.thread_id = thread.id AND snapshot.recalled IS NOT NULL
    CROSS JOIN LATERAL jsonb_array_elements(snapshot.recalled) AS item
    WHERE thread.user_id = %(user)s
      AND item ->> 'id' = ANY(%(ids)s) AND (item ->> 'included')::boolean
    UNION ALL
    SELECT (%(ids)s)[1], id, reply_id, created_at, thread_id, provider, model, round(%(estimated)s * token_factor)::int
    FROM conversations_contextsnapshot WHERE user_id = %(user)s AND id = ANY(%(here)s)
)

-- name: held_file
-- The requests of the threads in whose turns a file of a person stands, or of the threads of its project, that held a part of
-- it: in turns (file, parts, whether outlined, tokens), or read by a tool (file, parts, tokens).
WITH place AS MATERIALIZED (
    SELECT turn.thread_id FROM conversations_turnfile AS turn WHERE turn.file_id = %(file)s AND turn.user_id = %(user)s
    UNION
    SELECT thread.id FROM conversations_file AS file
    JOIN conversations_thread AS thread ON thread.user_id = %(user)s AND thread.project_id = file.project_id
    WHERE file.id = %(file)s AND file.user_id = %(user)s
), held AS (
    SELECT %(file)s::text AS id, snapshot.id AS request, snapshot.reply_id, snapshot.created_at, snapshot.thread_id,
           snapshot.provider, snapshot.model, given.tokens
    FROM place
    JOIN conversations_contextsnapshot AS snapshot
      ON snapshot.user_id = %(user)s AND snapshot.thread_id = place.thread_id AND snapshot.files IS NOT NULL
    CROSS JOIN LATERAL (
        SELECT sum((part ->> -1)::int) AS tokens
        FROM (
            SELECT jsonb_path_query(snapshot.files, '$.turns.*[*]') UNION ALL SELECT jsonb_path_query(snapshot.files, '$.read[*]')
        ) AS row(part)
        WHERE part ->> 0 = %(file)s::text
    ) AS given
    WHERE given.tokens IS NOT NULL
)

-- name: uses
SELECT id, count(DISTINCT request), count(DISTINCT reply_id), sum(tokens), max(created_at) FROM held GROUP BY id

-- name: spent
-- By model and day, as prices change.
SELECT provider, model, max(created_at), sum(tokens) FROM held GROUP BY provider, model, date_trunc('day', created_at)

-- name: requests
SELECT request, thread_id, max(created_at), provider, model, sum(tokens) FROM held
WHERE %(before)s::uuid IS NULL OR request < %(before)s::uuid
GROUP BY request, thread_id, provider, model ORDER BY request DESC LIMIT %(most)s
