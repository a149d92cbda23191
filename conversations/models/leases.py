from django.db import models


class Lease(models.Model):
    """Who does just now what one process at a time may do. ``conversations.runtime.leases`` takes and renews them.

    Written every other second for as long as they last, so the table is unlogged.
    """

    name = models.CharField(max_length=120, primary_key=True)
    holder = models.UUIDField()
    lease_until = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
