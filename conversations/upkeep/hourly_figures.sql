-- name: plain_plan
-- A plan for these times, not compiled: that takes longer than an hour's requests.
SELECT set_config('jit', 'off', true), set_config('plan_cache_mode', 'force_custom_plan', true)

-- name: count_requests
WITH request AS MATERIALIZED (
    SELECT date_trunc('hour', snapshot.created_at, 'UTC') AS hour, thread.assistant_id, snapshot.provider, snapshot.model,
           (ARRAY[0] || %(thresholds)s::int[])[1 + width_bucket(
               coalesce(input, 0) + coalesce(cache_read, 0) + coalesce(written, 0) - 1, %(thresholds)s::int[])] AS above,
           snapshot.status, snapshot.purpose, snapshot.runs, told.*,
           (NOT guessed AND input IS NOT NULL)::int AS reported, guessed::int AS estimated,
           NOT (snapshot.stop_reason = %(refusal)s AND coalesce(output, 0) = 0
                AND coalesce(snapshot.stop_details ->> 'category', '') = ANY(%(free)s)) AS billed,
           (snapshot.recalled IS NOT NULL)::int AS recalled,
           (snapshot.problems IS NOT NULL)::int AS troubled, (snapshot.fallback_for > '')::int AS fallback,
           (snapshot.total_tokens > snapshot.budget AND snapshot.purpose IN ('reply', 'artifact'))::int AS over_budget,
           width_bucket(first_token_ms, %(bins)s::int[]) AS first_token,
           width_bucket((extract(epoch FROM snapshot.ended_at - snapshot.created_at) * 1000)::int, %(bins)s::int[]) AS took
    FROM conversations_contextsnapshot AS snapshot
    JOIN conversations_thread AS thread ON thread.id = snapshot.thread_id
    CROSS JOIN LATERAL jsonb_to_record(snapshot.usage) AS said(
        input_tokens numeric, output_tokens numeric, cache_read_input_tokens numeric, cache_creation_input_tokens numeric,
        cache_creation_1h_input_tokens numeric, estimated_input_tokens numeric, estimated_output_tokens numeric)
    CROSS JOIN LATERAL (
        -- Where the service told nothing, what was estimated then. Earlier versions stored whatever figure a service told.
        SELECT (CASE WHEN input > 1e8 THEN 1e8 ELSE input END)::int, (CASE WHEN output > 1e8 THEN 1e8 ELSE output END)::int,
               (CASE WHEN cache_read > 1e8 THEN 1e8 ELSE cache_read END)::int,
               (CASE WHEN written > 1e8 THEN 1e8 ELSE written END)::int,
               (CASE WHEN cache_write > 1e8 THEN 1e8 ELSE cache_write END)::int,
               (CASE WHEN cache_write_hour > 1e8 THEN 1e8 ELSE cache_write_hour END)::int, guessed
        FROM (SELECT coalesce(said.input_tokens, said.estimated_input_tokens) AS input,
                     coalesce(said.output_tokens, said.estimated_output_tokens) AS output,
                     said.cache_read_input_tokens AS cache_read, said.cache_creation_input_tokens AS written,
                     said.cache_creation_input_tokens - coalesce(said.cache_creation_1h_input_tokens, 0) AS cache_write,
                     said.cache_creation_1h_input_tokens AS cache_write_hour,
                     said.estimated_input_tokens IS NOT NULL AS guessed) AS figures
    ) AS told(input, output, cache_read, written, cache_write, cache_write_hour, guessed)
    WHERE snapshot.id >= %(lowest)s AND snapshot.id < %(highest)s
      AND snapshot.created_at >= %(since)s AND snapshot.created_at < %(until)s
      AND (%(thread)s::uuid IS NULL OR snapshot.thread_id = %(thread)s)
), counted AS (
    SELECT hour, assistant_id, provider, model, above, 'status ' || status AS name, count(*) AS number FROM request GROUP BY hour, assistant_id, provider, model, above, status
    UNION ALL
    SELECT hour, assistant_id, provider, model, above, 'first_token ' || first_token, count(*) FROM request
    WHERE first_token IS NOT NULL GROUP BY hour, assistant_id, provider, model, above, first_token
    UNION ALL
    SELECT hour, assistant_id, provider, model, above, 'took ' || took, count(*) FROM request WHERE took IS NOT NULL GROUP BY hour, assistant_id, provider, model, above, took
    UNION ALL
    SELECT hour, assistant_id, provider, model, above, 'left_out ' || split_part(run, ' ', 2), sum(CASE
               WHEN run LIKE '%%/%%' THEN split_part(split_part(run, ' ', 1), '/', 2)::int
               WHEN run LIKE '%%-%%' THEN split_part(split_part(run, ' ', 1), '-', 2)::int - split_part(run, '-', 1)::int + 1
               ELSE 1 END)
    FROM request, string_to_table(runs, ';') AS run
    WHERE split_part(run, ' ', 2) <> ALL(%(sent)s) GROUP BY hour, assistant_id, provider, model, above, split_part(run, ' ', 2)
    UNION ALL
    SELECT hour, assistant_id, provider, model, above, sums.* FROM (
        SELECT hour, assistant_id, provider, model, above, sum(reported) AS reported, sum(estimated) AS estimated, sum(input) FILTER (WHERE billed) AS input,
               sum(output) FILTER (WHERE billed) AS output, sum(cache_read) FILTER (WHERE billed) AS cache_read,
               sum(cache_write) FILTER (WHERE billed) AS cache_write,
               sum(cache_write_hour) FILTER (WHERE billed) AS cache_write_hour, sum(recalled) AS recalled,
               sum(troubled) AS troubled, sum(fallback) AS fallback, sum(over_budget) AS over_budget
        FROM request GROUP BY hour, assistant_id, provider, model, above
    ) AS summed, LATERAL (VALUES
        ('reported', reported), ('estimated', estimated), ('input', input), ('output', output), ('cache_read', cache_read),
        ('cache_write', cache_write), ('cache_write_hour', cache_write_hour), ('recalled', recalled),
        ('troubled', troubled), ('fallback', fallback), ('over_budget', over_budget)
    ) AS sums(name, number) WHERE number > 0
)
SELECT hour, assistant_id, provider, model, above, jsonb_object_agg(name, number) AS figures FROM counted GROUP BY hour, assistant_id, provider, model, above
