-- name: tables
-- What a backup holds, the parents of partitions in their place, with the columns that are stored.
SELECT table_.relname, array_agg(column_.attname::text ORDER BY column_.attnum)
FROM pg_class AS table_
JOIN pg_attribute AS column_ ON column_.attrelid = table_.oid
WHERE table_.relnamespace = current_schema()::regnamespace AND table_.relkind IN ('r', 'p')
  AND NOT table_.relispartition AND table_.relpersistence = 'p' AND NOT table_.relname = ANY(%(but)s)
  AND column_.attnum > 0 AND NOT column_.attisdropped AND column_.attgenerated = ''
GROUP BY table_.relname ORDER BY table_.relname

-- name: sequences
-- By the column that they number.
SELECT sequence.oid::regclass::text, table_.relname, column_.attname
FROM pg_class AS sequence
JOIN pg_depend AS owned ON owned.objid = sequence.oid AND owned.classid = 'pg_class'::regclass
  AND owned.refclassid = 'pg_class'::regclass AND owned.deptype IN ('a', 'i')
JOIN pg_class AS table_ ON table_.oid = owned.refobjid
JOIN pg_attribute AS column_ ON column_.attrelid = table_.oid AND column_.attnum = owned.refobjsubid
WHERE sequence.relkind = 'S' AND sequence.relnamespace = current_schema()::regnamespace
  AND NOT table_.relispartition AND table_.relpersistence = 'p' AND NOT table_.relname = ANY(%(but)s)
ORDER BY table_.relname

-- name: places
-- Where the bytes of files lie in the storage.
WITH file AS (
    SELECT id, place, thumbnail FROM conversations_file{but}
)
SELECT place FROM file WHERE place <> ''
UNION ALL SELECT thumbnail FROM file WHERE thumbnail <> ''
UNION ALL SELECT picture FROM conversations_filepart AS part JOIN file ON file.id = part.file_id WHERE picture <> ''
{held}


-- name: snapshot
-- The version of PostgreSQL, and the time of what is read; of a standby that of the last transaction that it knows.
SELECT current_setting('server_version'),
       CASE WHEN pg_is_in_recovery() THEN coalesce(pg_last_xact_replay_timestamp(), now()) ELSE now() END
