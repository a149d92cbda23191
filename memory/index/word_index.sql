-- name: store
-- A place of a path can get another turn, when a reply is tried again. Whoever is late changes nothing, nor brings back a turn
-- that was cleared away meanwhile: the lock waits for whoever clears the thread.
WITH stored AS (
    INSERT INTO memory_indexedturn AS indexed
    SELECT new.* FROM jsonb_populate_recordset(NULL::memory_indexedturn, %(rows)s) AS new
    JOIN conversations_thread AS thread ON thread.id = new.thread_id AND thread.cleared_through < new.position
    FOR KEY SHARE OF thread
    ON CONFLICT (thread_id, depth) DO UPDATE
    SET position = excluded.position, day = excluded.day, speaker = excluded.speaker, asks = excluded.asks,
        length = excluded.length, terms = excluded.terms
    WHERE indexed.position < excluded.position
    RETURNING user_id, length
)
UPDATE memory_vocabulary AS vocabulary
SET turns = vocabulary.turns + added.turns, length = vocabulary.length + added.length
FROM (SELECT user_id, count(*) AS turns, sum(length) AS length FROM stored GROUP BY user_id) AS added
WHERE vocabulary.user_id = added.user_id

-- name: count
WITH every AS MATERIALIZED (
    SELECT count(*) AS turns, coalesce(sum(length), 0) AS length, count(*) / %(sample)s + 1 AS step
    FROM memory_indexedturn WHERE thread_id = ANY(%(threads)s)
), drawn AS MATERIALIZED (
    SELECT speaker, terms FROM memory_indexedturn, every WHERE thread_id = ANY(%(threads)s) AND depth %% step = 0
), size AS (
    SELECT count(*)::float AS turns FROM drawn
), common AS (
    SELECT term, (count(*) * 1000000 / max(size.turns))::int AS share FROM size, drawn, unnest(terms) AS term
    GROUP BY term HAVING count(*) * %(common)s > max(size.turns)
), names AS (
    SELECT speaker FROM size, drawn WHERE speaker <> ALL(%(roles)s)
    GROUP BY speaker HAVING count(*) * %(names)s > max(size.turns)
)
INSERT INTO memory_vocabulary (user_id, turns, length, counted_turns, common, shares, names)
SELECT %(user)s, turns, length, turns,
       coalesce((SELECT array_agg(term ORDER BY term) FROM common), '{}'),
       coalesce((SELECT array_agg(share ORDER BY term) FROM common), '{}'),
       coalesce((SELECT array_agg(speaker) FROM names), '{}')
FROM every
ON CONFLICT (user_id) DO UPDATE
SET turns = excluded.turns, length = excluded.length, counted_turns = excluded.counted_turns,
    common = excluded.common, shares = excluded.shares, names = excluded.names
