"""What groups and the whole installation may use of models, and what they have used.

Money is kept in micro-dollars (USD / 1,000,000) where it is summed, and given in USD where people write it.
"""

from django.conf import settings
from django.contrib.auth.models import Group
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext


def tokens_limit(text: str) -> models.PositiveBigIntegerField[int | None, int | None]:
    return models.PositiveBigIntegerField(text, null=True, blank=True)


def money_limit(text: str) -> models.DecimalField:  # type: ignore[type-arg]
    return models.DecimalField(
        text, max_digits=12, decimal_places=2, null=True, blank=True, validators=[MinValueValidator(0)]
    )


class Budget(models.Model):
    """What a group may use together and each of its members of it, or, without a group, the whole installation and each
    person of it. Empty: no limit; 0: nothing. Days and months begin at 00:00 UTC."""

    group = models.OneToOneField(
        Group,
        models.DB_CASCADE,
        null=True,
        blank=True,
        related_name="budget",
        help_text="Empty: the whole installation.",
    )
    tokens_day = tokens_limit("tokens a day")
    tokens_month = tokens_limit("tokens a month")
    money_day = money_limit("USD a day")
    money_month = money_limit("USD a month")
    member_tokens_day = tokens_limit("tokens a day, each person")
    member_tokens_month = tokens_limit("tokens a month, each person")
    member_money_day = money_limit("USD a day, each person")
    member_money_month = money_limit("USD a month, each person")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["group"],
                name="budget_once",
                nulls_distinct=False,
                violation_error_message="There is one already: change that.",
            )
        ]

    def __str__(self) -> str:
        return self.group.name if self.group else gettext("the whole installation")


class BudgetPool(models.Model):
    """What was used of a budget today and this month, and what is set aside for calls that run: together, or (``user``) by one
    person. One row decides, as ``Allowance`` does for a person; a sum of the charges.

    The ``most_*`` are the limits as the latest call to begin met them; a constraint refuses one that would go beyond.
    ``warned_*`` is the share of a limit, in percent, of which managers were told last in this day or month, ``refused_*``
    whether a call was refused in it.
    """

    budget = models.ForeignKey(Budget, models.DB_CASCADE, related_name="pools", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_CASCADE, null=True, related_name="+")
    day = models.DateField()
    month = models.DateField(help_text="Its first day.")
    reserved_tokens = models.BigIntegerField(default=0)
    reserved_money = models.BigIntegerField(default=0)
    tokens_day = models.BigIntegerField(default=0)
    tokens_month = models.BigIntegerField(default=0)
    money_day = models.BigIntegerField(default=0)
    money_month = models.BigIntegerField(default=0)
    most_tokens_day = models.BigIntegerField(null=True)
    most_tokens_month = models.BigIntegerField(null=True)
    most_money_day = models.BigIntegerField(null=True)
    most_money_month = models.BigIntegerField(null=True)
    warned_day = models.PositiveSmallIntegerField(default=0, db_default=0)
    warned_month = models.PositiveSmallIntegerField(default=0, db_default=0)
    refused_day = models.BooleanField(default=False, db_default=False)
    refused_month = models.BooleanField(default=False, db_default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["budget", "user"], nulls_distinct=False, name="pool_once"),
            *(
                models.CheckConstraint(
                    condition=Q(**{f"most_{kind}_{period}__gte": F(f"{kind}_{period}") + F(f"reserved_{kind}")}),
                    name=f"pool_{kind}_{period}",
                )
                for kind in ("tokens", "money")
                for period in ("day", "month")
            ),
            models.CheckConstraint(condition=Q(reserved_money__gte=0), name="pool_price_known"),
        ]

    def __str__(self) -> str:
        return f"pool of {self.budget_id}, {self.user_id or 'together'}"


class BudgetCharge(models.Model):
    """What one reply, or one call beside replies, took of one budget: set aside while it ``is_open``, spent afterwards.

    Kept when its thread or its person goes: what was used stays used. While it is open, ``spent_*`` are the calls of it that
    have ended. One that a dead process left is closed by whoever ends its reply, or past ``expires_at``.
    """

    budget = models.ForeignKey(Budget, models.DB_CASCADE, related_name="charges", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_SET_NULL, null=True, related_name="+")
    reply = models.UUIDField(null=True, db_column="reply_id")
    reservation = models.BigIntegerField(null=True, db_column="reservation_id")
    provider = models.CharField(max_length=40)
    model = models.CharField(max_length=80)
    day = models.DateField()
    reserved_tokens = models.BigIntegerField()
    reserved_money = models.BigIntegerField()
    spent_tokens = models.BigIntegerField(default=0)
    spent_money = models.BigIntegerField(default=0)
    is_open = models.BooleanField(default=True)
    expires_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["budget", "day"], name="charge_of_budget"),
            models.Index(fields=["reply"], name="charge_of_reply", condition=Q(is_open=True)),
            models.Index(fields=["reservation"], name="charge_of_reservation", condition=Q(reservation__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"charge of {self.budget_id}: {self.spent_tokens} tokens"
