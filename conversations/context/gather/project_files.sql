-- name: search
-- Of a project's files the parts that hold the rarest of the words, and those that are named; beside each file stands how many
-- files and parts the project has, and how many parts hold which word. Words are looked for in their indexes alone: of a common one
-- no more than so many parts are looked at, as it tells them apart least, and as many of those that it stands in often. That it is
-- common is seen in the index of every eighth part, where the list of all that hold it takes an eighth of the time. The bits
-- of a part tell which of the words it holds, and above them which of these it holds often. What a part says is read along, as
-- most of these parts are given; but not where it has a picture, which lies in the storage.
WITH own AS (
    SELECT id, user_id, name, kind, state, error, left_out, parts_read FROM conversations_file
    WHERE user_id = %(user)s AND project_id = %(project)s::uuid AND state = 'ready'
), word AS (
    SELECT place, array_agg(term) AS terms
    FROM unnest(%(terms)s::int[], %(places)s::int[]) AS word (term, place) GROUP BY place
), every AS (
    SELECT count(*) AS files, coalesce(sum(parts_read), 0) AS parts FROM own
), sampled AS MATERIALIZED (
    SELECT word.place, part.id
    FROM word CROSS JOIN LATERAL (
        SELECT id FROM conversations_filepart
        WHERE mod(number, 8) = 1 AND user_id = %(user)s AND terms && word.terms AND (file_id IN (SELECT id FROM own)) IS TRUE
          AND (SELECT parts FROM every) >= 8 * %(common)s
        LIMIT %(common)s
    ) AS part
), common AS (
    SELECT place FROM sampled GROUP BY place HAVING count(*) >= %(common)s
), single AS MATERIALIZED (
    SELECT place, id FROM sampled JOIN common USING (place)
    UNION ALL
    SELECT word.place, part.id
    FROM word CROSS JOIN LATERAL (
        SELECT id FROM conversations_filepart
        WHERE user_id = %(user)s AND terms && word.terms AND (file_id IN (SELECT id FROM own)) IS TRUE LIMIT %(common)s
    ) AS part
    WHERE word.place NOT IN (SELECT place FROM common)
), counted AS (
    SELECT place, count(*) AS holding FROM single GROUP BY place
), held AS MATERIALIZED (
    SELECT place, id FROM single
    UNION ALL
    SELECT %(most_words)s::int + about.place, part.id
    FROM (SELECT DISTINCT place, often FROM unnest(%(places)s::int[], %(often)s::int[]) AS word (place, often)) AS about
    JOIN counted ON counted.place = about.place AND holding >= %(common)s
    CROSS JOIN LATERAL (
        SELECT id FROM conversations_filepart
        WHERE user_id = %(user)s AND terms @> ARRAY[about.often] AND (file_id IN (SELECT id FROM own)) IS TRUE
        LIMIT %(common)s
    ) AS part{together}
), weight AS (
    SELECT place, count(*) AS holding FROM held GROUP BY place
), best AS (
    SELECT held.id
    FROM held JOIN weight USING (place), every
    GROUP BY held.id ORDER BY sum(ln(1 + every.parts::float / holding)) DESC, held.id LIMIT %(most)s
), chosen AS (
    SELECT id, true AS is_found FROM best
    UNION ALL
    SELECT part.id, false
    FROM unnest(%(files)s::uuid[], %(numbers)s::int[]) AS wanted (file_id, number)
    JOIN conversations_filepart AS part USING (file_id, number)
    WHERE part.user_id = %(user)s AND part.id NOT IN (SELECT id FROM best)
), part AS (
    SELECT file_id, bool_or(is_found) AS is_found,
           json_agg(json_build_array(number, label, heading, token_count, coalesce(width, 0), coalesce(height, 0), bits, text)
                    ORDER BY number)::text AS parts
    FROM (
        SELECT file_id, is_found, number, label, heading, token_count, width, height, text,
               CASE WHEN is_found THEN (
                   SELECT bit_or(1 << place | CASE WHEN often = ANY(terms) THEN 1 << %(most_words)s::int + place ELSE 0 END)
                   FROM unnest(%(terms)s::int[], %(places)s::int[], %(often)s::int[]) AS word (term, place, often)
                   WHERE term = ANY(terms)) END AS bits
        FROM (
            SELECT is_found, file_id, number, label, heading, token_count, width, height,
                   CASE picture WHEN '' THEN text END AS text, terms || '{{}}' AS terms
            FROM chosen JOIN conversations_filepart AS row USING (id) WHERE row.user_id = %(user)s OFFSET 0
        ) AS row
    ) AS row
    GROUP BY file_id
)
SELECT every.files, every.parts::int, (SELECT json_object_agg(place, holding) FROM counted)::text, part.is_found,
       own.id::text, own.user_id, name, kind, state, error ->> 'message', left_out::text, parts_read, part.parts
FROM every LEFT JOIN (part JOIN own ON own.id = part.file_id) ON true
ORDER BY own.id

-- name: together
-- The parts that hold all of the words: where each of them is common, these are few.
    UNION ALL
    SELECT %(all_words)s::int, part.id
    FROM (
        SELECT id FROM conversations_filepart
        WHERE user_id = %(user)s AND {all} AND (file_id IN (SELECT id FROM own)) IS TRUE
          AND (SELECT min(holding) FROM counted) >= %(common)s
        LIMIT %(common)s
    ) AS part

-- name: holds
terms && (SELECT terms FROM word WHERE place = {place})

-- name: named
-- The files of a project that are called so, or whose name holds that, the newest first.
SELECT id::text FROM conversations_file
WHERE user_id = %(user)s AND project_id = %(project)s::uuid AND state = 'ready' AND (id::text = %(name)s OR name ILIKE %(like)s)
ORDER BY lower(name) <> lower(%(name)s) AND id::text <> %(name)s, id DESC LIMIT %(most)s

-- name: any
SELECT EXISTS (SELECT FROM conversations_file WHERE user_id = %(user)s AND project_id = %(project)s::uuid)
