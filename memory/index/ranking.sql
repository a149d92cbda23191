-- name: rank
-- What is common is known beforehand, what is rare is counted as it is found. The bits of a passage tell which of the twelve
-- words it holds, t0 to t11 (NULL, which costs nothing, where there are fewer) or other forms of them: passages differ in few
-- combinations of them, and so each is weighed once. p0 to p2 are pairs of words that a passage may hold together. Of the
-- thread that is asked in more are looked at; by the index of words, as the thread may be long.
-- An echo is a passage that holds nothing beside the text: an earlier question of the same, or the person's same request. It is no evidence: neither how rare its words are nor what its conversation holds is told by it, and it comes behind
-- what answers it. Scores are rounded: a sum depends in its last digit on the order of what is added, which must not decide
-- between turns that bear on the text alike.
WITH wanted AS (
    SELECT * FROM unnest(%(known)s::float[]) WITH ORDINALITY AS word (known, n)
), fresh AS (
    -- Turns that were not indexed when they were read, unless they are by now.
    SELECT * FROM jsonb_populate_recordset(NULL::memory_indexedpassage, %(fresh)s) AS turn
    WHERE NOT EXISTS (SELECT FROM memory_indexedpassage AS i
                      WHERE i.user_id = %(user)s AND (i.thread_id, i.depth) = (turn.thread_id, turn.depth)
                        AND i.position = turn.position)
), named AS (
    -- The threads of the projects that are open, or of those that are not.
    SELECT id FROM conversations_thread WHERE user_id = %(user)s AND project_id = ANY(%(projects)s::uuid[])
), found AS (
    SELECT thread_id, depth, number, day, speaker, length,
           length <= %(longest)s::int AND (asks OR (speaker = %(person)s::int AND length >= %(shortest)s::int))
           AND (SELECT count(*) FROM unnest(terms) AS own (term) WHERE own.term = ANY(%(every)s::int[])) >= length * 0.8::float
           AS echo, CASE WHEN terms && %(others)s::int[] THEN (
            SELECT bit_or(1 << n) FROM unnest(%(others)s::int[], %(places)s::int[]) AS other (term, n)
            WHERE term = ANY(terms)) ELSE 0 END | (
        ((%(t0)s=ANY(terms))IS TRUE)::int*1
        + ((%(t1)s=ANY(terms))IS TRUE)::int*2
        + ((%(t2)s=ANY(terms))IS TRUE)::int*4
        + ((%(t3)s=ANY(terms))IS TRUE)::int*8
        + ((%(t4)s=ANY(terms))IS TRUE)::int*16
        + ((%(t5)s=ANY(terms))IS TRUE)::int*32
        + ((%(t6)s=ANY(terms))IS TRUE)::int*64
        + ((%(t7)s=ANY(terms))IS TRUE)::int*128
        + ((%(t8)s=ANY(terms))IS TRUE)::int*256
        + ((%(t9)s=ANY(terms))IS TRUE)::int*512
        + ((%(t10)s=ANY(terms))IS TRUE)::int*1024
        + ((%(t11)s=ANY(terms))IS TRUE)::int*2048) AS bits
    FROM (
        (SELECT * FROM memory_indexedpassage
         WHERE user_id = %(user)s AND (terms && %(rare)s::int[] OR terms @> %(p0)s::int[] OR terms @> %(p1)s::int[]
                                       OR terms @> %(p2)s::int[])
           AND (thread_id IN (SELECT id FROM named)) = %(confined)s::bool
         LIMIT %(most)s)
        UNION ALL
        SELECT * FROM memory_indexedpassage
        WHERE user_id = %(user)s AND thread_id IS NOT DISTINCT FROM %(here)s 
              AND terms && %(rest)s::int[] AND NOT terms && %(rare)s::int[]
        UNION ALL
        SELECT * FROM fresh WHERE (thread_id IN (SELECT id FROM named)) = %(confined)s::bool
    ) passage
), masks AS (
    SELECT bits, count(*) FILTER (WHERE NOT echo) AS passages FROM found GROUP BY bits
), counted AS (
    SELECT 1 << (n::int - 1) AS bit, greatest(%(passages)s::float, (SELECT sum(passages) FROM masks)) AS every,
           CASE WHEN known >= 0 THEN known ELSE coalesce(sum(passages), 0) END AS holding
    FROM wanted LEFT JOIN masks ON bits & (1 << (n::int - 1)) > 0
    GROUP BY n, known
), words AS (
    SELECT bit, ln(1 + (greatest(every - holding, 0) + 0.5) / (holding + 0.5)) AS rarity FROM counted
), weights AS (
    -- Half as much again for each further word.
    SELECT bits, sum(rarity) * (1 + 0.5 * (count(*) - 1)) AS weight FROM masks JOIN words ON bits & bit > 0 GROUP BY bits
), threads AS (
    -- How much of what is looked for a conversation holds, and how far what is talked of there reaches: further where turns are
    -- short.
    SELECT thread_id, least(2, greatest(1, 10 / avg(length + 1e-1)))::float AS reach,
           bool_or(speaker = ANY(%(speakers)s::int[]))::int
           + (SELECT coalesce(sum(rarity * (coalesce(bit_or(found.bits) FILTER (WHERE NOT echo), 0) & bit > 0)::int)
                              / sum(rarity), 0) FROM words) AS share
    FROM found GROUP BY thread_id
), scored AS (
    SELECT thread_id, depth, number, echo,
           ((coalesce(weight, 0) * 2 / (1.5 + length / %(mean)s::float / 2) + (day <@ ANY(%(spans)s::daterange[]))::int)
            * (1 + share) * (2 + (thread_id IS NOT DISTINCT FROM %(here)s)::int) / 2
            * (10 + 3 * (speaker = %(person)s::int)::int) / 10 * CASE WHEN echo THEN 0.05::float ELSE 1 END)::real AS score
    FROM found LEFT JOIN weights USING (bits) JOIN threads USING (thread_id)
    ORDER BY score DESC, thread_id, depth, number LIMIT %(scored)s
), best AS (
    SELECT thread_id, depth, max(score) AS score FROM scored WHERE score > 0 GROUP BY thread_id, depth
), near AS (
    -- An answer stands beside its question: what bears on the text gives of its score to the turns around it.
    SELECT thread_id, best.depth + away AS depth,
           sum(score * CASE away WHEN 0 THEN 1 ELSE 0.6 * 0.7::float ^ ((abs(away) - 1) / reach) END)::real AS score
    FROM best JOIN threads USING (thread_id), generate_series((-5 * reach)::int, (5 * reach)::int) AS away
    WHERE thread_id IS DISTINCT FROM %(here)s OR best.depth + away < %(before)s::int
    GROUP BY thread_id, best.depth + away
    ORDER BY score DESC, thread_id, depth LIMIT %(wanted)s * 3 / 2
)
SELECT thread_id, depth, number, position, start, size, count(*) OVER (PARTITION BY thread_id, depth) AS passages,
       ((coalesce(own.score, 0) + (near.score - coalesce(best.score, 0))
                                  * CASE WHEN own.score > 0 OR number = 0 THEN 1 ELSE 0.3::float END)
        * (5 + 2 * (speaker = ANY(%(speakers)s::int[]))::int) * (10 - 3 * (asks AND length < 10)::int)
        * CASE WHEN own.echo THEN 0.2::float ELSE 1 END
        * (2 + (day <@ ANY(%(spans)s::daterange[]))::int) / 100)::real AS score
FROM near CROSS JOIN LATERAL (
    SELECT number, position, start, size, speaker, asks, day, length FROM memory_indexedpassage AS i
    WHERE i.user_id = %(user)s AND (i.thread_id, i.depth) = (near.thread_id, near.depth)
    UNION ALL
    SELECT number, position, start, size, speaker, asks, day, length FROM fresh AS f
    WHERE (f.thread_id, f.depth) = (near.thread_id, near.depth)
) passage
LEFT JOIN best USING (thread_id, depth) LEFT JOIN scored own USING (thread_id, depth, number)
ORDER BY score DESC, thread_id, depth DESC, number LIMIT %(wanted)s

-- name: spellings
-- Which of the terms stand anywhere in what the person's turns hold.
SELECT DISTINCT term
FROM (SELECT terms FROM memory_indexedpassage WHERE user_id = %(user)s AND terms && %(spellings)s::int[] LIMIT 200) AS passage,
     unnest(terms) AS term
WHERE term IN (SELECT unnest(%(spellings)s::int[]))

-- name: vocabulary
SELECT turns, length, names, indexed_until,
       (SELECT json_object_agg(term, share) FROM unnest(common, shares) AS word (term, share)
        WHERE term = ANY(%(terms)s::int[]))::text AS shares
FROM memory_vocabulary WHERE user_id = %(user)s
