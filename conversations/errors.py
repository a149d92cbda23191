"""Errors that people and programs are told. One shape on every door: REST, SSE and WebSocket (shared by all of them)."""

from typing import Annotated, Any, NotRequired, TypedDict

from conversations.runtime.request_ids import current_request_id
from conversations.runtime.wording import Worded


class WordingObject(TypedDict):
    """What a message with figures is made of, for pages that say it in another language."""

    sentences: Annotated[list[str], "In English, with `{name}` in the place of a value."]
    values: Annotated[dict[str, Any], "By name."]


class ErrorObject(TypedDict):
    """What went wrong, and what to do."""

    type: Annotated[str, "Its kind, such as `invalid_request`, `not_found`, `conflict`, `model`."]
    code: Annotated[str, "Exactly what it is, such as `reply_in_progress`. It never changes."]
    message: Annotated[str, "For people: what to do."]
    details: Annotated[dict[str, Any], "What more there is to know, by `code`; may be empty."]
    request_id: Annotated[str, "The server's log tells more under it; also in `X-Request-ID`."]
    wording: NotRequired[Annotated[WordingObject, "Where the message holds figures or names."]]


class ErrorAnswer(TypedDict):
    """Every failure has this shape."""

    error: Annotated[ErrorObject, "What went wrong."]


class OpenbookError(Exception):
    """Something that the caller can be told. ``message`` says what to do; ``code`` is stable."""

    type = "invalid_request"
    code = "invalid"
    status = 400
    message = "The request can't be carried out."

    def __init__(self, message: str = "", **details: Any) -> None:
        super().__init__(message or self.message)
        self.message = message or self.message
        self.details = details


class BadRequest(OpenbookError):
    code = "bad_request"
    message = "The request can't be read. Check its address, host and headers."


class InvalidMessage(OpenbookError):
    code = "invalid_message"


class MessageTooLong(OpenbookError):
    type, code, status = "invalid_request", "message_too_long", 413


class InvalidImport(OpenbookError):
    """``details["place"]`` is where in the document, for example ``threads[3].messages[17].content``."""

    code = "invalid_import"


class ImportTooLarge(OpenbookError):
    code, status = "import_too_large", 413


class InvalidUpload(OpenbookError):
    """The form holds no file, or more than one."""

    code = "invalid_upload"


class FileTooLarge(OpenbookError):
    """``details["limit"]`` in bytes."""

    code, status = "file_too_large", 413


class FilesFull(OpenbookError):
    """``details`` holds ``limit``, what the user's files may take together, and ``used``, both in bytes."""

    code, status = "files_full", 413


class FileRefused(OpenbookError):
    """What it is can't be read. The code is that of the problem, such as ``unknown_type``."""

    code = "unknown_type"

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class NotFound(OpenbookError):
    """Unknown, or another user's: the two can't be told apart from outside."""

    type, code, status = "not_found", "not_found", 404
    message = "There is no such thing here, or it isn't yours. Check the id."


class ThreadNotFound(NotFound):
    code = "thread_not_found"
    message = "There is no such thread, or it isn't yours. Check the id; the literal id `new` opens a thread."


class ProjectNotFound(NotFound):
    code = "project_not_found"
    message = "There is no such project, or it isn't yours. Check the id."


class TooManyProjects(OpenbookError):
    type, code, status = "invalid_request", "too_many_projects", 409
    message = "You have 500 projects, which is the most. Delete one that you don't need any more."


class TooManyFiles(OpenbookError):
    """``details["limit"]`` is how many a project may have."""

    type, code, status = "conflict", "too_many_files", 409


class ProjectNotEmpty(OpenbookError):
    """``details`` holds the numbers of its ``threads``, ``files`` and ``memories``."""

    type, code, status = "conflict", "project_not_empty", 409


class RowNotFound(NotFound):
    """Of what staff keep."""

    code = "row_not_found"
    message = "There is no such row. Check its id, or its name."


class RowInUse(OpenbookError):
    type, code, status = "conflict", "row_in_use", 409
    message = "It can't be deleted, because something else needs it. Switch it off in place of that, where it can be."


class ServiceRefused(OpenbookError):
    """A service that models are asked of did not answer as it should; the message says why."""

    type, code, status = "model", "service_refused", 502


class PromptNotFound(NotFound):
    code = "prompt_not_found"
    message = "There is no such prompt, or it isn't yours. Check the id."


class PromptNotYours(OpenbookError):
    type, code, status = "permission", "prompt_not_yours", 403
    message = "Staff wrote this prompt for everybody, and only they change it. Make one of your own with its text."


class TooManyPrompts(OpenbookError):
    type, code, status = "invalid_request", "too_many_prompts", 409
    message = "You have 500 prompts, which is the most. Delete one that you don't need any more."


class ScheduleNotFound(NotFound):
    code = "schedule_not_found"
    message = "There is no such scheduled message, or it isn't yours. Check the id."


class TooManySchedules(OpenbookError):
    type, code, status = "invalid_request", "too_many_schedules", 409
    message = "You have as many scheduled messages as this server allows. Delete one that you don't need any more."


class InvalidSchedule(OpenbookError):
    code = "invalid_schedule"
    message = "Say when it is to be sent: once, or on days of the week at a time."


class WebhookNotFound(NotFound):
    code = "webhook_not_found"
    message = "There is no such webhook, or it isn't yours. Check the id."


class WebhookDeliveryNotFound(NotFound):
    code = "webhook_delivery_not_found"
    message = "Nothing of that id was sent to this webhook, or it is gone by now. Check the id."


class WebhookForAllRefused(OpenbookError):
    type, code, status = "permission", "webhook_for_all_refused", 403
    message = (
        "You may not hear of what happens to everybody. Make a webhook for yourself, or ask whoever runs this server."
    )


class TooManyWebhooks(OpenbookError):
    type, code, status = "invalid_request", "too_many_webhooks", 409
    message = "You have as many webhooks as this server allows. Delete one that you don't need any more."


class InvalidWebhook(OpenbookError):
    code = "invalid_webhook"
    message = (
        "Write an address that begins with https:// or http://, without a name, a password or a fragment (#) in it."
    )


class ServerNotFound(NotFound):
    code = "server_not_found"
    message = "There is no such MCP server, or it isn't yours. Check the id."


class ToolCallNotFound(NotFound):
    code = "tool_call_not_found"
    message = "There is no such call of a tool, or it isn't yours. Check the id."


class ServerForAllRefused(OpenbookError):
    type, code, status = "permission", "server_for_all_refused", 403
    message = "You may not connect servers for everybody. Connect it for yourself, or ask whoever runs this server."


class TooManyServers(OpenbookError):
    type, code, status = "invalid_request", "too_many_servers", 409
    message = "You have as many MCP servers as this server allows. Remove one that you don't need any more."


class ServerNameTaken(OpenbookError):
    type, code, status = "invalid_request", "server_name_taken", 409
    message = "Another MCP server has this name. Choose another."


class InvalidServer(OpenbookError):
    code = "invalid_server"
    message = (
        "Write an address that begins with https:// or http://, without a name, a password or a fragment (#) in it."
    )


class ServerUnreachable(OpenbookError):
    """``details["problem"]`` is why, as the server's row has it."""

    type, code, status = "invalid_request", "server_unreachable", 409
    message = "The tools of this MCP server could not be read."


class ServerSignInFailed(OpenbookError):
    """``details["problem"]`` is why."""

    type, code, status = "invalid_request", "server_sign_in_failed", 409
    message = "You were not signed in to this MCP server."


class ToolChanged(OpenbookError):
    """A tool that is to be allowed is not what the caller saw."""

    type, code, status = "invalid_request", "tool_changed", 409
    message = "A tool has changed since you looked, or is gone. Look again before you allow it."


class CallAnswered(OpenbookError):
    type, code, status = "invalid_request", "call_answered", 409
    message = "This call was made or answered already."


class MessageNotFound(NotFound):
    code = "message_not_found"
    message = "There is no such turn, or it isn't yours. Check the id."


class RequestNotFound(NotFound):
    message = "There is no such model request, or it isn't yours. Check the id."


class MemoryNotFound(NotFound):
    code = "memory_not_found"
    message = "Nothing of that id is remembered, or it isn't yours. Check the id; what was forgotten is gone."


class TopicNotFound(NotFound):
    code = "topic_not_found"
    message = "There is no such topic, or it isn't yours. Check the id."


class ReplyNotFound(NotFound):
    code = "reply_not_found"
    message = "There is no such reply, or it isn't yours. Check the id."


class FeedbackNotFound(NotFound):
    code = "feedback_not_found"
    message = "You gave no feedback on this reply. POST to the same address gives some."


class PresetNotFound(NotFound):
    code = "preset_not_found"
    message = "There is no such preset, or the thread's assistant doesn't offer it. Ask for the thread's presets."


class TokenNotFound(NotFound):
    code = "token_not_found"
    message = "There is no such token, or it isn't yours, or it is revoked already. Check the id."


class FileNotFound(NotFound):
    code = "file_not_found"
    message = (
        "There is no such file, or it isn't yours. Check the id; a file that no message was sent with goes after a day."
    )


class FileElsewhere(OpenbookError):
    """``details["file"]`` is the id."""

    type, code, status = "conflict", "file_elsewhere", 409
    message = "This file belongs to another thread or to a project. Upload it again to send it here."


class FileUnreadable(OpenbookError):
    """``details`` hold the file's id and name."""

    type, code, status = "conflict", "file_unreadable", 409
    message = "This file could not be read; `GET files/{id}/` says why. Send the message without it."


class PartNotFound(NotFound):
    code = "part_not_found"
    message = "The file has no such part. Its parts count from 1, and come one by one while it is read."


class PictureNotFound(NotFound):
    code = "picture_not_found"
    message = "The part has no picture: its text says all that it holds."


class ArtifactNotFound(NotFound):
    code = "artifact_not_found"
    message = "There is no such artifact, or it isn't yours. Check the id; one that was deleted can be restored."


class VersionNotFound(NotFound):
    code = "version_not_found"
    message = "The artifact has no such version. Its versions count from 1."


class AssistantVersionNotFound(NotFound):
    code = "assistant_version_not_found"
    message = "There is no such assistant, or it has no such version. Check its name and the number."


class ShareNotFound(NotFound):
    code = "share_not_found"
    message = "There is no such link, or it isn't yours, or it is revoked already. Check the id."


class InvitationNotFound(NotFound):
    code = "invitation_not_found"
    message = "There is no such invitation, or it isn't yours, or it is revoked already. Check the id."


class PersonNotFound(NotFound):
    code = "person_not_found"
    message = "There is nobody with this id whose links you may hand over."


class Conflict(OpenbookError):
    """Not as things stand."""

    type, status = "conflict", 409


class TemporaryThread(Conflict):
    code = "temporary_thread"
    message = "This is a temporary chat: nothing of it outlives it, so it can't be shared or copied."


class TooManyShares(Conflict):
    """``details["limit"]`` is how many links a person may have at once."""

    code = "too_many_shares"


class AlreadyExists(Conflict):
    """An id of an import is taken, by whomever. ``details`` holds what it is of and the id."""

    code = "already_exists"


class NothingToWorkFrom(Conflict):
    code = "nothing_to_work_from"
    message = "A preset works from the conversation. Say first what it is about."


class CannotRate(Conflict):
    code = "cannot_rate"
    message = "Feedback is about what an assistant wrote, as long as it is there. Send the id of such a turn."


class ReplyInProgress(Conflict):
    code = "reply_in_progress"
    message = "A reply is still running in this thread. Wait for it to end or stop it, then send again."


class CannotRetry(Conflict):
    code = "cannot_retry"
    message = "The message that this reply answered is there no more, so it can't be answered again. Send it anew."


class CannotContinue(Conflict):
    code = "cannot_continue"
    message = "Only the newest answer can be gone on with, and only where it was cut short."


class ModelNotOffered(OpenbookError):
    """``details["models"]`` are those that may be asked."""

    code = "model_not_offered"


class AssistantNotAllowed(OpenbookError):
    """The groups of a person don't allow it. ``details["assistant"]`` is its slug."""

    type, code, status = "permission", "assistant_not_allowed", 403


class InvitationEnded(OpenbookError):
    type, code, status = "permission", "invitation_ended", 410
    message = "This invitation works no more. Ask whoever sent it for a new one."


class InsufficientScope(OpenbookError):
    """``details["scope"]`` is the one that the token lacks."""

    type, code, status = "permission", "insufficient_scope", 403


class AddressNotAllowed(OpenbookError):
    """``details["address"]`` is where the call came from."""

    type, code, status = "permission", "address_not_allowed", 403


class BeyondOwnRights(OpenbookError):
    """A token asked for one that may more, or for longer, than itself; or a person for a scope that is not theirs."""

    type, code, status = "permission", "beyond_own_rights", 403


class FreshSignInNeeded(OpenbookError):
    type, code, status = "permission", "fresh_sign_in_needed", 403
    message = "This takes a fresh sign-in: confirm that it is you at /accounts/reauthenticate/, then try again."


class RefusedByModeration(OpenbookError):
    """``details`` holds the ``stage``, `message` or `reply`, and the ``moderator`` by its name."""

    type, code, status = "moderation", "refused_by_moderation", 403


class ModerationUnavailable(OpenbookError):
    """A check that has to be made could not be. ``details`` as of ``RefusedByModeration``."""

    type, code, status = "moderation", "moderation_unavailable", 503


class CannotHandOver(OpenbookError):
    status = 400
    code = "cannot_hand_over"
    message = (
        "Nobody of this user name may get these links. Name somebody who is active and in a group of theirs that you "
        "manage, or yourself; staff can name anybody but themselves."
    )


class EmbeddingRefused(OpenbookError):
    """``details["reason"]`` is what is wrong: ``site``, ``assertion`` (with a ``problem``), ``origin``, ``account``."""

    type, code, status = "permission", "embedding_refused", 403
    message = "This chat can’t be shown here. Ask the people who run the site."


class SharingOff(OpenbookError):
    type, code, status = "permission", "sharing_off", 403
    message = "Sharing is off here, or for your group. Ask the people who run this server."


class UploadsOff(OpenbookError):
    type, code, status = "permission", "uploads_off", 403
    message = "Uploading files is off here, or for your group. Send what they say as text."


class TemporaryChatsOff(OpenbookError):
    type, code, status = "permission", "temporary_chats_off", 403
    message = "Temporary chats are off here, or for your group. Begin a conversation that is kept."


class ExportOff(OpenbookError):
    type, code, status = "permission", "export_off", 403
    message = "Exporting everything is off here, or for your group. Ask the people who run this server for your data."


class SignInNeeded(OpenbookError):
    type, code, status = "authentication", "not_authenticated", 401
    message = "Sign in, or offer a valid token, then connect again."


class SecondFactorNeeded(OpenbookError):
    type, code, status = "permission", "second_factor_needed", 403
    message = "Your account needs a second factor. Set one up at /accounts/2fa/, then try again."


class NoticeNotAccepted(OpenbookError):
    type, code, status = "permission", "notice_not_accepted", 403
    message = (
        "There is a notice that you have to accept first, on the page /notice/ or by `GET notice/` and `POST notice/`."
    )


class NoticeChanged(Conflict):
    """``details["version"]`` is the one in force; null: there is none any more."""

    code = "notice_changed"
    message = "The notice has changed since you read it. Read it again, then accept it."


class AccountLeaving(OpenbookError):
    type, code, status = "permission", "account_leaving", 403
    message = (
        "This account is to be deleted, and nothing is answered until then. To keep it, sign in at /accounts/login/."
    )


class RateLimited(OpenbookError):
    """``details`` holds ``limit``, which one it is, ``whose``, that of the ``user`` or of the ``token``, ``most``, and
    ``retry_after`` in seconds."""

    type, code, status = "rate_limited", "rate_limited", 429


class BudgetExceeded(RateLimited):
    """``details`` holds ``budget``, the name of the group, empty where it is the whole installation's; ``whose``: ``group``,
    ``installation``, or ``member`` where it is the caller's own part of it; ``limit``, such as ``money_month``; ``most``,
    ``used``, with what is set aside, and ``needed``, in tokens or USD; ``renews_at``, and ``retry_after`` in seconds."""

    code = "budget_exceeded"


class PriceUnknown(RateLimited):
    """Money is limited, and what the model costs is not known. ``details`` holds ``budget``, ``provider`` and ``model``."""

    code = "price_unknown"


class ReaderTooSlow(OpenbookError):
    type, code, status = "too_slow", "reader_too_slow", 408
    message = (
        "The events were not read for too long. The reply goes on: connect again and resume after your last `seq`."
    )


class Unavailable(OpenbookError):
    """The connection may have been lost while PostgreSQL committed: whether anything was stored is not known then."""

    type, code, status = "unavailable", "unavailable", 503
    message = (
        "The server can't reach its database. What you sent may have been stored or not. Try again in a moment: "
        "with the same `client_message_id` a message is stored once."
    )


def error_object(
    *, type: str, code: str, message: str, details: dict[str, Any] | None = None, request_id: str = ""
) -> ErrorObject:
    """The error object of the contract."""
    error: ErrorObject = {
        "type": type,
        "code": code,
        "message": message,
        "details": details or {},
        "request_id": request_id or current_request_id.get(),
    }
    if isinstance(message, Worded):
        error["wording"] = {"sentences": [*message.sentences], "values": {**message.values}}
    return error


def describe(error: OpenbookError) -> ErrorObject:
    return error_object(type=error.type, code=error.code, message=error.message, details=error.details)
