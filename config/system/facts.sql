-- name: versions
SELECT current_setting('server_version'), current_user::text, pg_has_role('pg_read_all_stats', 'USAGE')

-- name: migrations
SELECT app, name, applied FROM django_migrations ORDER BY applied DESC, id DESC LIMIT 3

-- name: failed_tasks
SELECT count(*)::int FROM (
    SELECT FROM django_tasks_database_dbtaskresult
    WHERE status = 'FAILED' AND finished_at > statement_timestamp() - interval '1 day' LIMIT 1000
) AS failed

-- name: tables
-- The largest, with indexes and long values; one in partitions as a whole. Rows as PostgreSQL estimates them: null where it never
-- has.
SELECT coalesce(parent.relname, one.relname)::text, coalesce(sum(pg_total_relation_size(one.oid)), 0)::bigint,
    sum(one.reltuples) FILTER (WHERE one.reltuples >= 0)::bigint, count(parent.oid)::int
FROM pg_class AS one LEFT JOIN pg_inherits ON inhrelid = one.oid LEFT JOIN pg_class AS parent ON parent.oid = inhparent
WHERE one.relkind IN ('r', 'm') AND one.relnamespace = current_schema()::regnamespace
GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 15

-- name: partition_sizes
SELECT child.relname::text, pg_total_relation_size(child.oid)
FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid WHERE inhparent = %(table)s::regclass

-- name: runs
SELECT DISTINCT ON (kind) kind, began_at, ended_at, succeeded FROM conversations_maintenancerun ORDER BY kind, began_at DESC
