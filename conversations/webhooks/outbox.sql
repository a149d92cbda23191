-- name: tell
-- A row for each webhook that wants to hear of it: of the persons, and of the installation. `closing.sql` does the same where a
-- reply ends.
INSERT INTO conversations_webhookdelivery (id, webhook_id, user_id, event, data, created_at, due_at)
SELECT gen_random_uuid(), webhook.id, %(about)s::int, %(event)s::text, %(data)s::jsonb, %(now)s::timestamptz, %(now)s::timestamptz
FROM conversations_webhook AS webhook
WHERE webhook.is_active AND (webhook.user_id = ANY(%(hearers)s::int[]) OR webhook.for_all)
  AND %(event)s::text = ANY(webhook.events)

-- name: take
-- The oldest that are due, a few of each webhook, so that one that hangs holds up no other; of one that failed a single one.
-- Each is noted as tried before it is sent: whoever is killed in between leaves it to be sent again.
WITH busy AS (
    SELECT * FROM unnest(%(webhooks)s::uuid[], %(counts)s::int[]) AS busy (webhook_id, count)
), due AS (
    SELECT delivery.id
    FROM conversations_webhook AS webhook
    JOIN auth_user AS owner ON owner.id = webhook.user_id AND owner.is_active
    LEFT JOIN busy ON busy.webhook_id = webhook.id
    CROSS JOIN LATERAL (
        SELECT id, due_at FROM conversations_webhookdelivery
        WHERE webhook_id = webhook.id AND due_at <= %(now)s::timestamptz
        ORDER BY due_at, id
        LIMIT greatest(0, CASE WHEN webhook.failures > 0 THEN 1 ELSE %(most_each)s::int END - coalesce(busy.count, 0))
    ) AS delivery
    WHERE webhook.is_active AND (webhook.rests_until IS NULL OR webhook.rests_until <= %(now)s::timestamptz)
    ORDER BY delivery.due_at
    LIMIT %(most)s::int
)
UPDATE conversations_webhookdelivery AS delivery
SET attempts = delivery.attempts + 1, attempted_at = %(now)s::timestamptz, due_at = %(now)s::timestamptz + %(attempt)s::interval
FROM due WHERE delivery.id = due.id AND delivery.due_at <= %(now)s::timestamptz
RETURNING delivery.id
