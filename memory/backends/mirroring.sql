-- name: due
SELECT coalesce(memory.user_id, mirrored.user_id) AS person
FROM (SELECT id, user_id, xmin::text::bigint AS version FROM memory_memory WHERE ended_at IS NULL) AS memory
     FULL JOIN memory_mirroredmemory AS mirrored
     ON mirrored.memory_id = memory.id AND mirrored.user_id = memory.user_id
     LEFT JOIN memory_preferences AS preferences ON preferences.user_id = memory.user_id
WHERE memory.id IS NULL
   OR (mirrored.version IS DISTINCT FROM memory.version AND preferences.remembers IS NOT FALSE)
GROUP BY person ORDER BY person LIMIT %(most)s

-- name: gone
SELECT mirrored.memory_id
FROM memory_mirroredmemory AS mirrored LEFT JOIN memory_memory AS memory
     ON memory.id = mirrored.memory_id AND memory.user_id = mirrored.user_id AND memory.ended_at IS NULL
WHERE mirrored.user_id = %(user)s AND memory.id IS NULL
ORDER BY mirrored.memory_id

-- name: to_send
-- The number of the transaction that wrote a row last tells whether it has changed, without keeping anything of its text.
SELECT memory.id, memory.content, memory.confined_to, memory.xmin::text::bigint, mirrored.memory_id IS NOT NULL
FROM memory_memory AS memory LEFT JOIN memory_mirroredmemory AS mirrored
     ON mirrored.user_id = memory.user_id AND mirrored.memory_id = memory.id
WHERE memory.user_id = %(user)s AND memory.ended_at IS NULL
  AND mirrored.version IS DISTINCT FROM memory.xmin::text::bigint
  AND NOT EXISTS (SELECT FROM memory_preferences WHERE user_id = %(user)s AND NOT remembers)
ORDER BY memory.created_at DESC, memory.id LIMIT %(most)s
