-- Parts of the statements that set something aside of a person's day and settle it: the same for the budgets that the person is
-- under. `allowance` and `counted` of these statements lock the rows of the person and of the token; those of the pools are
-- locked after them, always in one order: the person's parts first, what most people share last.

-- name: reserve
budget AS (
    SELECT budget.* FROM conversations_budget AS budget
    WHERE budget.group_id IS NULL OR budget.group_id IN (SELECT group_id FROM auth_user_groups WHERE user_id = %(user)s)
), pool AS (
    INSERT INTO conversations_budgetpool AS pool (
        budget_id, user_id, day, month, reserved_tokens, reserved_money, tokens_day, tokens_month, money_day, money_month,
        most_tokens_day, most_tokens_month, most_money_day, most_money_month, warned_day, warned_month
    )
    SELECT whose.budget_id, whose.user_id, (now() AT TIME ZONE 'UTC')::date,
           date_trunc('month', now() AT TIME ZONE 'UTC')::date, %(reserved)s,
           -- What it may cost is not known: refused by a constraint where money is limited.
           coalesce(%(money)s::bigint, CASE WHEN whose.money_day IS NULL AND whose.money_month IS NULL THEN 0 ELSE -1 END),
           0, 0, 0, 0, whose.tokens_day, whose.tokens_month, (whose.money_day * 1000000)::bigint,
           (whose.money_month * 1000000)::bigint, 0, 0
    FROM (SELECT count(*) FROM allowance HAVING count(*) > 0) AS begun, (
        SELECT id AS budget_id, group_id, %(user)s::integer AS user_id, member_tokens_day AS tokens_day,
               member_tokens_month AS tokens_month, member_money_day AS money_day, member_money_month AS money_month
        FROM budget
        UNION ALL
        SELECT id, group_id, NULL, tokens_day, tokens_month, money_day, money_month FROM budget
    ) AS whose
    ORDER BY whose.user_id NULLS LAST, whose.group_id NULLS LAST
    ON CONFLICT (budget_id, user_id) DO UPDATE
    SET day = greatest(pool.day, excluded.day), month = greatest(pool.month, excluded.month),
        reserved_tokens = pool.reserved_tokens + excluded.reserved_tokens,
        reserved_money = CASE WHEN excluded.reserved_money < 0 THEN -1 ELSE pool.reserved_money + excluded.reserved_money END,
        tokens_day = CASE WHEN pool.day >= excluded.day THEN pool.tokens_day ELSE 0 END,
        money_day = CASE WHEN pool.day >= excluded.day THEN pool.money_day ELSE 0 END,
        tokens_month = CASE WHEN pool.month >= excluded.month THEN pool.tokens_month ELSE 0 END,
        money_month = CASE WHEN pool.month >= excluded.month THEN pool.money_month ELSE 0 END,
        warned_day = CASE WHEN pool.day >= excluded.day THEN pool.warned_day ELSE 0 END,
        warned_month = CASE WHEN pool.month >= excluded.month THEN pool.warned_month ELSE 0 END,
        refused_day = pool.refused_day AND pool.day >= excluded.day,
        refused_month = pool.refused_month AND pool.month >= excluded.month,
        most_tokens_day = excluded.most_tokens_day, most_tokens_month = excluded.most_tokens_month,
        most_money_day = excluded.most_money_day, most_money_month = excluded.most_money_month
    RETURNING pool.budget_id, pool.user_id, pool.day
)

-- name: reserve_more
charge AS (
    -- The reply is locked: nobody else changes what is set aside for it.
    SELECT charge.id, charge.budget_id, charge.user_id, charge.reserved_tokens, charge.reserved_money
    FROM step JOIN conversations_budgetcharge AS charge ON charge.reply_id = step.id AND charge.is_open
    FOR NO KEY UPDATE OF charge
), charged AS (
    UPDATE conversations_budgetcharge AS charge
    SET reserved_tokens = %(reserved)s, reserved_money = coalesce(%(money)s::bigint, 0), spent_tokens = %(spent)s,
        spent_money = %(spent_money)s, provider = %(provider)s, model = %(model)s
    FROM charge AS earlier WHERE charge.id = earlier.id
), whose AS (
    SELECT pool.id, %(reserved)s - charge.reserved_tokens AS more_tokens,
           CASE WHEN pool.user_id IS NULL THEN budget.tokens_day ELSE budget.member_tokens_day END AS tokens_day,
           CASE WHEN pool.user_id IS NULL THEN budget.tokens_month ELSE budget.member_tokens_month END AS tokens_month,
           limits.money_day, limits.money_month,
           coalesce(%(money)s::bigint, CASE WHEN limits.money_day IS NULL AND limits.money_month IS NULL THEN 0 END)
               - charge.reserved_money AS more_money
    FROM (SELECT count(*) FROM counted) AS locked, charge
    JOIN conversations_budget AS budget ON budget.id = charge.budget_id
    JOIN conversations_budgetpool AS pool
      ON pool.budget_id = charge.budget_id AND (pool.user_id IS NULL OR pool.user_id = charge.user_id)
    CROSS JOIN LATERAL (
        SELECT CASE WHEN pool.user_id IS NULL THEN budget.money_day ELSE budget.member_money_day END AS money_day,
               CASE WHEN pool.user_id IS NULL THEN budget.money_month ELSE budget.member_money_month END AS money_month
    ) AS limits
    ORDER BY pool.user_id NULLS LAST, budget.group_id NULLS LAST
    FOR NO KEY UPDATE OF pool
), pool AS (
    UPDATE conversations_budgetpool AS pool
    SET reserved_tokens = greatest(pool.reserved_tokens + whose.more_tokens, 0),
        reserved_money = CASE WHEN whose.more_money IS NULL THEN -1
                              ELSE greatest(pool.reserved_money + whose.more_money, 0) END,
        most_tokens_day = CASE WHEN whose.more_tokens > 0 THEN whose.tokens_day END,
        most_tokens_month = CASE WHEN whose.more_tokens > 0 THEN whose.tokens_month END,
        most_money_day = CASE WHEN whose.more_money > 0 THEN (whose.money_day * 1000000)::bigint END,
        most_money_month = CASE WHEN whose.more_money > 0 THEN (whose.money_month * 1000000)::bigint END
    FROM whose WHERE pool.id = whose.id
)

-- name: settle
charged AS (
    UPDATE conversations_budgetcharge AS charge
    SET is_open = false, spent_tokens = taken.tokens, spent_money = taken.money
    FROM taken WHERE charge.id = taken.id
), whose AS (
    SELECT pool.id, taken.reserved_tokens, taken.reserved_money, taken.tokens, taken.money, pool.day = taken.day AS is_of_day,
           pool.month = date_trunc('month', taken.day)::date AS is_of_month
    FROM (SELECT count(*) FROM counted) AS locked, taken
    JOIN conversations_budget AS budget ON budget.id = taken.budget_id
    JOIN conversations_budgetpool AS pool
      ON pool.budget_id = taken.budget_id AND (pool.user_id IS NULL OR pool.user_id = taken.user_id)
    ORDER BY pool.user_id NULLS LAST, budget.group_id NULLS LAST
    FOR NO KEY UPDATE OF pool
), sums AS (
    SELECT id, sum(reserved_tokens) AS reserved_tokens, sum(reserved_money) AS reserved_money,
           coalesce(sum(tokens) FILTER (WHERE is_of_day), 0) AS tokens_day,
           coalesce(sum(money) FILTER (WHERE is_of_day), 0) AS money_day,
           coalesce(sum(tokens) FILTER (WHERE is_of_month), 0) AS tokens_month,
           coalesce(sum(money) FILTER (WHERE is_of_month), 0) AS money_month
    FROM whose GROUP BY id
), pool AS (
    UPDATE conversations_budgetpool AS pool
    SET reserved_tokens = greatest(pool.reserved_tokens - sums.reserved_tokens, 0),
        reserved_money = greatest(pool.reserved_money - sums.reserved_money, 0),
        tokens_day = pool.tokens_day + sums.tokens_day, money_day = pool.money_day + sums.money_day,
        tokens_month = pool.tokens_month + sums.tokens_month, money_month = pool.money_month + sums.money_month,
        most_tokens_day = NULL, most_tokens_month = NULL, most_money_day = NULL, most_money_month = NULL
    FROM sums WHERE pool.id = sums.id
)
