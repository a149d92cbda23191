-- name: give_back
-- What is set aside for calls that nobody waits for any more. What they took before counts.
WITH taken AS (
    SELECT charge.id, charge.budget_id, charge.user_id, charge.reserved_tokens, charge.reserved_money, charge.day,
           charge.spent_tokens AS tokens, charge.spent_money AS money
    FROM conversations_budgetcharge AS charge
    WHERE charge.is_open AND (%(budgets)s::bigint[] IS NULL OR charge.budget_id = ANY(%(budgets)s::bigint[]))
      AND (charge.expires_at <= now() OR charge.reply_id IS NOT NULL AND NOT EXISTS (
          SELECT FROM conversations_reply AS reply WHERE reply.id = charge.reply_id AND reply.status = 'running'
      ))
    FOR NO KEY UPDATE OF charge SKIP LOCKED
), counted AS (
    SELECT
),
-- part: settle
SELECT count(*) FROM taken
