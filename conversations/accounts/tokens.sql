-- A token that may be used, with its user and what staff allow that user. `tokens.py` puts the columns in front, as the models
-- have them.

-- name: valid
-- part: lacks_notice
FROM conversations_apitoken AS token
JOIN auth_user AS "user" ON "user".id = token.user_id AND "user".is_active
LEFT JOIN conversations_userlimits AS limits ON limits.user_id = token.user_id
WHERE token.digest = %(digest)s AND token.expires_at > %(now)s AND token.revoked_at IS NULL
  AND NOT EXISTS (SELECT FROM conversations_accountdeletion WHERE user_id = token.user_id)
