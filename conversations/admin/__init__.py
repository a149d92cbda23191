"""What support staff meet: Django's admin, with pages of its own for threads and for what the model was given."""

from django.contrib import admin

from conversations.admin.artifacts import ArtifactAdmin, PresetAdmin
from conversations.admin.assistants import AssistantAdmin
from conversations.admin.consolidation import ConsolidationAdmin
from conversations.admin.content import ContentAccessAdmin
from conversations.admin.language_models import LanguageModelAdmin
from conversations.admin.memory import DailySummaryAdmin, MemoryAdmin, ThreadSummaryAdmin, TopicAdmin
from conversations.admin.replies import MessageAdmin, ReplyAdmin
from conversations.admin.snapshots import ContextSnapshotAdmin
from conversations.admin.threads import ThreadAdmin
from conversations.admin.tokens import ApiTokenAdmin
from conversations.admin.users import UserAdmin

admin.site.site_header = admin.site.site_title = "Openbook for staff"
admin.site.index_title = "Who talked, what the model was given, and who replies"

__all__ = [
    "ApiTokenAdmin",
    "ArtifactAdmin",
    "AssistantAdmin",
    "ConsolidationAdmin",
    "ContentAccessAdmin",
    "ContextSnapshotAdmin",
    "DailySummaryAdmin",
    "LanguageModelAdmin",
    "MemoryAdmin",
    "MessageAdmin",
    "PresetAdmin",
    "ReplyAdmin",
    "ThreadAdmin",
    "ThreadSummaryAdmin",
    "TopicAdmin",
    "UserAdmin",
]
