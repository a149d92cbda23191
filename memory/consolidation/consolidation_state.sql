-- name: failed
-- What failed is wanted until it succeeds, so that it is found however long ago the user was active.
INSERT INTO memory_consolidation AS state
    (user_id, wanted_at, not_before, failures, error, ended_at, parts_done, parts_to_do)
SELECT id, %(now)s, %(now)s + %(pauses)s[1], 1, %(error)s, %(now)s, 0, 0 FROM auth_user WHERE id = %(user)s
ON CONFLICT (user_id) DO UPDATE
SET wanted_at = coalesce(state.wanted_at, excluded.wanted_at), failures = state.failures + 1, error = excluded.error,
    not_before = %(now)s + %(pauses)s[least(state.failures + 1, %(longest)s)], ended_at = excluded.ended_at
