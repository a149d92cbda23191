-- Tokens for one call of a model beside replies. A limit that is reached fails the whole statement, as where a reply is opened.

-- name: reserve
WITH allowance AS (
    INSERT INTO conversations_allowance AS allowance (user_id, token_id, day, running, reserved, spent, most_tokens)
    SELECT person.id, NULL, (now() AT TIME ZONE 'UTC')::date, 0, %(reserved)s, 0,
           nullif(coalesce(own.tokens_day, %(most_tokens)s), 0)
    FROM auth_user AS person LEFT JOIN conversations_userlimits AS own ON own.user_id = person.id
    WHERE person.id = %(user)s
    ON CONFLICT (user_id, token_id) DO UPDATE
    SET day = excluded.day, reserved = allowance.reserved + excluded.reserved,
        spent = CASE WHEN allowance.day = excluded.day THEN allowance.spent ELSE 0 END,
        most_running = NULL, most_tokens = excluded.most_tokens
    RETURNING most_tokens, NOT EXISTS (
        SELECT FROM conversations_allowance AS known WHERE known.user_id = %(user)s AND known.token_id IS NULL
    ) AS is_new
),
-- part: reserve
, reservation AS (
    INSERT INTO conversations_tokenreservation (user_id, purpose, reserved, created_at, expires_at)
    SELECT %(user)s, %(purpose)s, %(reserved)s, now(), now() + %(lasts)s FROM allowance
    RETURNING id
), charge AS (
    INSERT INTO conversations_budgetcharge (
        budget_id, user_id, reservation_id, provider, model, day, reserved_tokens, reserved_money, spent_tokens, spent_money,
        is_open, expires_at
    )
    SELECT pool.budget_id, %(user)s, reservation.id, %(provider)s, %(model)s, (now() AT TIME ZONE 'UTC')::date, %(reserved)s,
           coalesce(%(money)s::bigint, 0), 0, 0, true, now() + %(lasts)s
    FROM pool, reservation WHERE pool.user_id IS NULL
), earlier AS (
    SELECT coalesce(sum(coalesce(spent, reserved)), 0) AS tokens FROM conversations_tokenreservation
    WHERE user_id = %(user)s AND purpose = %(purpose)s
      AND created_at >= date_trunc('day', now(), 'UTC') AND (spent IS NOT NULL OR expires_at > now())
)
SELECT reservation.id, allowance.most_tokens, allowance.is_new, earlier.tokens::bigint AS earlier
FROM reservation, allowance, earlier

-- name: settle
WITH ended AS (
    UPDATE conversations_tokenreservation AS reservation SET spent = %(spent)s
    WHERE user_id = %(user)s AND id = %(reservation)s AND spent IS NULL
    RETURNING id, reserved, (created_at AT TIME ZONE 'UTC')::date AS day
), counted AS (
    UPDATE conversations_allowance AS allowance
    SET reserved = greatest(allowance.reserved - ended.reserved, 0),
        spent = allowance.spent + CASE WHEN allowance.day = ended.day THEN %(spent)s ELSE 0 END,
        most_running = NULL, most_tokens = NULL
    FROM ended
    WHERE allowance.user_id = %(user)s AND allowance.token_id IS NULL
    RETURNING allowance.id
), taken AS (
    -- What was given back meanwhile, as it took too long, is set aside no more.
    SELECT charge.id, charge.budget_id, charge.user_id, charge.day, %(spent)s::bigint AS tokens, %(money)s::bigint AS money,
           CASE WHEN charge.is_open THEN charge.reserved_tokens ELSE 0 END AS reserved_tokens,
           CASE WHEN charge.is_open THEN charge.reserved_money ELSE 0 END AS reserved_money
    FROM ended JOIN conversations_budgetcharge AS charge ON charge.reservation_id = ended.id
    FOR NO KEY UPDATE OF charge
),
-- part: settle
SELECT id FROM ended
