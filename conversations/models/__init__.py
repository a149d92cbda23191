from conversations.models.accesses import ContentAccess
from conversations.models.accounts import AccountDeletion, ServiceAccount
from conversations.models.assistants import Assistant, AssistantVersion, Fallback
from conversations.models.audit import AuditAnchor, AuditDelivery, AuditEvent, AuditKind
from conversations.models.budgets import Budget, BudgetCharge, BudgetPool
from conversations.models.connections import Connection
from conversations.models.datasets import Case, CaseAnswer, CaseResult, Dataset, Experiment
from conversations.models.directory import DirectoryGroup, DirectoryUser
from conversations.models.feedback import Feedback
from conversations.models.files import BytesToRemove, File, FilePart
from conversations.models.groups import GivenRight, GroupAccess, GroupManager
from conversations.models.holds import HeldRow, LegalHold
from conversations.models.invitations import Invitation, InvitationGroup, InvitationUse
from conversations.models.language_models import Effort, Model, ModelPrice, TokenCount, TokenFactor
from conversations.models.leases import Lease
from conversations.models.limits import Allowance, TokenReservation, UserLimits
from conversations.models.lint import CacheForecast, LintFinding
from conversations.models.mail import OutgoingMail
from conversations.models.maintenance import MaintenanceRun
from conversations.models.mcp import McpCall, McpServer, McpSignIn, McpTool
from conversations.models.moderation import ModerationFinding, Moderator, Stage
from conversations.models.notices import Banner, Notice, NoticeAcceptance
from conversations.models.projects import Instructions, Project
from conversations.models.prompts import Prompt, SharedPrompt
from conversations.models.replays import Replay
from conversations.models.replies import Quotation, Reply, ReplyEvent
from conversations.models.retention import RetentionRule
from conversations.models.schedules import Schedule
from conversations.models.shares import Share
from conversations.models.sign_in import GroupSignIn
from conversations.models.snapshots import FATES, ContextBlock, ContextSnapshot, RequestHour, TemporaryHour
from conversations.models.threads import Message, Thread, more_than_text, text_blocks
from conversations.models.tokens import ApiToken, Scope
from conversations.models.turn_files import TurnFile
from conversations.models.webhooks import Webhook, WebhookDelivery, WebhookEvent

__all__ = [
    "FATES",
    "AccountDeletion",
    "Allowance",
    "ApiToken",
    "Assistant",
    "AssistantVersion",
    "AuditAnchor",
    "AuditDelivery",
    "AuditEvent",
    "AuditKind",
    "Banner",
    "Budget",
    "BudgetCharge",
    "BudgetPool",
    "BytesToRemove",
    "CacheForecast",
    "Case",
    "CaseAnswer",
    "CaseResult",
    "Connection",
    "ContentAccess",
    "ContextBlock",
    "ContextSnapshot",
    "Dataset",
    "DirectoryGroup",
    "DirectoryUser",
    "Effort",
    "Experiment",
    "Fallback",
    "Feedback",
    "File",
    "FilePart",
    "GivenRight",
    "GroupAccess",
    "GroupManager",
    "GroupSignIn",
    "HeldRow",
    "Instructions",
    "Invitation",
    "InvitationGroup",
    "InvitationUse",
    "Lease",
    "LegalHold",
    "LintFinding",
    "MaintenanceRun",
    "McpCall",
    "McpServer",
    "McpSignIn",
    "McpTool",
    "Message",
    "Model",
    "ModelPrice",
    "ModerationFinding",
    "Moderator",
    "Notice",
    "NoticeAcceptance",
    "OutgoingMail",
    "Project",
    "Prompt",
    "Quotation",
    "Replay",
    "Reply",
    "ReplyEvent",
    "RequestHour",
    "RetentionRule",
    "Schedule",
    "Scope",
    "ServiceAccount",
    "Share",
    "SharedPrompt",
    "Stage",
    "TemporaryHour",
    "Thread",
    "TokenCount",
    "TokenFactor",
    "TokenReservation",
    "TurnFile",
    "UserLimits",
    "Webhook",
    "WebhookDelivery",
    "WebhookEvent",
    "more_than_text",
    "text_blocks",
]
