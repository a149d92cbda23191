-- name: titled
-- The threads of a person whose titles hold all of the words as parts, by the letters that words are compared by: letters of the
-- first text stand for those of the second, and without one there are left away.
SELECT id
FROM conversations_thread, LATERAL (
    SELECT CASE WHEN octet_length(title) = length(title) THEN lower(title) ELSE translate(
        replace(replace(replace(replace(lower(normalize(title, NFKD)), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th'), 'ß', 'ss'),
        %s::text, %s::text) END AS letters
) AS folded
WHERE user_id = %s AND NOT EXISTS (SELECT FROM unnest(%s::text[]) AS word WHERE strpos(letters, word) = 0)
