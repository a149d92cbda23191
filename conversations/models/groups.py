from django.conf import settings
from django.contrib.auth.models import Group, Permission
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import BooleanField


class GivenRight(models.Model):
    """A right that `migrate` gave a group once. Whoever runs the server may take it away: it is not given again."""

    group = models.ForeignKey(Group, models.CASCADE, related_name="+")
    permission = models.ForeignKey(Permission, models.CASCADE, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["group", "permission"], name="right_given_once")]

    def __str__(self) -> str:
        return f"{self.permission.codename} of {self.group}"


class GroupManager(models.Model):
    """Who manages a group: sees what its members use, in sums, and takes over what members who leave have shared. A manager
    need not be in the group, and holds no right of staff by it."""

    group = models.ForeignKey(Group, models.DB_CASCADE, related_name="managers")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_CASCADE, related_name="+")

    class Meta:
        verbose_name = "manager"
        constraints = [
            models.UniqueConstraint(
                fields=["group", "user"],
                name="group_manager_once",
                violation_error_message="This person manages the group already.",
            )
        ]

    def __str__(self) -> str:
        return f"{self.user_id} manages {self.group_id}"


def names(most: int, help_text: str) -> ArrayField[list[str], list[str]]:
    return ArrayField(models.CharField(max_length=most), default=list, blank=True, help_text=help_text)


class GroupAccess(models.Model):
    """What the members of a group may use, by names. A list that is empty allows all; whoever is in several groups that have
    such lists may what any of them allows. A group without this row says nothing."""

    group = models.OneToOneField(Group, models.DB_CASCADE, related_name="access")
    assistants = names(50, "None ticked: all.")
    models = names(121, "None ticked: all.")
    connections = names(40, "None ticked: all.")
    tools = names(40, "None ticked: all.")
    sharing = BooleanField("links that show conversations to others", default=True, db_default=True)
    uploads = BooleanField("files, and imports", default=True, db_default=True)
    temporary_chats = BooleanField("temporary chats", default=True, db_default=True)
    export = BooleanField("export of everything", default=True, db_default=True)

    class Meta:
        verbose_name = verbose_name_plural = "what members may use"

    def __str__(self) -> str:
        return f"what {self.group_id} may use"
