-- name: emptied
-- Tables and functions of ours in this schema, those of extensions left out.
SELECT 'TABLE ' || oid::regclass FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
  AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE objid = pg_class.oid AND deptype = 'e')
UNION ALL
SELECT 'FUNCTION ' || oid::regprocedure FROM pg_proc
WHERE pronamespace = current_schema()::regnamespace AND proname LIKE 'openbook\_%%'
  AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')

-- name: all_tables
-- With partitions.
SELECT oid::regclass::text FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')

-- name: foreign_keys
-- Those that stand for themselves, not as a partition's part of another.
SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
WHERE connamespace = current_schema()::regnamespace AND contype = 'f' AND conparentid = 0
