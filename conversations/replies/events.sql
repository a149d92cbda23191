-- For all running replies of a process: renew their leases, append what they produced, and learn which of them still belong to
-- this process and which are asked to stop, or whose
-- person is deactivated. A reply that was taken away gets no event any more.

-- name: beat
WITH mine AS (
    UPDATE conversations_reply SET lease_until = now() + %(lease)s, suspected_at = NULL
    WHERE user_id = ANY(%(users)s) AND id = ANY(%(replies)s) AND owner = %(owner)s AND status = 'running'
    RETURNING id, user_id, stop_requested_at IS NOT NULL
        OR EXISTS (SELECT FROM auth_user WHERE id = conversations_reply.user_id AND NOT is_active) AS stop
), written AS (
    INSERT INTO conversations_replyevent (reply_id, user_id, seq, type, data, at)
    SELECT mine.id, mine.user_id, event.seq, event.type, event.data, event.at
    FROM unnest(
        %(ids)s::uuid[], %(seqs)s::int[], %(types)s::text[], %(data)s::jsonb[], %(times)s::timestamptz[]
    ) AS event (reply_id, seq, type, data, at)
    JOIN mine ON mine.id = event.reply_id
    ON CONFLICT DO NOTHING
)
SELECT id, stop FROM mine
