"""What a person wants each model to know about them, and how to be answered."""

from django.contrib.auth.models import User
from django.db import transaction

from conversations.holds import custody
from conversations.models import Instructions
from conversations.runtime import clock


def instructions_of(user: User) -> Instructions:
    """Empty ones where the person wrote none."""
    return Instructions.objects.filter(user=user).first() or Instructions(user=user)


@transaction.atomic
def instruct(user: User, **values: str) -> Instructions:
    """``about`` and ``style``; what isn't named stays."""
    custody.keep(user.pk, Instructions.objects.filter(user=user))
    changes = {name: text.strip() for name, text in values.items()}
    return Instructions.objects.update_or_create(user=user, defaults=changes | {"updated_at": clock.now()})[0]
