-- name: tables
-- As many dimensions as the model has.
CREATE EXTENSION IF NOT EXISTS vector;
CREATE TABLE memory_turnvector (
    thread_id uuid NOT NULL,
    depth integer NOT NULL,
    position integer NOT NULL,
    user_id integer NOT NULL,
    point vector(256) NOT NULL,
    PRIMARY KEY (thread_id, depth),
    FOREIGN KEY (thread_id, depth) REFERENCES memory_indexedturn (thread_id, depth) ON DELETE CASCADE
);
CREATE INDEX turn_vector_user ON memory_turnvector (user_id);
CREATE INDEX turn_vector_point ON memory_turnvector USING hnsw (point vector_ip_ops);
CREATE OR REPLACE FUNCTION memory_point_leaves() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM memory_turnvector WHERE thread_id = NEW.thread_id AND depth = NEW.depth;
    RETURN NULL;
END $$;
CREATE TRIGGER memory_point_leaves AFTER UPDATE ON memory_indexedturn FOR EACH ROW
    WHEN (NEW.length = 0 OR NEW.position <> OLD.position) EXECUTE FUNCTION memory_point_leaves();

-- name: store
-- Locked, so that what is forgotten at this moment either has no row any more or waits, and then finds this one.
INSERT INTO memory_turnvector AS stored (thread_id, depth, position, user_id, point)
SELECT indexed.thread_id, indexed.depth, indexed.position, indexed.user_id, new.point::vector
FROM unnest(%(threads)s::uuid[], %(depths)s::int[], %(positions)s::int[], %(points)s::text[])
     AS new (thread_id, depth, position, point)
JOIN memory_indexedturn AS indexed USING (thread_id, depth)
WHERE indexed.position = new.position AND indexed.length > 0
ORDER BY thread_id, depth
FOR SHARE OF indexed
ON CONFLICT (thread_id, depth) DO UPDATE SET position = excluded.position, point = excluded.point
WHERE stored.position < excluded.position

-- name: search_graph
-- As many turns as are looked at below.
SET LOCAL hnsw.iterative_scan = relaxed_order;
SET LOCAL hnsw.ef_search = 100

-- name: near_by_graph
-- The point is read once, not for each turn. A turn's closeness is spread to the turns around it, as the score of its words is.
WITH closest AS MATERIALIZED (
    SELECT thread_id, depth, -(point <#> (SELECT %(point)s::vector)) - %(far)s::float AS score
    FROM memory_turnvector WHERE user_id = %(user)s
    ORDER BY point <#> (SELECT %(point)s::vector) LIMIT 100
)
SELECT thread_id, closest.depth + away AS depth, sum(score * share) AS score
FROM closest, unnest(%(away)s::int[], %(share)s::float[]) AS spread (away, share)
WHERE score > 0 AND (thread_id IS DISTINCT FROM %(here)s::uuid OR closest.depth + away < %(before)s::int)
GROUP BY thread_id, closest.depth + away
ORDER BY score DESC, thread_id, depth LIMIT %(wanted)s

-- name: near_one_by_one
-- The same in an order that no index knows.
WITH closest AS MATERIALIZED (
    SELECT thread_id, depth, -(point <#> (SELECT %(point)s::vector)) - %(far)s::float AS score
    FROM memory_turnvector WHERE user_id = %(user)s
    ORDER BY (point <#> (SELECT %(point)s::vector)) + 0 LIMIT 100
)
SELECT thread_id, closest.depth + away AS depth, sum(score * share) AS score
FROM closest, unnest(%(away)s::int[], %(share)s::float[]) AS spread (away, share)
WHERE score > 0 AND (thread_id IS DISTINCT FROM %(here)s::uuid OR closest.depth + away < %(before)s::int)
GROUP BY thread_id, closest.depth + away
ORDER BY score DESC, thread_id, depth LIMIT %(wanted)s
