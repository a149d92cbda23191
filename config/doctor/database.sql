-- name: limits
-- Of connections: how many the server gives ordinary roles, the role and the database may have if that
-- is limited, and how many of each there are. The kind of another role's sessions is told to who may read all statistics.
WITH sessions AS (
    SELECT usename, datname FROM pg_stat_activity
    WHERE usename IS NOT NULL AND coalesce(backend_type, 'client backend') = 'client backend'
)
SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
       (SELECT count(*)::int FROM sessions)
UNION ALL
SELECT rolconnlimit, (SELECT count(*)::int FROM sessions WHERE usename = current_user)
FROM pg_roles WHERE rolname = current_user AND rolconnlimit >= 0
UNION ALL
SELECT datconnlimit, (SELECT count(*)::int FROM sessions WHERE datname = current_database())
FROM pg_database WHERE datname = current_database() AND datconnlimit >= 0

-- name: rights
SELECT has_schema_privilege(current_schema(), 'CREATE'),
       has_database_privilege(current_database(), 'TEMP'),
       ARRAY(SELECT relname::text FROM pg_class WHERE relnamespace = current_schema()::regnamespace
             AND relkind IN ('r', 'p') AND NOT pg_has_role(relowner, 'USAGE') ORDER BY relname LIMIT 4)

-- name: durability
SELECT name, setting FROM pg_settings
WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') AND setting = 'off' ORDER BY name

-- name: encoding
SELECT current_setting('server_encoding')

-- name: oldest_transaction
-- What holds back vacuum: the oldest transaction of anybody, and a prepared one.
SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::float8, (
    SELECT coalesce(max(extract(epoch FROM clock_timestamp() - prepared)), 0)::float8 FROM pg_prepared_xacts
) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()

-- name: lost_slots
SELECT slot_name::text, pg_size_pretty(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn))
FROM pg_replication_slots
WHERE NOT active AND pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn) > 1073741824

-- name: workers
SELECT count(*)::int FROM conversations_lease
WHERE starts_with(name, 'worker ')
  AND lease_until BETWEEN statement_timestamp() AND statement_timestamp() + interval '8 seconds'

-- name: queue
-- How many tasks wait, for how many seconds the oldest has, and how many failed within a day.
SELECT count(*) FILTER (WHERE status = 'READY')::int,
       coalesce(extract(epoch FROM statement_timestamp() - min(enqueued_at) FILTER (
           WHERE status = 'READY' AND coalesce(run_after <= statement_timestamp(), true)
       )), 0)::float8,
       count(*) FILTER (WHERE status = 'FAILED' AND finished_at > statement_timestamp() - interval '1 day')::int
FROM django_tasks_database_dbtaskresult

-- name: mails
-- How many wait to be sent or tried again, for how many seconds the oldest has, and how many were given up and why.
SELECT count(*) FILTER (WHERE due_at IS NOT NULL)::int,
       coalesce(extract(epoch FROM statement_timestamp() - min(created_at) FILTER (WHERE due_at IS NOT NULL)), 0)::float8,
       count(*) FILTER (WHERE due_at IS NULL)::int,
       coalesce((array_agg(problem ORDER BY created_at DESC) FILTER (WHERE problem <> ''))[1], '')
FROM conversations_outgoingmail

-- name: stuck_replies
SELECT count(*)::int FROM conversations_reply
WHERE status = 'running' AND lease_until < statement_timestamp() - interval '1 minute'
