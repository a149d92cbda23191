-- name: parts
-- All parts of a file. The bits of a part tell which of the words that are looked for it holds.
SELECT json_agg(json_build_array(number, label, heading, token_count, coalesce(width, 0), coalesce(height, 0),
                                 CASE WHEN terms && %(terms)s::int[] THEN (
                                     SELECT bit_or(1 << place)
                                     FROM unnest(%(terms)s::int[], %(places)s::int[]) AS word (term, place)
                                     WHERE term = ANY(terms)) ELSE 0 END) ORDER BY number)::text
FROM conversations_filepart WHERE file_id = file.id

-- name: files
-- The files that stand in turns of the thread up to a position, and those that a message brings, each with all its parts and
-- what of it stands where.
WITH standing AS (
    SELECT file_id, json_agg(json_build_array(position, place, numbers, outlined) ORDER BY position) AS places
    FROM conversations_turnfile WHERE thread_id = %(thread)s AND position <= %(position)s
    GROUP BY file_id
), wanted AS (
    SELECT file_id AS id FROM standing UNION SELECT unnest(%(files)s::uuid[])
)
SELECT file.id::text, name, kind, state, error ->> 'message', standing.places::text, ({parts})
FROM wanted JOIN conversations_file AS file USING (id) LEFT JOIN standing ON standing.file_id = file.id
WHERE file.user_id = %(user)s
ORDER BY file.id

-- name: outlines
SELECT file.id::text, name, kind, state, error ->> 'message', NULL, ({parts})
FROM conversations_file AS file WHERE id = ANY(%(files)s)

-- name: contents
SELECT part.file_id::text, part.number, part.text, part.picture, coalesce(part.width, 0), coalesce(part.height, 0)
FROM unnest(%(files)s::uuid[], %(numbers)s::int[]) AS wanted (file_id, number)
JOIN conversations_filepart AS part USING (file_id, number)
