"""That a reply quotes turns and files, noted before anybody is given their words."""

from collections.abc import Collection
from uuid import UUID

from django.db import transaction

from conversations.accounts import allowances
from conversations.models import Quotation
from conversations.tools.base import ToolContext


@transaction.atomic
def note_quotes(call: ToolContext, quoted: Collection[UUID], forgettings: int) -> bool:
    """Whether it is noted: nothing has been forgotten since there were so many ``forgettings``."""
    if allowances.hold_forgettings(call.user_id) != forgettings:
        return False
    quotations = [Quotation(reply_id=call.reply_id, user_id=call.user_id, source=id) for id in quoted]
    Quotation.objects.bulk_create(quotations, ignore_conflicts=True)
    return True
