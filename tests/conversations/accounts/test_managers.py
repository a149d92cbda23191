"""Who manages whom."""

import pytest
from django.contrib.auth.models import AnonymousUser, Group

from conversations.accounts.managers import groups_managed_by, manages
from conversations.models import GroupManager
from tests.conversations.factories import make_user

pytestmark = pytest.mark.django_db


def test_a_manager_manages_those_who_are_in_the_group() -> None:
    manager, member, leaver, other = (make_user(name) for name in ("manager", "member", "leaver", "other"))
    research, sales, unmanaged = (Group.objects.create(name=name) for name in ("Research", "Sales", "Unmanaged"))
    for group in (sales, research):
        GroupManager.objects.create(group=group, user=manager)
    member.groups.set([research, unmanaged])
    leaver.groups.set([sales])
    leaver.is_active = False
    leaver.save()
    other.groups.set([unmanaged])
    assert list(groups_managed_by(manager)) == [research, sales]
    assert [manages(manager, each) for each in (member, leaver, other, manager)] == [True, True, False, False]
    assert not manages(member, member)
    assert not groups_managed_by(AnonymousUser()).exists()
    manager.is_active = False
    assert not manages(manager, member)
    sales.delete()
    member.delete()
    assert list(GroupManager.objects.values_list("group__name", flat=True)) == ["Research"]
