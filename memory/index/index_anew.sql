-- name: passages
-- What was forgotten meanwhile has no terms and gets none; where another turn stands by now, it is indexed already.
UPDATE memory_indexedpassage AS indexed SET terms = passage.terms
FROM jsonb_populate_recordset(NULL::memory_indexedpassage, %(rows)s) AS passage
WHERE indexed.user_id = %(user)s AND indexed.thread_id = passage.thread_id AND indexed.depth = passage.depth
  AND indexed.number = passage.number AND indexed.position = passage.position AND indexed.terms <> '{}'

-- name: parts
UPDATE conversations_filepart AS part SET terms = new.terms
FROM jsonb_to_recordset(%(rows)s) AS new (number int, terms int[])
WHERE part.user_id = %(user)s AND part.file_id = %(file)s AND part.number = new.number AND part.terms <> '{}'
