-- name: queues
-- Tasks that are to wait for no time have one that never comes.
SELECT queue_name, count(*), max(extract(epoch FROM statement_timestamp() - due_at))::float8
FROM (
    SELECT queue_name, CASE WHEN run_after <= statement_timestamp() THEN greatest(run_after, enqueued_at) ELSE enqueued_at END
        AS due_at
    FROM django_tasks_database_dbtaskresult
    WHERE status = 'READY' AND (run_after <= statement_timestamp() OR run_after >= '9999-01-01') LIMIT 10000
) AS waiting
GROUP BY queue_name ORDER BY queue_name

-- name: leases
SELECT count(*) FILTER (WHERE name LIKE %(worker)s), count(*) FILTER (WHERE name NOT LIKE %(worker)s)
FROM conversations_lease WHERE lease_until BETWEEN statement_timestamp() AND statement_timestamp() + %(lease)s

-- name: replies
SELECT count(*), count(*) FILTER (WHERE lease_until < statement_timestamp()) FROM conversations_reply WHERE status = 'running'

-- name: mails
SELECT count(*) FILTER (WHERE due_at IS NOT NULL), count(*) FILTER (WHERE due_at IS NULL) FROM conversations_outgoingmail

-- name: requests
SELECT status, coalesce(error ->> 'code', ''), count(*)
FROM (SELECT status, error FROM conversations_contextsnapshot WHERE id >= %(since)s ORDER BY id DESC LIMIT 10000) AS newest
GROUP BY 1, 2 ORDER BY 1, 2

-- name: database
SELECT pg_database_size(current_database()), (SELECT sum(numbackends) FROM pg_stat_database)::int,
    current_setting('max_connections')::int, current_setting('server_version')

-- name: transactions
SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::float8 FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()

-- name: standbys
-- One that has replayed all has no lag. Where the role may not read it, nothing is known of it.
SELECT coalesce(application_name, 'unknown'), max(coalesce(extract(epoch FROM replay_lag), CASE WHEN replay_lsn IS NOT NULL THEN 0 END))::float8,
    true
FROM pg_stat_replication GROUP BY 1 ORDER BY 1

-- name: maintenance
SELECT kind, max(ended_at) FROM conversations_maintenancerun WHERE succeeded GROUP BY kind
