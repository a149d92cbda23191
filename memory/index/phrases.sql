-- name: turns
-- By thread the newest turn that holds a text where a word begins, and all of the words before it.
SELECT thread_id, max(position)
FROM conversations_message AS turn
WHERE user_id = %(user)s AND thread_id = ANY(%(threads)s) AND is_active AND forgotten_at IS NULL
  AND CASE WHEN {holds} THEN text ~* %(pattern)s ELSE false END
  AND NOT EXISTS (
      SELECT FROM unnest(%(before)s::text[]) AS word
      WHERE NOT EXISTS (SELECT FROM memory_indexedpassage AS passage
                        WHERE passage.user_id = %(user)s AND passage.thread_id = turn.thread_id AND passage.depth = turn.depth
                          AND passage.terms && word::int[]))
GROUP BY thread_id

-- name: passages
-- Passages that hold a text, the newest first; of the thread that is asked in what comes before a depth.
SELECT passage.thread_id, passage.depth, passage.number, passage.position, passage.start, passage.size,
       (SELECT count(*) FROM memory_indexedpassage AS part
        WHERE part.user_id = %(user)s AND part.thread_id = turn.thread_id AND part.depth = turn.depth), 1.0::float
FROM conversations_message AS turn
JOIN memory_indexedpassage AS passage
  ON passage.user_id = %(user)s AND passage.thread_id = turn.thread_id AND passage.depth = turn.depth
 AND passage.position = turn.position
WHERE turn.user_id = %(user)s AND turn.thread_id = ANY(%(threads)s) AND turn.is_active AND turn.forgotten_at IS NULL
  AND CASE WHEN {holds} THEN substr(turn.text, passage.start + 1, passage.size) ~* %(pattern)s ELSE false END
  AND (turn.thread_id IS DISTINCT FROM %(here)s OR turn.depth < %(before)s) AND NOT (passage.asks AND %(for_message)s)
  AND (turn.thread_id IN (SELECT id FROM conversations_thread
                          WHERE user_id = %(user)s AND project_id = ANY(%(projects)s::uuid[]))) = %(confined)s
ORDER BY turn.created_at DESC, passage.number LIMIT %(wanted)s

-- name: parts
-- Parts of files that hold a text where a word begins, and all of the words before it, of the newest that are in a thread.
SELECT id
FROM (
    SELECT part.id, part.text, part.terms
    FROM (SELECT id FROM conversations_file WHERE user_id = %(user)s AND thread_id IS NOT NULL
          ORDER BY id DESC LIMIT %(most)s) AS file
    JOIN conversations_filepart AS part ON part.user_id = %(user)s AND part.file_id = file.id
    ORDER BY part.file_id DESC, part.number LIMIT %(most)s
) AS newest
WHERE CASE WHEN {holds} THEN text ~* %(pattern)s ELSE false END
  AND NOT EXISTS (SELECT FROM unnest(%(before)s::text[]) AS word WHERE NOT terms && word::int[])
