-- name: rank
-- What is common is known beforehand, what is rare is counted as it is found. The bits of a turn tell which of the twelve words
-- it holds (where there are fewer, the other terms are NULL, and cost nothing): turns differ in few combinations of them, and so
-- each is weighed once. p0 to p3 are pairs of words that a turn may hold together.
WITH wanted AS MATERIALIZED (
    SELECT * FROM unnest(%(terms)s::int[], %(known)s::float[]) WITH ORDINALITY AS wanted (term, known, number)
), fresh AS MATERIALIZED (
    SELECT * FROM jsonb_populate_recordset(NULL::memory_indexedturn, %(fresh)s)
), found AS MATERIALIZED (
    SELECT thread_id, depth, day, length, ((%(t0)s::int=ANY(terms))IS TRUE)::int*1
        + ((%(t1)s::int=ANY(terms))IS TRUE)::int*2
        + ((%(t2)s::int=ANY(terms))IS TRUE)::int*4
        + ((%(t3)s::int=ANY(terms))IS TRUE)::int*8
        + ((%(t4)s::int=ANY(terms))IS TRUE)::int*16
        + ((%(t5)s::int=ANY(terms))IS TRUE)::int*32
        + ((%(t6)s::int=ANY(terms))IS TRUE)::int*64
        + ((%(t7)s::int=ANY(terms))IS TRUE)::int*128
        + ((%(t8)s::int=ANY(terms))IS TRUE)::int*256
        + ((%(t9)s::int=ANY(terms))IS TRUE)::int*512
        + ((%(t10)s::int=ANY(terms))IS TRUE)::int*1024
        + ((%(t11)s::int=ANY(terms))IS TRUE)::int*2048 AS bits
    FROM (
        (SELECT thread_id, depth, day, length, terms FROM memory_indexedturn
         WHERE user_id = %(user)s AND (terms && %(rare)s::int[]
              OR terms @> %(p0)s::int[]
              OR terms @> %(p1)s::int[]
              OR terms @> %(p2)s::int[]
              OR terms @> %(p3)s::int[])
         LIMIT %(most)s)
        UNION ALL
        SELECT thread_id, depth, day, length, terms FROM fresh
    ) AS candidate
), masks AS MATERIALIZED (
    SELECT bits, count(*) AS turns FROM found GROUP BY bits
), known AS (
    SELECT number, greatest(%(turns)s::float, (SELECT sum(turns) FROM masks)) AS turns,
           CASE WHEN known >= 0 THEN known ELSE coalesce(sum(masks.turns), 0)::float END AS holding
    FROM wanted LEFT JOIN masks ON (masks.bits >> (number::int - 1)) & 1 = 1
    GROUP BY number, known
), weights AS MATERIALIZED (
    SELECT bits, sum(ln(1 + (greatest(known.turns - holding, 0) + 0.5) / (holding + 0.5)))
                 * (1 + %(further)s::float * (count(*) - 1)) AS weight
    FROM masks JOIN known ON (bits >> (number::int - 1)) & 1 = 1
    GROUP BY bits
), scored AS MATERIALIZED (
    SELECT thread_id, depth,
           coalesce(weight, 0) * 2 / (1.5 + 0.5 * length / %(mean)s::float)
           + (day <@ ANY(%(spans)s::daterange[]))::int AS score
    FROM found LEFT JOIN weights USING (bits)
    ORDER BY score DESC, thread_id, depth LIMIT %(scored)s
), around AS MATERIALIZED (
    SELECT thread_id, scored.depth + away AS depth, sum(score * share) AS score
    FROM scored, unnest(%(away)s::int[], %(share)s::float[]) AS spread (away, share)
    WHERE score > 0 AND (thread_id IS DISTINCT FROM %(here)s::uuid OR scored.depth + away < %(before)s::int)
    GROUP BY thread_id, scored.depth + away
    ORDER BY score DESC, thread_id, depth LIMIT %(wanted)s * 3 / 2
)
SELECT thread_id, depth,
       score * (1 + %(spoken)s::float * (speaker = ANY(%(speakers)s::int[]))::int) * (1 + %(asking)s::float * asks::int)
       * (1 + %(in_span)s::float * (day <@ ANY(%(spans)s::daterange[]))::int) AS score
FROM (
    SELECT thread_id, depth, score, speaker, asks, day
    FROM around JOIN memory_indexedturn USING (thread_id, depth)
    UNION ALL
    SELECT thread_id, depth, score, speaker, asks, day
    FROM around JOIN fresh USING (thread_id, depth)
) AS told
ORDER BY score DESC, thread_id, depth DESC LIMIT %(wanted)s

-- name: vocabulary
SELECT turns, length, names, indexed_until,
       (SELECT json_object_agg(term, share) FROM unnest(common, shares) AS word (term, share)
        WHERE term = ANY(%(terms)s::int[]))::text AS shares
FROM memory_vocabulary WHERE user_id = %(user)s
