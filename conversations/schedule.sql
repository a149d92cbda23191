-- name: due
-- Candidates are ranges of indexes; what is asked of each of them is one step in another. Who is in a session that has gone on
-- for a day is not waited for. An attempt that had nothing to do, though something is – a reply is running –, is not repeated
-- at once.
WITH candidate AS (
    SELECT user_id FROM conversations_thread WHERE updated_at > %(since)s
    UNION SELECT user_id FROM memory_consolidation WHERE wanted_at IS NOT NULL
    UNION SELECT user_id FROM memory_threadsummary WHERE stale_since IS NOT NULL
), waiting AS MATERIALIZED (
    SELECT (args_kwargs -> 'args' ->> 0)::int AS user_id FROM django_tasks_database_dbtaskresult
    WHERE status IN ('READY', 'RUNNING') AND task_path = %(task)s
)
SELECT candidate.user_id
FROM candidate
LEFT JOIN memory_consolidation AS state ON state.user_id = candidate.user_id
LEFT JOIN memory_preferences AS preferences ON preferences.user_id = candidate.user_id
LEFT JOIN LATERAL (
    SELECT updated_at, coalesce(session_started_at, updated_at) AS session FROM conversations_thread
    WHERE user_id = candidate.user_id AND remembers AND NOT temporary AND updated_at <= %(now)s ORDER BY updated_at DESC LIMIT 1
) AS newest ON true
WHERE coalesce(preferences.remembers, true)
  AND coalesce(state.not_before <= %(now)s, true)
  AND coalesce(state.ended_at <= %(now)s - %(rest)s OR state.parts_done > 0 OR state.failures > 0, true)
  AND (
      newest.updated_at > coalesce(state.through, '-infinity')
      AND (newest.updated_at <= %(now)s - %(idle)s
           OR greatest(newest.session, state.through) <= %(now)s - %(longest_session)s)
      OR state.wanted_at <= %(now)s - %(idle)s
      OR state.wanted_at IS NOT NULL AND state.failures > 0
      OR EXISTS (SELECT FROM memory_threadsummary AS part JOIN conversations_thread AS thread ON thread.id = part.thread_id
                 WHERE part.user_id = candidate.user_id AND part.stale_since IS NOT NULL AND thread.remembers
                   AND NOT thread.temporary)
  )
  AND candidate.user_id NOT IN (SELECT user_id FROM waiting)
  AND NOT EXISTS (SELECT FROM conversations_accountdeletion WHERE user_id = candidate.user_id)
ORDER BY newest.updated_at LIMIT %(most)s

-- name: unread
-- A task is enqueued with its file, and the file's state changes before its task ends: those without one were left in the middle.
-- Where the task failed – the storage or the database is away –, the file waits, twice as long after each. That a worker ended
-- says nothing of the next. One whose clock was ahead leaves times that are still to come.
SELECT id FROM conversations_file AS file
WHERE state = 'reading' AND NOT EXISTS (
    SELECT FROM django_tasks_database_dbtaskresult
    WHERE status IN ('READY', 'RUNNING') AND task_path = %(task)s AND args_kwargs -> 'args' ->> 0 = file.id::text
) AND NOT EXISTS (
    SELECT FROM django_tasks_database_dbtaskresult
    WHERE status = 'FAILED' AND task_path = %(task)s AND args_kwargs -> 'args' ->> 0 = file.id::text
    HAVING max(finished_at) > %(now)s - least(%(rest)s * power(2, least(count(*), 20) - 1), %(longest_rest)s)
       AND max(finished_at) <= %(now)s
)
LIMIT %(most)s

-- name: put_back
-- Each worker holds the lease of its name for as long as it lives. A task whose worker ended again and again may be why it did.
UPDATE django_tasks_database_dbtaskresult AS task
SET status = CASE WHEN jsonb_array_length(worker_ids) < %(most)s THEN 'READY' ELSE 'FAILED' END,
    finished_at = CASE WHEN jsonb_array_length(worker_ids) < %(most)s THEN NULL ELSE %(now)s::timestamptz END
WHERE status = 'RUNNING' AND NOT EXISTS (
    SELECT FROM conversations_lease
    WHERE name = %(worker)s || (task.worker_ids ->> -1)
      AND lease_until BETWEEN statement_timestamp() AND statement_timestamp() + %(lease)s
)
RETURNING status, task_path, args_kwargs -> 'args' ->> 0

-- name: forget_leases
DELETE FROM conversations_lease WHERE lease_until < statement_timestamp() - interval '1 hour'
