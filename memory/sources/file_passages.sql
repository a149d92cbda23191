-- name: parts
-- The parts of a person's files that hold any of the words, those with the most of them first. The bits of a part tell which of
-- the words it holds. Of other threads only where these may be told of.
SELECT part.id, file.id, file.name, file.created_at, part.number, part.label, part.bits
FROM (
    SELECT id, file_id, number, label, (
        SELECT bit_or(1 << place) FROM unnest(%(terms)s::int[], %(places)s::int[]) AS word (term, place)
        WHERE term = ANY(terms)
    ) AS bits
    FROM conversations_filepart WHERE user_id = %(user)s AND terms && %(terms)s::int[]
) AS part
JOIN conversations_file AS file ON file.id = part.file_id
LEFT JOIN conversations_thread AS thread ON thread.user_id = %(user)s AND thread.id = file.thread_id
WHERE file.user_id = %(user)s AND (
    thread.id = %(here)s OR file.project_id = %(project)s::uuid
    OR %(elsewhere)s AND coalesce(thread.remembers AND NOT thread.temporary, file.project_id IS NOT NULL)
       AND coalesce(coalesce(thread.project_id, file.project_id) = ANY(%(projects)s::uuid[]), false) = %(confined)s
)
ORDER BY bit_count(part.bits::bit(32)) DESC, file.id DESC, part.number LIMIT %(most)s

-- name: texts
SELECT id, text FROM conversations_filepart WHERE user_id = %(user)s AND id = ANY(%(parts)s)
