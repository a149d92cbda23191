"""Locks of the database that a test has; the server is shared with tests of other processes."""

LOCKS = "SELECT pid FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE datname = current_database()"
"""Conditions may follow."""
