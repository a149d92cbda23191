-- name: known
-- How common the words are, which of them stand nowhere, and what is not indexed yet, in one round trip.
SELECT vocabulary.*, ARRAY(
           SELECT term FROM unnest(%(long)s::int[]) AS word (term)
           WHERE NOT coalesce(vocabulary.shares::jsonb ? term::text, false) AND NOT EXISTS (
               SELECT FROM memory_indexedpassage WHERE user_id = %(user)s AND terms @> ARRAY[term])),
       EXISTS (SELECT FROM memory_memory WHERE user_id = %(user)s AND superseded_by_id IS NOT NULL),
       (SELECT json_agg(fresh) FROM ({unindexed}) AS fresh)::text
FROM (SELECT) AS one LEFT JOIN ({vocabulary}) AS vocabulary ON true

-- name: turns
-- The passages that were found, of turns that still stand there. Whether they may be told depends on what stands around them
-- only where something was made in their thread or declined.
SELECT place.number, turn.id, turn.role, substr(turn.text, start + 1, size), left(turn.text, %(head)s), turn.created_at,
       turn.status, turn.offline,
       EXISTS (SELECT FROM artifacts_artifactversion
               WHERE user_id = %(user)s AND thread_id = turn.thread_id AND origin <> 'hand')
       OR EXISTS (SELECT FROM conversations_message AS near
                  WHERE near.user_id = %(user)s AND near.thread_id = turn.thread_id AND near.status = 'refused')
FROM unnest(%(threads)s::uuid[], %(depths)s::int[], %(positions)s::int[], %(starts)s::int[], %(sizes)s::int[])
     WITH ORDINALITY AS place (thread_id, depth, position, start, size, number)
JOIN conversations_thread thread
  ON thread.id = place.thread_id AND thread.user_id = %(user)s
 AND (thread.id = %(here)s OR thread.remembers AND NOT thread.temporary AND %(elsewhere)s
      AND coalesce(thread.project_id = ANY(%(projects)s::uuid[]), false) = %(confined)s)
JOIN conversations_message turn
  ON turn.user_id = %(user)s AND turn.thread_id = place.thread_id AND turn.depth = place.depth AND turn.position = place.position
 AND turn.is_active AND place.size > 0 AND turn.forgotten_at IS NULL
ORDER BY place.number

-- name: closed
-- Turns of projects whose memory is closed here, or of all threads where this one is a temporary chat, without what they say.
SELECT place.number, turn.id, turn.role, turn.created_at
FROM unnest(%(threads)s::uuid[], %(depths)s::int[], %(positions)s::int[])
     WITH ORDINALITY AS place (thread_id, depth, position, number)
JOIN conversations_thread AS thread ON thread.user_id = %(user)s AND thread.id = place.thread_id AND thread.remembers
 AND NOT thread.temporary AND NOT EXISTS (SELECT FROM memory_preferences WHERE user_id = %(user)s AND NOT remembers)
JOIN conversations_message AS turn
  ON turn.user_id = %(user)s AND turn.thread_id = place.thread_id AND turn.depth = place.depth AND turn.position = place.position
 AND turn.is_active AND turn.forgotten_at IS NULL
ORDER BY place.number

-- name: replacements
-- Of turns that a note rests on which was replaced: the note that holds now. What the same turn says itself replaces nothing of it.
WITH RECURSIVE newer AS (
    SELECT turn, superseded_by_id AS id, 1 AS steps
    FROM memory_memory, unnest(sources) AS turn
    WHERE user_id = %(user)s AND superseded_by_id IS NOT NULL AND turn = ANY(%(turns)s)
    UNION ALL
    SELECT turn, note.superseded_by_id, steps + 1
    FROM newer JOIN memory_memory AS note USING (id)
    WHERE note.user_id = %(user)s AND note.superseded_by_id IS NOT NULL AND steps < 10
)
SELECT DISTINCT ON (turn) turn, id, content, said_at
FROM newer JOIN memory_memory AS note USING (id)
WHERE user_id = %(user)s AND ended_at IS NULL AND (valid_until IS NULL OR valid_until > %(at)s) AND turn <> ALL(sources)
  AND (%(everywhere)s OR confined_to = ANY(%(places)s)) AND (NOT %(is_past)s OR created_at < %(at)s)
ORDER BY turn, steps DESC, created_at DESC

-- name: facts
-- Any word of the message will do. Only the person's own memories are looked at, which are few.
WITH words AS (
    SELECT to_tsquery('simple', string_agg(quote_literal(lexeme), ' | ')) AS query
    FROM unnest(to_tsvector('simple', %(text)s) || to_tsvector('english', %(text)s))
)
SELECT id, content, said_at
FROM (
    SELECT id, content, created_at, said_at, to_tsvector('simple', content) || to_tsvector('english', content) AS vector
    FROM memory_memory
    WHERE user_id = %(user)s AND (%(everywhere)s OR confined_to = ANY(%(places)s)) AND ended_at IS NULL
      AND (valid_until IS NULL OR valid_until > %(at)s) AND id <> ALL(%(given)s)
) AS fact, words
WHERE vector @@ query
ORDER BY ts_rank(vector, query) DESC, created_at DESC, id LIMIT %(most)s
