-- A user, with all that each of their requests asks of them. `session_user.py` puts the columns in front, as the models have
-- them.

-- name: by_id
-- part: lacks_factor
,
-- part: lacks_notice
,
-- part: group_times
FROM auth_user AS "user"
LEFT JOIN conversations_accountdeletion AS deletion ON deletion.user_id = "user".id
LEFT JOIN conversations_serviceaccount AS service_account ON service_account.user_id = "user".id
LEFT JOIN memory_preferences AS preferences ON preferences.user_id = "user".id
WHERE "user".id = %(user)s
