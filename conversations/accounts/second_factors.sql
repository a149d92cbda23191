-- Of `"user"`, a row of auth_user.

-- name: lacks_factor
(
  EXISTS (
    SELECT FROM auth_user_groups AS membership
    JOIN conversations_groupsignin AS rule ON rule.group_id = membership.group_id AND rule.requires_second_factor
    WHERE membership.user_id = "user".id
  ) AND NOT EXISTS (
    SELECT FROM mfa_authenticator AS factor WHERE factor.user_id = "user".id AND factor.type IN ('totp', 'webauthn')
  )
)
