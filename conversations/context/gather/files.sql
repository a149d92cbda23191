-- name: parts
-- All parts of a file. The bits of a part tell which of the words that are looked for it holds, and above them which of these
-- it holds often: that is looked for only where the word is there, as a part has hundreds of terms.
SELECT json_agg(json_build_array(number, label, heading, token_count, coalesce(width, 0), coalesce(height, 0),
                                 CASE WHEN terms && %(terms)s::int[] THEN (
                                     SELECT bit_or(1 << place | CASE WHEN often = ANY(terms)
                                                                     THEN 1 << %(most_words)s::int + place ELSE 0 END)
                                     FROM unnest(%(terms)s::int[], %(places)s::int[], %(often)s::int[])
                                          AS word (term, place, often)
                                     WHERE term = ANY(terms)) ELSE 0 END) ORDER BY number)::text
FROM (
    -- The terms of a long part are stored apart: joined with nothing they are fetched once, and not for each comparison.
    SELECT number, label, heading, token_count, width, height, terms || '{}' AS terms
    FROM conversations_filepart WHERE user_id = %(user)s AND file_id = file.id OFFSET 0
) AS part

-- name: active
EXISTS (SELECT FROM conversations_message AS turn
        WHERE turn.user_id = %(user)s AND turn.thread_id = %(thread)s AND turn.position = conversations_turnfile.position
          AND turn.is_active)

-- name: files
-- The files that stand in turns of the path up to a position, and those that a message brings, each with all its parts and
-- what of it stands where.
-- Parts of a project's files are read by ``project_files.sql``, those alone that are wanted.
WITH standing AS (
    SELECT file_id, json_agg(json_build_array(position, place, numbers, outlined) ORDER BY position) AS places
    FROM conversations_turnfile
    WHERE user_id = %(user)s AND thread_id = %(thread)s AND position <= %(position)s AND {path}
    GROUP BY file_id
), wanted AS (
    SELECT file_id AS id FROM standing UNION SELECT unnest(%(files)s::uuid[])
)
SELECT file.id::text, file.user_id, name, kind, state, error ->> 'message', file.thread_id, file.project_id, parts_read,
       left_out::text, standing.places::text, CASE WHEN file.project_id IS NULL THEN ({parts}) END
FROM wanted JOIN conversations_file AS file USING (id) LEFT JOIN standing ON standing.file_id = file.id
WHERE file.user_id = %(user)s
ORDER BY file.id

-- name: outlines
SELECT file.id::text, file.user_id, name, kind, state, error ->> 'message', file.thread_id, file.project_id, parts_read,
       left_out::text, NULL, ({parts})
FROM conversations_file AS file WHERE user_id = %(user)s AND id = ANY(%(files)s)

-- name: contents
SELECT part.file_id::text, part.number, part.text, part.picture, coalesce(part.width, 0), coalesce(part.height, 0)
FROM unnest(%(files)s::uuid[], %(numbers)s::int[]) AS wanted (file_id, number)
JOIN conversations_filepart AS part USING (file_id, number)
WHERE part.user_id = ANY(%(users)s)
