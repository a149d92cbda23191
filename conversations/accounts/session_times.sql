-- Of `"user"`, a row of auth_user.

-- name: group_times
(
  SELECT ARRAY[
    min(rule.session_hours) FILTER (WHERE rule.session_hours > 0),
    min(rule.session_idle_minutes) FILTER (WHERE rule.session_idle_minutes > 0)
  ]
  FROM auth_user_groups AS membership
  JOIN conversations_groupsignin AS rule ON rule.group_id = membership.group_id
  WHERE membership.user_id = "user".id
)
