"""From where on something is worrying: the same for `manage.py doctor`, for the page *System*, and for the alerts in
`deploy/prometheus/alerts.yaml`, which a test holds to these."""

QUEUE_SECONDS = 600.0
"""That a task has waited."""
AUDIT_SECONDS = 900.0
"""Since an audit event happened that a destination has not taken."""
TRANSACTION_SECONDS, TRANSACTION_SECONDS_WRONG = 1_800.0, 3_600.0
CONNECTIONS_SHARE = 0.85
"""Of those that PostgreSQL allows."""
LAG_SECONDS = 30.0
BACKUP_SECONDS, DRILL_SECONDS = 2 * 86_400.0, 35 * 86_400.0
"""Since the last that succeeded."""
AHEAD_SECONDS = 2 * 86_400.0
"""Until a table has no partition for new rows."""
FREE_SHARE = 0.1
"""Of a disk. The doctor also looks at the bytes: ``config.doctor.machine``."""
MAIL_SECONDS = 600
"""A mail that waits longer: the mail server is away, or refuses."""
