-- name: store
-- A place of a path can get another turn, when a reply is tried again, of fewer passages. Whoever is late changes nothing, nor
-- brings back a turn that was cleared away meanwhile, or is on the path no more: the lock waits for whoever clears the thread
-- or moves its path.
WITH new AS MATERIALIZED (
    SELECT passage.* FROM jsonb_populate_recordset(NULL::memory_indexedpassage, %(rows)s) AS passage
    JOIN conversations_thread AS thread
      ON thread.user_id = %(user)s AND thread.id = passage.thread_id AND thread.cleared_through < passage.position
     AND NOT thread.temporary AND (thread.path_version = (%(paths)s::jsonb ->> thread.id::text)::int) IS NOT FALSE
    WHERE NOT EXISTS (SELECT FROM memory_indexedpassage AS newer
                      WHERE newer.user_id = %(user)s AND newer.thread_id = passage.thread_id AND newer.depth = passage.depth
                        AND newer.position > passage.position)
    FOR KEY SHARE OF thread
), stored AS (
    INSERT INTO memory_indexedpassage AS indexed
    SELECT * FROM new
    ON CONFLICT ON CONSTRAINT memory_indexedpassage_pkey DO UPDATE
    SET position = excluded.position, start = excluded.start, size = excluded.size, day = excluded.day,
        speaker = excluded.speaker, asks = excluded.asks, length = excluded.length, terms = excluded.terms
    WHERE indexed.position < excluded.position
    RETURNING user_id, length
), shorter AS (
    DELETE FROM memory_indexedpassage AS old
    USING (SELECT thread_id, depth, position, max(number) AS last FROM new GROUP BY thread_id, depth, position) AS turn
    WHERE old.user_id = %(user)s AND old.thread_id = turn.thread_id AND old.depth = turn.depth AND old.number > turn.last
      AND old.position < turn.position
)
UPDATE memory_vocabulary AS vocabulary
SET turns = vocabulary.turns + added.turns, length = vocabulary.length + added.length,
    indexed_until = coalesce(%(until)s::timestamptz, vocabulary.indexed_until)
FROM (SELECT count(*) AS turns, coalesce(sum(length), 0) AS length FROM stored) AS added
WHERE vocabulary.user_id = %(user)s AND (added.turns > 0 OR %(until)s::timestamptz IS NOT NULL)
RETURNING vocabulary.turns > vocabulary.counted_turns * 5 / 4 + 20

-- name: count
WITH every AS MATERIALIZED (
    SELECT count(*) AS turns, coalesce(sum(length), 0) AS length, count(*) / %(sample)s + 1 AS step
    FROM memory_indexedpassage WHERE user_id = %(user)s AND thread_id = ANY(%(threads)s)
), drawn AS MATERIALIZED (
    SELECT thread_id, speaker, terms FROM memory_indexedpassage, every
    WHERE user_id = %(user)s AND thread_id = ANY(%(threads)s) AND depth %% step = 0
), size AS (
    SELECT count(*)::float AS turns FROM drawn
), common AS (
    SELECT term, (count(*) * 1000000 / max(size.turns))::int AS share FROM size, drawn, unnest(terms) AS term
    GROUP BY term HAVING count(*) * %(common)s > max(size.turns)
), names AS (
    -- Who speaks in a conversation, however small a part of all talk that is.
    SELECT speaker FROM (
        SELECT speaker, count(*) AS said, sum(count(*)) OVER (PARTITION BY thread_id) AS passages
        FROM drawn GROUP BY thread_id, speaker
    ) AS voice
    WHERE speaker <> ALL(%(roles)s) AND said >= 3 AND said * %(names)s > passages
    GROUP BY speaker ORDER BY max(said) DESC, speaker LIMIT 200
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
