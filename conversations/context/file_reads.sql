-- name: held
-- Which of the words that are looked for stand in which parts, by the index of words: bits by the words' places.
held AS MATERIALIZED (
    SELECT file_id, number, bit_or(1 << place) AS bits
    FROM unnest(%(terms)s::int[], %(places)s::int[]) AS word (term, place)
    JOIN conversations_filepart ON terms @> ARRAY[term]
    WHERE file_id IN (SELECT id FROM wanted) GROUP BY file_id, number
)

-- name: parts
-- All parts of a file, with those bits.
SELECT json_agg(json_build_array(number, label, heading, token_count, coalesce(width, 0), coalesce(height, 0),
                                 coalesce(bits, 0)) ORDER BY number)::text
FROM conversations_filepart LEFT JOIN held USING (file_id, number) WHERE file_id = file.id

-- name: files
-- The files that stand in turns of the thread up to a position, and those that a message brings, each with all its parts and
-- what of it stands where.
WITH standing AS (
    SELECT file_id, json_agg(json_build_array(position, place, numbers, outlined) ORDER BY position) AS places
    FROM conversations_turnfile WHERE thread_id = %(thread)s AND position <= %(position)s
    GROUP BY file_id
), wanted AS (
    SELECT file_id AS id FROM standing UNION SELECT unnest(%(files)s::uuid[])
), {held}
SELECT file.id::text, name, kind, state, error ->> 'message', standing.places::text, ({parts})
FROM wanted JOIN conversations_file AS file USING (id) LEFT JOIN standing ON standing.file_id = file.id
WHERE file.user_id = %(user)s
ORDER BY file.id

-- name: outlines
WITH wanted AS (SELECT unnest(%(files)s::uuid[]) AS id), {held}
SELECT file.id::text, name, kind, state, error ->> 'message', NULL, ({parts})
FROM conversations_file AS file WHERE id = ANY(%(files)s)

-- name: contents
SELECT part.file_id::text, part.number, part.text, part.picture, coalesce(part.width, 0), coalesce(part.height, 0)
FROM unnest(%(files)s::uuid[], %(numbers)s::int[]) AS wanted (file_id, number)
JOIN conversations_filepart AS part USING (file_id, number)
