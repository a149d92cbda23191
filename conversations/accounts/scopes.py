"""Which scopes a token may have, by what its user may: asked when a token is made, and again each time it is used."""

from collections.abc import Callable, Collection, Mapping

from django.contrib.auth.models import User

from conversations.accounts import invitations
from conversations.models import Scope

READ_CONTENT = "conversations.read_content"
AUDIT = "conversations.view_auditevent"
CHANGE_ASSISTANT = "conversations.change_assistant"
KEEPS_MODELS = ("conversations.view_model", "conversations.view_connection")
KEEPS_GROUPS = ("auth.view_group", "auth.change_group", "conversations.view_budget", "conversations.change_budget")
REPLAYS = "conversations.view_replay"
QUEUES = ("conversations.change_feedback", "conversations.change_lintfinding")
DIRECTORY = ("auth.view_user", "auth.add_user", "auth.change_user")


def _any_of(user: User, rights: Collection[str]) -> bool:
    return user.is_staff and any(user.has_perm(right) for right in rights)


RIGHTS: Mapping[Scope, Callable[[User], bool]] = {
    Scope.STAFF: lambda user: user.is_staff,
    Scope.STAFF_CONTENT: lambda user: user.is_staff and user.has_perm(READ_CONTENT),
    Scope.STAFF_AUDIT: lambda user: user.has_perm(AUDIT),
    Scope.STAFF_ASSISTANTS: lambda user: user.has_perm(CHANGE_ASSISTANT),
    Scope.STAFF_MODELS: lambda user: _any_of(user, KEEPS_MODELS),
    Scope.STAFF_GROUPS: lambda user: _any_of(user, KEEPS_GROUPS),
    Scope.STAFF_REPLAYS: lambda user: _any_of(user, [REPLAYS]),
    Scope.STAFF_FEEDBACK: lambda user: _any_of(user, QUEUES),
    Scope.STAFF_INVITATIONS: invitations.may_invite,
    Scope.SCIM: lambda user: user.has_perms(DIRECTORY),
}
"""Of the scopes that take one; anybody may give a token the others."""


def grantable(user: User) -> list[Scope]:
    """Those that a token of this user may have."""
    return [scope for scope in Scope if scope not in RIGHTS or RIGHTS[scope](user)]


def in_force(user: User, granted: Collection[str]) -> list[str]:
    """Those that count now: without what its user has lost the right of. Reads the database only where one takes a right."""
    return [scope for scope in granted if Scope(scope) not in RIGHTS or RIGHTS[Scope(scope)](user)]
