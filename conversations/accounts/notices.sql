-- Of `"user"`, a row of auth_user.

-- name: lacks_notice
(
  EXISTS (
    SELECT FROM conversations_notice AS notice
    WHERE notice.version IS NOT NULL AND notice.withdrawn_at IS NULL AND NOT EXISTS (
      SELECT FROM conversations_noticeacceptance AS acceptance
      WHERE acceptance.user_id = "user".id AND acceptance.version >= notice.version
    )
  ) AND NOT EXISTS (SELECT FROM conversations_serviceaccount AS service WHERE service.user_id = "user".id)
)
