-- name: lock
SELECT pg_advisory_xact_lock(%(lock)s)

-- name: try_lock
SELECT pg_try_advisory_xact_lock(%(lock)s)

-- name: unsealed
SELECT id, at, kind, outcome, actor_kind, actor_id, actor_name, target_kind, target_id, address, request_id, details::text,
       number, digest
FROM conversations_auditevent WHERE number IS NULL ORDER BY id LIMIT %(most)s

-- name: sealed
SELECT id, at, kind, outcome, actor_kind, actor_id, actor_name, target_kind, target_id, address, request_id, details::text,
       number, digest
FROM conversations_auditevent WHERE number > %(after)s ORDER BY number LIMIT %(most)s

-- name: seal
UPDATE conversations_auditevent AS event SET number = sealed.number, digest = sealed.digest
FROM unnest(%(ids)s::uuid[], %(numbers)s::bigint[], %(digests)s::bytea[]) AS sealed (id, number, digest)
WHERE event.id = sealed.id

-- name: prunable
-- The last number before the first event that stays.
SELECT coalesce(
    (SELECT min(number) - 1 FROM conversations_auditevent WHERE id >= %(since)s AND number IS NOT NULL),
    (SELECT max(number) FROM conversations_auditevent))

-- name: prune
DELETE FROM conversations_auditevent WHERE id IN (
    SELECT id FROM conversations_auditevent WHERE number <= %(until)s ORDER BY number LIMIT %(most)s)
RETURNING id
