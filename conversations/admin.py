"""What support staff meet: Django's admin, with pages of its own for threads and for what the model was given."""

from django.contrib import admin

from conversations.staff.assistants import AssistantAdmin
from conversations.staff.audit import AuditEventAdmin
from conversations.staff.budgets import BudgetAdmin
from conversations.staff.connections import ConnectionAdmin
from conversations.staff.content import ContentAccessAdmin
from conversations.staff.datasets import DatasetAdmin
from conversations.staff.experiments import ExperimentAdmin
from conversations.staff.feedback import FeedbackAdmin
from conversations.staff.files import FileAdmin
from conversations.staff.holds import HeldRowAdmin, LegalHoldAdmin
from conversations.staff.invitations import InvitationAdmin
from conversations.staff.language_models import LanguageModelAdmin
from conversations.staff.lint_findings import LintFindingAdmin
from conversations.staff.mail import OutgoingMailAdmin
from conversations.staff.mcp_servers import McpCallAdmin, McpServerAdmin
from conversations.staff.moderation import ModerationFindingAdmin, ModeratorAdmin
from conversations.staff.notices import BannerAdmin, NoticeAdmin
from conversations.staff.projects import ProjectAdmin
from conversations.staff.prompts import SharedPromptAdmin
from conversations.staff.replays import ReplayAdmin
from conversations.staff.replies import MessageAdmin, ReplyAdmin
from conversations.staff.requests.snapshots import ContextSnapshotAdmin
from conversations.staff.retention import RetentionRuleAdmin
from conversations.staff.service_accounts import ServiceAccountAdmin
from conversations.staff.shares import ShareAdmin
from conversations.staff.sign_in_providers import SignInProviderAdmin
from conversations.staff.threads import ThreadAdmin
from conversations.staff.tokens import ApiTokenAdmin
from conversations.staff.users import UserAdmin
from conversations.staff.webhooks import WebhookAdmin, WebhookDeliveryAdmin

admin.site.site_header = admin.site.site_title = "Openbook for staff"
admin.site.index_title = "Who talked, what the model was given, and who replies"

__all__ = [
    "ApiTokenAdmin",
    "AssistantAdmin",
    "AuditEventAdmin",
    "BannerAdmin",
    "BudgetAdmin",
    "ConnectionAdmin",
    "ContentAccessAdmin",
    "ContextSnapshotAdmin",
    "DatasetAdmin",
    "ExperimentAdmin",
    "FeedbackAdmin",
    "FileAdmin",
    "HeldRowAdmin",
    "InvitationAdmin",
    "LanguageModelAdmin",
    "LegalHoldAdmin",
    "LintFindingAdmin",
    "McpCallAdmin",
    "McpServerAdmin",
    "MessageAdmin",
    "ModerationFindingAdmin",
    "ModeratorAdmin",
    "NoticeAdmin",
    "OutgoingMailAdmin",
    "ProjectAdmin",
    "ReplayAdmin",
    "ReplyAdmin",
    "RetentionRuleAdmin",
    "ServiceAccountAdmin",
    "ShareAdmin",
    "SharedPromptAdmin",
    "SignInProviderAdmin",
    "ThreadAdmin",
    "UserAdmin",
    "WebhookAdmin",
    "WebhookDeliveryAdmin",
]
