-- name: uses
-- Per item, the requests of its person that held it. What stands all session long is told by a block of the thread, which
-- its requests name; what was found for one message by the request itself. An item's account is written in one order of keys
-- (snapshots.packed_items), and only what a request names as such an account is read as one.
WITH standing AS MATERIALIZED (
    SELECT block.thread_id, block.sha256, item[1] AS id, item[2]::int AS tokens
    FROM conversations_thread AS thread
    JOIN conversations_contextblock AS block ON block.thread_id = thread.id AND block.user_id = %(user)s
    CROSS JOIN LATERAL regexp_matches(
        block.text, '"id":"([0-9a-f-]{36})","included":true,"reason":"[a-z_]+","tokens":([0-9]{1,7})', 'g'
    ) AS item
    WHERE thread.user_id = %(user)s AND block.text LIKE '[{"kind":"%%' AND item[1] = ANY(%(ids)s)
), held AS (
    SELECT standing.id, snapshot.id AS request, snapshot.reply_id, snapshot.created_at, standing.tokens
    FROM standing
    JOIN conversations_contextsnapshot AS snapshot
      ON snapshot.user_id = %(user)s AND snapshot.thread_id = standing.thread_id AND snapshot.items = standing.sha256
    UNION ALL
    SELECT item ->> 'id', snapshot.id, snapshot.reply_id, snapshot.created_at, (item ->> 'tokens')::int
    FROM conversations_thread AS thread
    JOIN conversations_contextsnapshot AS snapshot
      ON snapshot.user_id = %(user)s AND snapshot.thread_id = thread.id AND snapshot.recalled IS NOT NULL
    CROSS JOIN LATERAL jsonb_array_elements(snapshot.recalled) AS item
    WHERE thread.user_id = %(user)s
      AND item ->> 'id' = ANY(%(ids)s) AND (item ->> 'included')::boolean
)
SELECT id, count(DISTINCT request), count(DISTINCT reply_id), sum(tokens), max(created_at) FROM held GROUP BY id
