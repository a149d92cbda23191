"""Programs that hear of what happened, by the convention of Standard Webhooks: who wants to, what waits, the sending."""
