-- name: plain_plan
-- Much is read once, by one who is in no hurry and leaves the other cores to replies: a plan for these times, not compiled.
SELECT set_config('jit', 'off', true), set_config('plan_cache_mode', 'force_custom_plan', true),
       set_config('work_mem', '128MB', true), set_config('max_parallel_workers_per_gather', '0', true)

-- name: make_requests
-- The one look at all requests: of each what the rules below ask about, in a row that is a tenth as wide. ``prefix`` stands for
-- what came before the turns, ``state``, ``expected`` and ``marked`` are of the prompt cache; ``gone`` counts what was recalled
-- and found no room, of which ``each`` took so many tokens.
CREATE TEMPORARY TABLE lint_request ON COMMIT DROP AS
SELECT thread.assistant_id, snapshot.provider, snapshot.model, snapshot.id, snapshot.thread_id, snapshot.created_at,
       hashtextextended(snapshot.sections, 0) AS prefix, snapshot.items, snapshot.total_tokens, snapshot.message_history_tokens,
       split_part(snapshot.cache, ' ', 1) AS state, split_part(snapshot.cache, ' ', 2) AS expected,
       split_part(snapshot.cache, ' ', 3) AS marked,
       CASE WHEN snapshot.recalled IS NULL THEN NULL WHEN snapshot.recalled @> '[{"included": false, "reason": "over_budget"}]'
            THEN jsonb_array_length(jsonb_path_query_array(snapshot.recalled, '$[*] ? (@.included == false && @.reason == "over_budget")'))
            ELSE 0 END AS gone,
       (snapshot.recalled #>> '{0,tokens}')::int AS each,
       CASE WHEN snapshot.additions LIKE '%%recalled %%' THEN substring(snapshot.additions FROM 'recalled (\d+)')::int END AS recalled,
       (snapshot.files ->> 'tokens')::int AS files
FROM conversations_contextsnapshot AS snapshot
JOIN conversations_thread AS thread ON thread.id = snapshot.thread_id
WHERE snapshot.id >= %(lowest)s AND snapshot.created_at >= %(since)s AND snapshot.purpose IN ('reply', 'artifact')

-- name: make_prefixes
-- What stood before the turns: each different account of it once, with how many requests had it, and its ``tokens``. ``place``
-- draws some of them of each assistant.
CREATE TEMPORARY TABLE lint_prefix ON COMMIT DROP AS
SELECT counted.*, snapshot.sections,
       (SELECT sum(split_part(part, ' ', 2)::int) FROM string_to_table(snapshot.sections, ';') AS part)::int AS tokens,
       row_number() OVER (PARTITION BY assistant_id, counted.provider, counted.model ORDER BY prefix) AS place
FROM (
    SELECT assistant_id, provider, model, prefix, count(*) AS requests, max(id::text COLLATE "C") AS example,
           min(thread_id::text COLLATE "C")::uuid AS thread_id
    FROM lint_request GROUP BY assistant_id, provider, model, prefix
) AS counted
JOIN conversations_contextsnapshot AS snapshot ON snapshot.id = counted.example::uuid

-- name: index_prefixes
-- How many requests are drawn below is no figure that a planner can know: where it takes them for one, each still finds its own.
CREATE INDEX ON lint_prefix (prefix)

-- name: know_tables
ANALYZE lint_request, lint_prefix

-- name: make_notes
-- What stood in requests all session long of what is remembered, of accounts that are drawn.
CREATE TEMPORARY TABLE lint_item ON COMMIT DROP AS
WITH account AS (
    SELECT assistant_id, provider, model, thread_id, items, count(*) AS requests, max(id::text COLLATE "C") AS example
    FROM lint_request WHERE items IS NOT NULL GROUP BY assistant_id, provider, model, thread_id, items
), placed AS (
    SELECT *, row_number() OVER (PARTITION BY assistant_id, provider, model
                                 ORDER BY hashtextextended(thread_id::text, 0), items) AS place,
           sum(requests) OVER (PARTITION BY assistant_id, provider, model) AS all_requests
    FROM account
), drawn AS (
    SELECT *, all_requests / sum(requests) OVER (PARTITION BY assistant_id, provider, model) AS scale
    FROM placed WHERE place <= %(most_accounts)s
)
SELECT drawn.assistant_id, drawn.provider, drawn.model, thread.user_id, drawn.thread_id, drawn.items, drawn.scale * drawn.requests AS requests,
       drawn.example, item.kind, item.id, item.included, item.reason, item.tokens
FROM drawn
JOIN conversations_thread AS thread ON thread.id = drawn.thread_id
JOIN conversations_contextblock AS block ON block.thread_id = drawn.thread_id AND block.sha256 = drawn.items
CROSS JOIN LATERAL jsonb_to_recordset(CASE WHEN block.text LIKE '[{"kind":%%' THEN block.text::jsonb ELSE '[]' END)
    AS item(kind text, id text, included boolean, reason text, tokens integer)

-- name: unused_tool
-- Offered in at least so many requests, and called in no turn. Of the tokens of all definitions a tool has its share.
WITH offered AS (
    SELECT assistant_id, provider, model, part, sum(requests) AS requests, max(example) AS example
    FROM lint_prefix, string_to_table(sections, ';') AS part
    WHERE part LIKE 'tools %%' GROUP BY assistant_id, provider, model, part
), tool AS (
    SELECT offered.*, definition ->> 'name' AS name,
           split_part(part, ' ', 2)::float * length(definition::text)
               / sum(length(definition::text)) OVER (PARTITION BY assistant_id, provider, model, part) AS tokens
    FROM offered
    JOIN conversations_contextblock AS block ON block.thread_id IS NULL
         AND block.sha256 = decode(translate(split_part(part, ' ', 3), '-_', '+/') || '=', 'base64')
    CROSS JOIN jsonb_array_elements(CASE WHEN block.text LIKE '[{%%' THEN block.text::jsonb ELSE '[]' END) AS definition
), called AS (
    SELECT DISTINCT thread.assistant_id, call ->> 'name' AS name
    FROM conversations_message AS message
    JOIN conversations_thread AS thread ON thread.id = message.thread_id
    CROSS JOIN jsonb_path_query(message.content, '$[*] ? (@.type == "tool_use")') AS call
    WHERE message.id >= %(lowest)s AND message.created_at >= %(since)s AND message.content IS NOT NULL
)
SELECT assistant_id, provider, model, left(name, 100), sum(requests), sum(requests * tokens), max(example), '{}'::jsonb
FROM tool WHERE NOT EXISTS (SELECT FROM called WHERE called.assistant_id = tool.assistant_id AND called.name = tool.name)
GROUP BY assistant_id, provider, model, name

-- name: repeated_text
-- Lines of some length that stand twice before the turns of one request: within a section, or in two of them.
WITH drawn AS (
    SELECT *, sum(requests) OVER everything / sum(requests) FILTER (WHERE place <= %(most_prefixes)s) OVER everything AS scale
    FROM lint_prefix WINDOW everything AS (PARTITION BY assistant_id, provider, model)
), line AS (
    SELECT assistant_id, provider, model, place, scale * requests AS requests, example, split_part(part, ' ', 1) AS name, number, nth,
           md5(regexp_replace(lower(written), '\W+', ' ', 'g')) AS said,
           split_part(part, ' ', 2)::float * length(written) / greatest(length(block.text), 1) AS tokens
    FROM drawn
    CROSS JOIN LATERAL string_to_table(sections, ';') WITH ORDINALITY AS section(part, number)
    CROSS JOIN LATERAL (
        SELECT text FROM conversations_contextblock
        WHERE thread_id IS NULL AND sha256 = decode(translate(split_part(part, ' ', 3), '-_', '+/') || '=', 'base64')
        UNION ALL
        SELECT text FROM conversations_contextblock
        WHERE thread_id = drawn.thread_id AND sha256 = decode(translate(split_part(part, ' ', 3), '-_', '+/') || '=', 'base64')
    ) AS block
    CROSS JOIN LATERAL string_to_table(block.text, E'\n') WITH ORDINALITY AS line(written, nth)
    WHERE place <= %(most_prefixes)s AND split_part(part, ' ', 1) NOT IN ('tools', 'program')
      AND length(written) >= %(least_characters)s
), repeated AS (
    SELECT assistant_id, provider, model, place, requests, example, string_agg(DISTINCT name, ' + ' ORDER BY name) AS names,
           sum(tokens) - max(tokens) AS tokens
    FROM line GROUP BY assistant_id, provider, model, place, requests, example, said HAVING count(*) > 1
)
SELECT assistant_id, provider, model, left(names, 100), sum(requests), sum(requests * tokens), max(example),
       '{}'::jsonb
FROM (SELECT assistant_id, provider, model, place, names, requests, example, sum(tokens) AS tokens FROM repeated
      GROUP BY assistant_id, provider, model, place, names, requests, example) AS request
GROUP BY assistant_id, provider, model, names

-- name: cut_section
-- Notes and topics that found no room, in nearly each request with some; a summary that ends at a mark; and what was recalled.
-- The tokens are those that found none: as many for each as one takes that did.
WITH standing AS (
    SELECT assistant_id, provider, model, thread_id, items, max(requests) AS requests, max(example) AS example,
           CASE kind WHEN 'memory' THEN 'memory' ELSE 'open_threads' END AS name,
           count(*) FILTER (WHERE NOT included AND reason = 'over_budget') AS gone,
           avg(tokens) FILTER (WHERE included) AS each
    FROM lint_item WHERE kind IN ('memory', 'topic') GROUP BY assistant_id, provider, model, thread_id, items, kind
), summary AS (
    SELECT assistant_id, provider, model, requests, example, split_part(part, ' ', 1) AS name,
           (block.text LIKE '%%' || %(dropped)s || '%%')::int AS gone, 0 AS each
    FROM lint_prefix
    CROSS JOIN LATERAL string_to_table(sections, ';') AS part
    JOIN conversations_contextblock AS block ON block.thread_id = lint_prefix.thread_id
         AND block.sha256 = decode(translate(split_part(part, ' ', 3), '-_', '+/') || '=', 'base64')
    WHERE place <= %(most_prefixes)s AND split_part(part, ' ', 1) IN ('today', 'last_conversation')
), beside AS (
    SELECT assistant_id, provider, model, count(*) AS requests, max(id::text COLLATE "C") AS example, gone, each
    FROM lint_request WHERE gone IS NOT NULL GROUP BY assistant_id, provider, model, gone, each
), every AS (
    SELECT assistant_id, provider, model, name, requests, example, gone, each FROM standing
    UNION ALL SELECT assistant_id, provider, model, name, requests, example, gone, each FROM summary
    UNION ALL SELECT assistant_id, provider, model, 'recalled', requests, example, gone, each FROM beside
)
SELECT assistant_id, provider, model, name, sum(requests) FILTER (WHERE gone > 0), coalesce(sum(requests * gone * coalesce(each, 0)), 0),
       max(example) FILTER (WHERE gone > 0), jsonb_build_object('requests', round(sum(requests)))
FROM every GROUP BY assistant_id, provider, model, name
HAVING sum(requests) FILTER (WHERE gone > 0) >= %(nearly_all)s * sum(requests)

-- name: broken_cache
-- What came first again was not the same, while the cache still held it: by what was not, where that is so often. Of those that
-- are drawn the request before is read, to find the section that changed.
WITH counted AS (
    SELECT assistant_id, provider, model, state, count(*) AS requests, greatest(ceil(count(*)::float / %(most_broken)s), 1)::bigint AS step
    FROM lint_request WHERE state IN ('warm', 'moved', 'changed', 'other_system', 'other_model')
    GROUP BY assistant_id, provider, model, state
), together AS (
    SELECT assistant_id, provider, model, sum(requests) AS requests FROM counted GROUP BY assistant_id, provider, model
), drawn AS (
    SELECT assistant_id, provider, model, state, request.id, request.thread_id, request.created_at, former.sections, counted.step AS scale,
           message_history_tokens + former.tokens - expected::int AS tokens
    FROM lint_request AS request
    JOIN counted USING (assistant_id, provider, model, state)
    JOIN lint_prefix AS former USING (assistant_id, provider, model, prefix)
    WHERE state <> 'warm' AND hashtextextended(request.id::text, 0) %% counted.step = 0
), culprit AS (
    SELECT drawn.*, CASE WHEN state <> 'other_system' THEN state ELSE coalesce((
        SELECT split_part(sent.part, ' ', 1)
        FROM string_to_table(drawn.sections, ';') WITH ORDINALITY AS sent(part, number)
        LEFT JOIN string_to_table(before.sections, ';') WITH ORDINALITY AS former(part, number) USING (number)
        WHERE sent.part IS DISTINCT FROM former.part ORDER BY number LIMIT 1), 'other_system') END AS name
    FROM drawn LEFT JOIN LATERAL (
        SELECT sections FROM conversations_contextsnapshot AS earlier
        WHERE drawn.state = 'other_system' AND earlier.thread_id = drawn.thread_id AND earlier.created_at < drawn.created_at
          AND earlier.purpose IN ('reply', 'artifact')
        ORDER BY earlier.created_at DESC LIMIT 1
    ) AS before ON true
)
SELECT assistant_id, provider, model, name, sum(scale), sum(scale * greatest(tokens, 0)), max(id::text),
       jsonb_build_object('requests', max(together.requests))
FROM culprit JOIN together USING (assistant_id, provider, model)
GROUP BY assistant_id, provider, model, name HAVING sum(scale) >= %(often)s * max(together.requests)

-- name: small_prefix
-- The whole request, or where its turns moved the system text, is less than what the model caches, by little.
WITH request AS (
    SELECT assistant_id, request.provider, request.model, request.id, row.cacheable_from,
           CASE WHEN state IN ('moved', 'changed') THEN former.tokens ELSE total_tokens END AS tokens
    FROM lint_request AS request
    JOIN lint_prefix AS former USING (assistant_id, provider, model, prefix)
    JOIN conversations_model AS row
      ON row.provider = request.provider AND row.name = regexp_replace(request.model, '-(\d{8}|latest)$', '')
    WHERE marked NOT LIKE 'system%%' AND state > '' AND (marked = '-' OR state IN ('moved', 'changed'))
)
SELECT assistant_id, provider, model, '', count(*), sum(tokens), max(id::text),
       jsonb_build_object('missing', max(cacheable_from - tokens))
FROM request WHERE tokens < cacheable_from AND tokens >= cacheable_from * %(nearly)s
GROUP BY assistant_id, provider, model

-- name: unused_budget
-- What an assistant may give to a part of the request, and the most that this part took. Shares of a window change with it.
WITH part AS (
    SELECT assistant_id, provider, model, requests, example, split_part(part, ' ', 1) AS name, split_part(part, ' ', 2)::int AS tokens
    FROM lint_prefix, string_to_table(sections, ';') AS part
), beside AS (
    SELECT assistant_id, max(recalled) AS recalled, max(files) AS files FROM lint_request GROUP BY assistant_id
), most AS (
    SELECT assistant_id, name, max(tokens) AS tokens FROM part GROUP BY assistant_id, name
    UNION ALL SELECT assistant_id, 'recalled', recalled FROM beside
    UNION ALL SELECT assistant_id, 'files', files FROM beside
), request AS (
    SELECT assistant_id, sum(requests) AS requests, max(example) AS example FROM lint_prefix GROUP BY assistant_id
)
SELECT assistant.id, '', '', budget.field, request.requests,
       request.requests * (budget.tokens - coalesce(most.tokens, 0)), request.example,
       jsonb_build_object('most', coalesce(most.tokens, 0), 'budget', budget.tokens)
FROM request
JOIN conversations_assistant AS assistant ON assistant.id = request.assistant_id
CROSS JOIN LATERAL (VALUES
    ('memory', 'memory_tokens', memory_tokens, true), ('today', 'today_tokens', today_tokens, true),
    ('open_threads', 'open_threads_tokens', open_threads_tokens, true),
    ('last_conversation', 'last_conversation_tokens', last_conversation_tokens, true),
    ('recalled', 'recall_tokens', recall_tokens, true), ('files', 'file_tokens', file_tokens, false)
) AS budget(name, field, tokens, remembers)
LEFT JOIN most ON most.assistant_id = assistant.id AND most.name = budget.name
WHERE assistant.budget_share IS NULL AND budget.tokens > 0 AND (assistant.uses_memory OR NOT budget.remembers)
  AND coalesce(most.tokens, 0) < budget.tokens * %(hardly)s

-- name: notes
-- Notes that were given most, with what they took: each in its person's requests to one assistant.
SELECT item.assistant_id, item.provider, item.model, item.user_id, item.id::uuid, memory.content, memory.confined_to,
       memory.created_at, sum(item.requests), sum(item.requests * item.tokens), max(item.example)
FROM lint_item AS item
JOIN memory_memory AS memory ON memory.id = item.id::uuid AND memory.user_id = item.user_id AND memory.ended_at IS NULL
WHERE item.kind = 'memory' AND item.included
GROUP BY item.assistant_id, item.provider, item.model, item.user_id, item.id, memory.content, memory.confined_to, memory.created_at
ORDER BY sum(item.requests * item.tokens) DESC LIMIT %(most_notes)s

-- name: idle
-- Of these notes, those of whose words none was said since the day on which they were made; words that are common count not.
SELECT note.place FROM jsonb_to_recordset(%(notes)s) AS note(place integer, user_id integer, day date, terms integer[])
LEFT JOIN memory_vocabulary AS vocabulary ON vocabulary.user_id = note.user_id
CROSS JOIN LATERAL (
    SELECT array_agg(term) AS terms FROM unnest(note.terms) AS term WHERE term <> ALL(coalesce(vocabulary.common, '{}'))
) AS telling
WHERE telling.terms IS NOT NULL AND NOT EXISTS (
    SELECT FROM memory_indexedpassage AS passage
    WHERE passage.user_id = note.user_id AND passage.terms && telling.terms AND passage.day > note.day
)

-- name: cache_steps
-- Requests to providers whose cache is marked, by the pause since the request before of the thread and all else that decides
-- about the price; see ``cache_planner.Step``. Where the entries had expired it is taken that nothing else had changed but
-- what the digests of the system text tell. Of an assistant with many requests one thread of ``step`` is drawn, with all of it.
WITH drawn AS (
    SELECT assistant_id, greatest(ceil(sum(requests) / %(most_planned)s), 1)::bigint AS step FROM lint_prefix GROUP BY assistant_id
), request AS (
    SELECT each.id, drawn.step, each.assistant_id, each.provider, each.model, each.thread_id, each.created_at,
           each.total_tokens AS total, each.state, each.expected::int AS expected, each.marked, each.prefix, former.tokens AS system,
           each.message_history_tokens + coalesce(substring(snapshot.runs FROM 'newest (\d+)')::int, 0) AS turns,
           coalesce((snapshot.usage ->> 'input_tokens')::numeric, 0) AS input,
           coalesce((snapshot.usage ->> 'cache_read_input_tokens')::numeric, 0) AS read,
           coalesce((snapshot.usage ->> 'cache_creation_input_tokens')::numeric, 0) AS written,
           coalesce((snapshot.usage ->> 'cache_creation_1h_input_tokens')::numeric, 0) AS written_hour
    FROM lint_request AS each
    JOIN drawn ON drawn.assistant_id = each.assistant_id AND hashtextextended(each.thread_id::text, 0) %% drawn.step = 0
    JOIN lint_prefix AS former ON (former.assistant_id, former.provider, former.model, former.prefix)
                                = (each.assistant_id, each.provider, each.model, each.prefix)
    JOIN conversations_contextsnapshot AS snapshot ON snapshot.id = each.id
    WHERE each.state > '' AND snapshot.usage ? 'input_tokens'
), pair AS (
    SELECT request.*, created_at - lag(created_at) OVER before AS pause,
           lag(marked) OVER before LIKE '%%@1h%%' AS lived_an_hour, lag(prefix) OVER before = prefix AS is_same,
           lag(system + turns) OVER before AS sent_before, lag(model) OVER before = model AND state <> 'other_model' AS is_same_model
    FROM request WINDOW before AS (PARTITION BY thread_id ORDER BY created_at)
), compared AS (
    SELECT pair.*, pair.system >= row.cacheable_from AS keeps_system, pair.total >= row.cacheable_from AS keeps_all, row.cacheable_from,
           CASE WHEN is_same AND is_same_model THEN pair.system ELSE 0 END AS same_system
    FROM pair JOIN conversations_model AS row
      ON row.provider = pair.provider AND row.name = regexp_replace(pair.model, '-(\d{8}|latest)$', '')
    WHERE row.cacheable_from IS NOT NULL
)
SELECT assistant_id, provider, model,
       CASE WHEN pause <= interval '5 minutes' THEN 0 WHEN pause <= interval '1 hour' THEN 1 ELSE 2 END AS pause,
       coalesce(lived_an_hour, false) AS lived_an_hour, marked LIKE '%%@1h%%' AS lives_an_hour,
       CASE WHEN marked LIKE '%%message%%' THEN 'system,message' WHEN marked LIKE 'system%%' THEN 'system' ELSE 'none' END AS marks,
       keeps_system, keeps_all, max(id::text),
       step * count(*), step * sum(total), step * sum(least(system, total)), step * sum(least(same_system, total)),
       step * sum(least(CASE WHEN state = 'warm' THEN expected WHEN state = 'cold' AND same_system > 0 AND sent_before >= cacheable_from THEN sent_before
                      WHEN keeps_system THEN same_system ELSE 0 END, total)),
       step * sum(input), step * sum(read), step * sum(written), step * sum(written_hour)
FROM compared GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, step
