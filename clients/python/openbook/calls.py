"""The calls of the API, for ``send`` and ``all`` of a client. Made from the schema by `make clients`; not written by hand."""

from typing import Literal

from openbook import types
from openbook.call import Call, Page, part


def accesses_list(*, cursor: str | None = None, page_size: int | None = None) -> Call[Page[types.AccessAnswer]]:
    """Who of the staff looked at what the caller wrote, when and why, newest first."""
    return Call("GET", "accesses/", query={"cursor": cursor, "page_size": page_size})


def account_instructions_get() -> Call[types.InstructionsAnswer]:
    """What every answer to the caller is given: about them, and how they want to be answered."""
    return Call("GET", "account/instructions/")


def account_instructions_update(body: types.PatchedInstructionsChange) -> Call[types.InstructionsAnswer]:
    """Write or empty them. A thread leaves them out with `uses_account_instructions`."""
    return Call("PATCH", "account/instructions/", body=body)


def artifacts_get(artifact_id: str | int, *, deleted: bool | None = None) -> Call[types.ArtifactAnswer]:
    """One artifact as its newest version has it."""
    return Call("GET", f"artifacts/{part(artifact_id)}/", query={"deleted": deleted})


def artifacts_update(artifact_id: str | int, body: types.PatchedArtifactChange) -> Call[types.ArtifactAnswer]:
    """Change an artifact. Another content makes the next version; the same one again makes none."""
    return Call("PATCH", f"artifacts/{part(artifact_id)}/", body=body)


def artifacts_delete(artifact_id: str | int) -> Call[None]:
    """Delete an artifact; it can be restored. One that is deleted already stays so."""
    return Call("DELETE", f"artifacts/{part(artifact_id)}/")


def artifacts_export_get(
    artifact_id: str | int,
    *,
    as_: Literal["csv", "docx", "html", "md", "pdf", "source", "xlsx"] | None = None,
    version: int | None = None,
) -> Call[bytes]:
    """An artifact as a file."""
    return Call("GET", f"artifacts/{part(artifact_id)}/export/", query={"as": as_, "version": version}, is_binary=True)


def artifacts_restore_create(artifact_id: str | int) -> Call[types.ArtifactAnswer]:
    """Bring a deleted artifact back. One that is not deleted stays as it is."""
    return Call("POST", f"artifacts/{part(artifact_id)}/restore/")


def artifacts_shares_create(artifact_id: str | int, body: types.ArtifactShareRequest) -> Call[types.ShareAnswer]:
    """Make a link that shows an artifact to whoever has it. Refused with 403 `sharing_off` where the server does not
    allow it."""
    return Call("POST", f"artifacts/{part(artifact_id)}/shares/", body=body)


def artifacts_versions_list(
    artifact_id: str | int,
    *,
    content: bool | None = None,
    cursor: str | None = None,
    deleted: bool | None = None,
    page_size: int | None = None,
) -> Call[Page[types.VersionAnswer]]:
    """The versions of an artifact, newest first."""
    return Call(
        "GET",
        f"artifacts/{part(artifact_id)}/versions/",
        query={"content": content, "cursor": cursor, "deleted": deleted, "page_size": page_size},
    )


def artifacts_versions_get(
    artifact_id: str | int, number: str | int, *, deleted: bool | None = None
) -> Call[types.VersionAnswer]:
    """One version of an artifact, with its content."""
    return Call("GET", f"artifacts/{part(artifact_id)}/versions/{part(number)}/", query={"deleted": deleted})


def assistants_list(*, cursor: str | None = None, page_size: int | None = None) -> Call[Page[types.AssistantAnswer]]:
    """The assistants that a thread may be opened with."""
    return Call("GET", "assistants/", query={"cursor": cursor, "page_size": page_size})


def assistants_versions_list(
    slug: str | int, *, cursor: str | None = None, page_size: int | None = None
) -> Call[Page[types.AssistantVersionAnswer]]:
    """For staff who may change assistants: the versions of one, newest first. A token needs `staff:assistants`."""
    return Call("GET", f"assistants/{part(slug)}/versions/", query={"cursor": cursor, "page_size": page_size})


def assistants_versions_create(slug: str | int, body: types.NewAssistantVersion) -> Call[types.AssistantVersionAnswer]:
    """Write a draft: it shapes no request until it is published, and `manage.py replay --draft` tries it on past
    ones."""
    return Call("POST", f"assistants/{part(slug)}/versions/", body=body)


def assistants_versions_publish_create(slug: str | int, number: str | int) -> Call[types.AssistantVersionAnswer]:
    """Make the assistant as this version says: a draft, or an earlier one again. It holds from the next message on.
    Assistants share presets, so these stay as they are: where the version has others, another is made and
    answered."""
    return Call("POST", f"assistants/{part(slug)}/versions/{part(number)}/publish/")


def audit_list(
    *,
    actor: str | None = None,
    cursor: str | None = None,
    kind: Literal[
        "account_changed",
        "account_deactivated",
        "account_deleted",
        "account_leaves",
        "account_made",
        "account_reactivated",
        "account_stays",
        "audit_exported",
        "audit_pruned",
        "backup_made",
        "backup_restored",
        "budget_changed",
        "budget_exceeded",
        "call_answered",
        "content_accessed",
        "email_changed",
        "exported",
        "file_deleted",
        "finding_changed",
        "forgotten",
        "group_changed",
        "handed_over",
        "hold_lifted",
        "hold_placed",
        "imported",
        "invitation_made",
        "invitation_revoked",
        "invitation_used",
        "membership_changed",
        "moderation_refused",
        "notice_accepted",
        "password_changed",
        "password_link_made",
        "permissions_changed",
        "provider_linked",
        "provider_unlinked",
        "reauthentication",
        "recovery_codes_made",
        "replay_changed",
        "retention_changed",
        "row_added",
        "row_changed",
        "row_deleted",
        "second_factor_added",
        "second_factor_removed",
        "server_changed",
        "server_connected",
        "server_removed",
        "sessions_ended",
        "settings_changed",
        "share_made",
        "share_revoked",
        "sign_in",
        "sign_out",
        "sign_up",
        "staff_address_refused",
        "thread_cleared",
        "thread_deleted",
        "token_made",
        "token_revoked",
        "webhook_changed",
        "webhook_deleted",
        "webhook_made",
    ]
    | None = None,
    outcome: Literal["denied", "failure", "success"] | None = None,
    page_size: int | None = None,
    since: str | None = None,
    target: str | None = None,
    until: str | None = None,
) -> Call[Page[types.AuditAnswer]]:
    """For auditors: who did what, newest first. Takes the right to see audit events; a token needs `staff:audit`."""
    return Call(
        "GET",
        "audit/",
        query={
            "actor": actor,
            "cursor": cursor,
            "kind": kind,
            "outcome": outcome,
            "page_size": page_size,
            "since": since,
            "target": target,
            "until": until,
        },
    )


def auth_token_create(body: types.TokenRequest) -> Call[types.TokenAnswer]:
    """Exchange a username and a password for a token; with a code, where the account has a second factor."""
    return Call("POST", "auth/token/", body=body)


def auth_tokens_list(*, cursor: str | None = None, page_size: int | None = None) -> Call[Page[types.TokenDescription]]:
    """The tokens of the caller that were not revoked, newest first. Never the tokens themselves."""
    return Call("GET", "auth/tokens/", query={"cursor": cursor, "page_size": page_size})


def auth_tokens_create(body: types.NewToken) -> Call[types.CreatedToken]:
    """Make a token. With a session, where the person has proved who they are within five minutes; with a token, for
    no more, no longer and from nowhere else than itself. The token is in this answer and is never shown again."""
    return Call("POST", "auth/tokens/", body=body)


def auth_tokens_delete(token_id: str | int) -> Call[None]:
    """Revoke a token, for good. It stops working at once."""
    return Call("DELETE", f"auth/tokens/{part(token_id)}/")


def banners_get() -> Call[types.BannersAnswer]:
    """What staff tell the caller now, as it stands above pages."""
    return Call("GET", "banners/")


def days_list(*, cursor: str | None = None, page_size: int | None = None) -> Call[Page[types.DayAnswer]]:
    """What the caller talked about, day by day, newest first."""
    return Call("GET", "days/", query={"cursor": cursor, "page_size": page_size})


def embed_token_create(body: types.EmbedTokenRequest) -> Call[types.EmbedTokenAnswer]:
    """Exchange what a site signs about a visitor for a short token, from a page of that site."""
    return Call("POST", "embed/token/", body=body)


def export_get(*, as_: Literal["json", "zip"] | None = None) -> Call[types.Book]:
    """Everything of the caller in the format that `POST import/` takes: threads oldest first, what is remembered.
    With a session, where the person has proved who they are within five minutes. 403 `export_off`: it is off."""
    return Call("GET", "export/", query={"as": as_})


def feedback_list(
    *,
    assistant: str | None = None,
    cursor: str | None = None,
    page_size: int | None = None,
    reason: Literal["forgot", "made_up", "other", "too_long", "unsafe", "wrong"] | None = None,
    state: Literal["done", "in_work", "new", "wont_do"] | None = None,
) -> Call[Page[types.FeedbackRow]]:
    """For support: what people said of replies, newest first. Takes the right to see feedback. A token shows no
    texts unless it has the scope `staff:content` too."""
    return Call(
        "GET",
        "feedback/",
        query={"assistant": assistant, "cursor": cursor, "page_size": page_size, "reason": reason, "state": state},
    )


def feedback_update(feedback_id: str | int, body: types.PatchedFeedbackChange) -> Call[types.FeedbackRow]:
    """Say what becomes of it, for support who may change feedback. A token needs `staff:feedback`, and for the text
    in the answer `staff:content` too."""
    return Call("PATCH", f"feedback/{part(feedback_id)}/", body=body)


def files_list(
    *, cursor: str | None = None, page_size: int | None = None, project: str | None = None
) -> Call[Page[types.FileAnswer]]:
    """The files of the caller, newest first."""
    return Call("GET", "files/", query={"cursor": cursor, "page_size": page_size, "project": project})


def files_get(file_id: str | int) -> Call[types.FileAnswer]:
    """One file, and how far its reading is."""
    return Call("GET", f"files/{part(file_id)}/")


def files_update(file_id: str | int, body: types.PatchedFileChange) -> Call[types.FileAnswer]:
    """Move a file into a project, whose threads read it from their next message on; those of another one no longer
    do."""
    return Call("PATCH", f"files/{part(file_id)}/", body=body)


def files_delete(file_id: str | int) -> Call[types.HeldAnswer | None]:
    """Delete a file with its parts, for good, and the replies that quote it because their model searched for it."""
    return Call("DELETE", f"files/{part(file_id)}/")


def files_content_get(file_id: str | int) -> Call[bytes]:
    """The bytes of a file, as they were uploaded."""
    return Call("GET", f"files/{part(file_id)}/content/", is_binary=True)


def files_given_get(file_id: str | int) -> Call[types.GivenAnswer]:
    """Which parts of a file each reply was given, and why not the others, as it was recorded."""
    return Call("GET", f"files/{part(file_id)}/given/")


def files_pages_get(file_id: str | int, number: str | int) -> Call[bytes]:
    """A page of a PDF as a picture: its longest side has 1,568 pixels. It is drawn when it is asked for."""
    return Call("GET", f"files/{part(file_id)}/pages/{part(number)}/", is_binary=True)


def files_parts_list(
    file_id: str | int, *, cursor: str | None = None, page_size: int | None = None
) -> Call[Page[types.PartAnswer]]:
    """The parts of a file without their texts, in its order; while it is read, those that there are by now."""
    return Call("GET", f"files/{part(file_id)}/parts/", query={"cursor": cursor, "page_size": page_size})


def files_parts_get(file_id: str | int, number: str | int) -> Call[types.PartTextAnswer]:
    """One part of a file with its text."""
    return Call("GET", f"files/{part(file_id)}/parts/{part(number)}/")


def files_parts_picture_get(file_id: str | int, number: str | int) -> Call[bytes]:
    """The picture of a part: the image without what it told of place and camera, or a page that has no text."""
    return Call("GET", f"files/{part(file_id)}/parts/{part(number)}/picture/", is_binary=True)


def files_thumbnail_get(file_id: str | int) -> Call[bytes]:
    """A small picture of an image, or of the first page of a PDF: its longest side has 400 pixels."""
    return Call("GET", f"files/{part(file_id)}/thumbnail/", is_binary=True)


def findings_list(
    *,
    cursor: str | None = None,
    page_size: int | None = None,
    state: Literal["accepted", "mended", "open"] | None = None,
) -> Call[Page[types.FindingAnswer]]:
    """For staff: what the linter found about requests of the last thirty days, newest first. Takes the right to see
    findings; a token needs `staff`."""
    return Call("GET", "findings/", query={"cursor": cursor, "page_size": page_size, "state": state})


def findings_update(finding_id: str | int, body: types.PatchedFindingChange) -> Call[types.FindingAnswer]:
    """Accept a finding for a reason, or open it again, for staff who may change findings. Whether one is mended the
    next look tells: that is refused. A token needs `staff:feedback`."""
    return Call("PATCH", f"findings/{part(finding_id)}/", body=body)


def import_create(
    body: types.Book, *, ids: Literal["keep", "new"] | None = None, progress: bool | None = None
) -> Call[types.ImportAnswer | None]:
    """Import threads and what is remembered, all or nothing. Errors name their place,
    `threads[3].messages[17].content`."""
    return Call("POST", "import/", query={"ids": ids, "progress": progress}, body=body)


def invitations_list(*, cursor: str | None = None, page_size: int | None = None) -> Call[Page[types.InvitationAnswer]]:
    """For staff who may invite, and managers of groups: the invitations that the caller made, newest first. A token
    needs `staff:invitations`."""
    return Call("GET", "invitations/", query={"cursor": cursor, "page_size": page_size})


def invitations_create(body: types.NewInvitation) -> Call[types.CreatedInvitation]:
    """Make an invitation. With a session, where the person has proved who they are within five minutes."""
    return Call("POST", "invitations/", body=body)


def invitations_delete(invitation_id: str | int) -> Call[None]:
    """Revoke an invitation, for good. Whoever has used it stays."""
    return Call("DELETE", f"invitations/{part(invitation_id)}/")


def leavers_list(*, cursor: str | None = None, page_size: int | None = None) -> Call[Page[types.LeaverAnswer]]:
    """For who manages groups, and staff who may hand over links: people whose account is shut and who have links
    that somebody could take over. Empty for everybody else."""
    return Call("GET", "leavers/", query={"cursor": cursor, "page_size": page_size})


def leavers_shares_list(
    leaver_id: str | int, *, cursor: str | None = None, page_size: int | None = None
) -> Call[Page[types.LeaverShareAnswer]]:
    """Links of somebody who has left, newest first. What they show is not told, nor where they lead."""
    return Call("GET", f"leavers/{part(leaver_id)}/shares/", query={"cursor": cursor, "page_size": page_size})


def leavers_shares_create(leaver_id: str | int, body: types.HandOverRequest) -> Call[types.HandOverAnswer]:
    """Give links of somebody who has left to somebody who is there. What each shows is copied into a thread of the
    new owner's; address, end and views stay, names and figures are shown no more. 400 `cannot_hand_over` where
    they may not get it."""
    return Call("POST", f"leavers/{part(leaver_id)}/shares/", body=body)


def limits_get() -> Call[types.LimitsAnswer]:
    """What the caller may use, and uses now."""
    return Call("GET", "limits/")


def mcp_calls_list(*, cursor: str | None = None, page_size: int | None = None) -> Call[Page[types.McpCallAnswer]]:
    """Calls of tools that may change something, newest first: those that wait for the caller's answer, and what
    became of the others."""
    return Call("GET", "mcp-calls/", query={"cursor": cursor, "page_size": page_size})


def mcp_calls_answer_create(call_id: str | int, body: types.CallAnswer) -> Call[types.McpCallAnswer]:
    """Say whether a call may be made. It is made when the model asks for it again: send a message that says so."""
    return Call("POST", f"mcp-calls/{part(call_id)}/answer/", body=body)


def mcp_servers_list(*, cursor: str | None = None, page_size: int | None = None) -> Call[Page[types.ServerAnswer]]:
    """The caller's MCP servers, newest first, with their tools."""
    return Call("GET", "mcp-servers/", query={"cursor": cursor, "page_size": page_size})


def mcp_servers_create(body: types.NewServer) -> Call[types.ServerAnswer]:
    """Connect an MCP server. It is not asked for its tools before `refresh/`, and none of them is offered before it
    is allowed. Refused with 403 `server_for_all_refused` where it is for everybody, unless the caller is staff
    and may."""
    return Call("POST", "mcp-servers/", body=body)


def mcp_servers_get(server_id: str | int) -> Call[types.ServerAnswer]:
    """One MCP server, with its tools."""
    return Call("GET", f"mcp-servers/{part(server_id)}/")


def mcp_servers_update(server_id: str | int, body: types.PatchedServerChange) -> Call[types.ServerAnswer]:
    """Change an MCP server, or say which of its tools models may be offered."""
    return Call("PATCH", f"mcp-servers/{part(server_id)}/", body=body)


def mcp_servers_delete(server_id: str | int) -> Call[None]:
    """Remove an MCP server, with what was allowed of it."""
    return Call("DELETE", f"mcp-servers/{part(server_id)}/")


def mcp_servers_prompts_get(server_id: str | int) -> Call[types.ServerPromptsAnswer]:
    """Prompts of a server, of the caller's or for everybody; asked of it now. Else 409 `server_unreachable`."""
    return Call("GET", f"mcp-servers/{part(server_id)}/prompts/")


def mcp_servers_prompts_create(
    server_id: str | int, prompt_name: str | int, body: types.ServerPromptArguments
) -> Call[types.ServerPromptTextAnswer]:
    """The text of a prompt with these arguments, to be looked at and sent by the caller. Nothing is sent by itself."""
    return Call("POST", f"mcp-servers/{part(server_id)}/prompts/{part(prompt_name)}/", body=body)


def mcp_servers_refresh_create(server_id: str | int) -> Call[types.ServerAnswer]:
    """Read its tools anew. Those that are not as they were allowed are offered no more. Refused with 409
    `server_unreachable` where they can't be read; `details` says why."""
    return Call("POST", f"mcp-servers/{part(server_id)}/refresh/")


def mcp_servers_resources_get(server_id: str | int) -> Call[types.ResourcesAnswer]:
    """What a server, of the caller's or for everybody, has to be read; asked of it now. Else 409
    `server_unreachable`."""
    return Call("GET", f"mcp-servers/{part(server_id)}/resources/")


def mcp_servers_resources_attach_create(server_id: str | int, body: types.ResourceChoice) -> Call[types.FileAnswer]:
    """Make a file of the caller's of a resource, as if it had been uploaded: send a message with its id."""
    return Call("POST", f"mcp-servers/{part(server_id)}/resources/attach/", body=body)


def mcp_servers_sign_in_create(server_id: str | int) -> Call[types.SignInBegun]:
    """Begin a sign-in to a server, of the caller's or for everybody, by OAuth. Refused with 409
    `server_sign_in_failed` where it asks for none or can't be trusted with one; `details` says why."""
    return Call("POST", f"mcp-servers/{part(server_id)}/sign-in/")


def mcp_servers_sign_in_delete(server_id: str | int) -> Call[None]:
    """End the caller's sign-in to a server; its tokens are revoked where they were given, if that can be."""
    return Call("DELETE", f"mcp-servers/{part(server_id)}/sign-in/")


def memories_list(
    *,
    at: str | None = None,
    cursor: str | None = None,
    ended: bool | None = None,
    history: str | None = None,
    page_size: int | None = None,
    project: str | None = None,
    q: str | None = None,
    tag: str | None = None,
    thread: str | None = None,
) -> Call[Page[types.MemoryAnswer]]:
    """What is remembered of the caller, newest first."""
    return Call(
        "GET",
        "memories/",
        query={
            "at": at,
            "cursor": cursor,
            "ended": ended,
            "history": history,
            "page_size": page_size,
            "project": project,
            "q": q,
            "tag": tag,
            "thread": thread,
        },
    )


def memories_create(body: types.NewMemory) -> Call[types.MemoryAnswer]:
    """Have something remembered."""
    return Call("POST", "memories/", body=body)


def memories_get(memory_id: str | int) -> Call[types.MemoryAnswer]:
    """One memory."""
    return Call("GET", f"memories/{part(memory_id)}/")


def memories_update(memory_id: str | int, body: types.PatchedMemoryChange) -> Call[types.MemoryAnswer]:
    """Correct a memory. Words that came from a conversation are kept as replaced, see `?ended=true`."""
    return Call("PATCH", f"memories/{part(memory_id)}/", body=body)


def memories_delete(memory_id: str | int) -> Call[types.HeldAnswer | None]:
    """Forget a memory for good, as `memories/{id}/forget/` does. 200 in place of 204 tells what a legal hold keeps."""
    return Call("DELETE", f"memories/{part(memory_id)}/")


def memories_forget_create(memory_id: str | int) -> Call[types.ForgettingAnswer]:
    """Forget a memory for good, with all that tells of it: turns, summaries, what was recorded of requests."""
    return Call("POST", f"memories/{part(memory_id)}/forget/")


def memories_forgetting_get(memory_id: str | int) -> Call[types.ForgettingAnswer]:
    """What forgetting this memory would do. Changes nothing."""
    return Call("GET", f"memories/{part(memory_id)}/forgetting/")


def memories_restore_create(memory_id: str | int) -> Call[types.MemoryAnswer]:
    """Undo the end of a memory. What had ended it counts as never said; it stays, with `?ended=true`."""
    return Call("POST", f"memories/{part(memory_id)}/restore/")


def memories_uses_get(memory_id: str | int) -> Call[types.UsesAnswer]:
    """What a memory was given to: requests and replies, what it took in them, and when it was last given."""
    return Call("GET", f"memories/{part(memory_id)}/uses/")


def memories_forget_all(body: types.Everything) -> Call[types.ForgettingAnswer]:
    """Forget all that is remembered of the caller, for good. What was said otherwise stays."""
    return Call("POST", "memories/forget/", body=body)


def memories_forgetting_all() -> Call[types.ForgettingAnswer]:
    """What forgetting everything would do. Changes nothing."""
    return Call("GET", "memories/forgetting/")


def memories_search_get(*, project: str | None = None, q: str | None = None) -> Call[types.FoundListAnswer]:
    """Passages of all your threads, and memories, that bear on a query, best first: what would be recalled for it."""
    return Call("GET", "memories/search/", query={"project": project, "q": q})


def messages_delete(message_id: str | int) -> Call[types.HeldAnswer | None]:
    """Forget a turn for good, as `messages/{id}/forget/` does. 200 in place of 204 tells what a legal hold keeps."""
    return Call("DELETE", f"messages/{part(message_id)}/")


def messages_feedback_get(message_id: str | int) -> Call[types.FeedbackAnswer]:
    """What the caller said of this reply."""
    return Call("GET", f"messages/{part(message_id)}/feedback/")


def messages_feedback_create(message_id: str | int, body: types.FeedbackRequest) -> Call[types.FeedbackAnswer]:
    """Say whether a reply was good. Saying it again replaces what was said."""
    return Call("POST", f"messages/{part(message_id)}/feedback/", body=body)


def messages_feedback_delete(message_id: str | int) -> Call[None]:
    """Take back what was said of this reply; support is shown the conversation no longer."""
    return Call("DELETE", f"messages/{part(message_id)}/feedback/")


def messages_forget_create(message_id: str | int) -> Call[types.ForgettingAnswer]:
    """Forget a turn for good: its place stays, its text goes, also from what was recorded of requests."""
    return Call("POST", f"messages/{part(message_id)}/forget/")


def messages_forgetting_get(message_id: str | int) -> Call[types.ForgettingAnswer]:
    """What forgetting this turn would do. Changes nothing."""
    return Call("GET", f"messages/{part(message_id)}/forgetting/")


def models_get() -> Call[types.ModelsAnswer]:
    """The models that can be chosen for a thread or a message."""
    return Call("GET", "models/")


def notice_get() -> Call[types.NoticeAnswer]:
    """The notice that everybody has to accept. Until the caller has, all other calls but `GET export/` answer 403
    `notice_not_accepted`."""
    return Call("GET", "notice/")


def notice_create(body: types.AcceptedVersion) -> Call[types.NoticeAnswer]:
    """Accept it, for the person whose call it is. 409 `notice_changed` where this version is not the one in force."""
    return Call("POST", "notice/", body=body)


def preferences_get() -> Call[types.PreferencesAnswer]:
    """Whether anything is remembered, and in which time zone the caller's days begin."""
    return Call("GET", "preferences/")


def preferences_update(body: types.PatchedPreferencesChange) -> Call[types.PreferencesAnswer]:
    """Switch memory on or off, or choose a time zone."""
    return Call("PATCH", "preferences/", body=body)


def projects_list(
    *, counts: bool | None = None, cursor: str | None = None, page_size: int | None = None
) -> Call[Page[types.ProjectAnswer]]:
    """The projects of the caller, by name."""
    return Call("GET", "projects/", query={"counts": counts, "cursor": cursor, "page_size": page_size})


def projects_create(body: types.NewProject) -> Call[types.ProjectAnswer]:
    """Make a project: a folder of threads and files, with instructions and a memory of its own."""
    return Call("POST", "projects/", body=body)


def projects_get(project_id: str | int) -> Call[types.ProjectAnswer]:
    """One project."""
    return Call("GET", f"projects/{part(project_id)}/")


def projects_update(project_id: str | int, body: types.PatchedProjectChange) -> Call[types.ProjectAnswer]:
    """Change a project. Its threads stay as they are; its switches count from their next message on."""
    return Call("PATCH", f"projects/{part(project_id)}/", body=body)


def projects_delete(
    project_id: str | int, *, threads: Literal["delete", "keep"] | None = None
) -> Call[types.HeldAnswer | None]:
    """Delete a project; `threads` says what becomes of what it holds. 200 in place of 204 tells what a legal hold
    keeps."""
    return Call("DELETE", f"projects/{part(project_id)}/", query={"threads": threads})


def prompts_list() -> Call[types.PromptsAnswer]:
    """All prompts that the caller may use: their own, at most 500, and those of the installation."""
    return Call("GET", "prompts/")


def prompts_create(body: types.NewPrompt) -> Call[types.PromptAnswer]:
    """Keep a text to write messages with. Refused with 403 `prompt_not_yours` where it is for everybody, unless the
    caller is staff and may add such."""
    return Call("POST", "prompts/", body=body)


def prompts_get(prompt_id: str | int) -> Call[types.PromptAnswer]:
    """One prompt."""
    return Call("GET", f"prompts/{part(prompt_id)}/")


def prompts_update(prompt_id: str | int, body: types.PatchedPromptChange) -> Call[types.PromptAnswer]:
    """Change one's own prompt, or, as staff who may, one for everybody."""
    return Call("PATCH", f"prompts/{part(prompt_id)}/", body=body)


def prompts_delete(prompt_id: str | int) -> Call[None]:
    """Delete one's own prompt, or, as staff who may, one for everybody."""
    return Call("DELETE", f"prompts/{part(prompt_id)}/")


def replies_continue_create(reply_id: str | int) -> Call[types.ReplyAnswer]:
    """Go on where a reply was cut short. Follow the new reply's events: its text begins with all that there was."""
    return Call("POST", f"replies/{part(reply_id)}/continue/")


def replies_retry_create(reply_id: str | int, body: types.RetryRequest) -> Call[types.ReplyAnswer]:
    """Let a model answer the same message again. Follow the new reply's events."""
    return Call("POST", f"replies/{part(reply_id)}/retry/", body=body)


def replies_stop_create(reply_id: str | int) -> Call[types.ReplyAnswer]:
    """Stop a running reply; the text so far is kept. Follow its events to see the end."""
    return Call("POST", f"replies/{part(reply_id)}/stop/")


def requests_get(request_id: str | int) -> Call[types.SnapshotAnswer]:
    """One model request: what it was given, what was left out and why."""
    return Call("GET", f"requests/{part(request_id)}/")


def schedules_list(*, cursor: str | None = None, page_size: int | None = None) -> Call[Page[types.ScheduleAnswer]]:
    """The caller's scheduled messages, newest first."""
    return Call("GET", "schedules/", query={"cursor": cursor, "page_size": page_size})


def schedules_create(body: types.NewSchedule) -> Call[types.ScheduleAnswer]:
    """Have a message sent at a time, or on days of the week at a time: its reply waits in the thread. Limits and
    budgets count as for any message, also those of the token that made it."""
    return Call("POST", "schedules/", body=body)


def schedules_get(schedule_id: str | int) -> Call[types.ScheduleAnswer]:
    """One scheduled message."""
    return Call("GET", f"schedules/{part(schedule_id)}/")


def schedules_update(schedule_id: str | int, body: types.PatchedScheduleChange) -> Call[types.ScheduleAnswer]:
    """Change, pause or resume it. One that was sent once is sent again where it gets another time."""
    return Call("PATCH", f"schedules/{part(schedule_id)}/", body=body)


def schedules_delete(schedule_id: str | int) -> Call[None]:
    """Delete it. What was sent stays in its thread."""
    return Call("DELETE", f"schedules/{part(schedule_id)}/")


def session_get() -> Call[types.SessionAnswer]:
    """Until when the caller is signed in. With the header `X-Openbook-Idle: 1` this and any other `GET` counts as
    nobody's act, and moves nothing."""
    return Call("GET", "session/")


def shares_list(
    *, cursor: str | None = None, page_size: int | None = None, thread: str | None = None
) -> Call[Page[types.ShareAnswer]]:
    """The links of the caller that show anything, newest first, also those that have expired. None that were
    revoked."""
    return Call("GET", "shares/", query={"cursor": cursor, "page_size": page_size, "thread": thread})


def shares_delete(share_id: str | int) -> Call[None]:
    """Revoke a link, for good. It opens nothing from now on."""
    return Call("DELETE", f"shares/{part(share_id)}/")


def staff_assistants_list(*, cursor: str | None = None, page_size: int | None = None) -> Call[Page[types.AssistantRow]]:
    """For staff: Assistants, offered or not, with all that shapes their requests. A change makes a version of it. A
    token needs `staff:assistants`; its user the right to view them in the admin."""
    return Call("GET", "staff/assistants/", query={"cursor": cursor, "page_size": page_size})


def staff_assistants_create(body: types.NewAssistantRow) -> Call[types.SavedAssistantRow]:
    """Add an assistant: checked and recorded as on its page, for whoever may add one there."""
    return Call("POST", "staff/assistants/", body=body)


def staff_assistants_get(row_id: str | int) -> Call[types.AssistantRow]:
    """For staff: an assistant."""
    return Call("GET", f"staff/assistants/{part(row_id)}/")


def staff_assistants_update(row_id: str | int, body: types.PatchedAssistantRowChange) -> Call[types.SavedAssistantRow]:
    """Change an assistant: checked and recorded as on its page. What is left out stays. A list of rows that belong
    to it takes the place of all that it has."""
    return Call("PATCH", f"staff/assistants/{part(row_id)}/", body=body)


def staff_assistants_delete(row_id: str | int) -> Call[None]:
    """Delete an assistant. 409 `row_in_use` where something needs it."""
    return Call("DELETE", f"staff/assistants/{part(row_id)}/")


def staff_budgets_list(*, cursor: str | None = None, page_size: int | None = None) -> Call[Page[types.BudgetRow]]:
    """For staff: Limits of groups, and of the whole server: tokens and USD a day and a month, together and for each
    person. A token needs `staff:groups`; its user the right to view them in the admin."""
    return Call("GET", "staff/budgets/", query={"cursor": cursor, "page_size": page_size})


def staff_budgets_create(body: types.NewBudgetRow) -> Call[types.SavedBudgetRow]:
    """Add a budget: checked and recorded as on its page, for whoever may add one there."""
    return Call("POST", "staff/budgets/", body=body)


def staff_budgets_get(row_id: str | int) -> Call[types.BudgetRow]:
    """For staff: a budget."""
    return Call("GET", f"staff/budgets/{part(row_id)}/")


def staff_budgets_update(row_id: str | int, body: types.PatchedBudgetRowChange) -> Call[types.SavedBudgetRow]:
    """Change a budget: checked and recorded as on its page. What is left out stays."""
    return Call("PATCH", f"staff/budgets/{part(row_id)}/", body=body)


def staff_budgets_delete(row_id: str | int) -> Call[None]:
    """Delete a budget. 409 `row_in_use` where something needs it."""
    return Call("DELETE", f"staff/budgets/{part(row_id)}/")


def staff_connections_list(
    *, cursor: str | None = None, page_size: int | None = None
) -> Call[Page[types.ConnectionRow]]:
    """For staff: Services that models are asked of. Keys and the values of headers are only written. A token needs
    `staff:models`; its user the right to view them in the admin."""
    return Call("GET", "staff/connections/", query={"cursor": cursor, "page_size": page_size})


def staff_connections_create(body: types.NewConnectionRow) -> Call[types.SavedConnectionRow]:
    """Add a connection: checked and recorded as on its page, for whoever may add one there."""
    return Call("POST", "staff/connections/", body=body)


def staff_connections_get(row_id: str | int) -> Call[types.ConnectionRow]:
    """For staff: a connection."""
    return Call("GET", f"staff/connections/{part(row_id)}/")


def staff_connections_update(
    row_id: str | int, body: types.PatchedConnectionRowChange
) -> Call[types.SavedConnectionRow]:
    """Change a connection: checked and recorded as on its page. What is left out stays."""
    return Call("PATCH", f"staff/connections/{part(row_id)}/", body=body)


def staff_connections_delete(row_id: str | int) -> Call[None]:
    """Delete a connection. 409 `row_in_use` where something needs it."""
    return Call("DELETE", f"staff/connections/{part(row_id)}/")


def staff_connections_models_list(row_id: str | int) -> Call[types.OfferedModelsAnswer]:
    """What the service offers now: it is asked."""
    return Call("GET", f"staff/connections/{part(row_id)}/models/")


def staff_connections_models_create(row_id: str | int, body: types.AddedModels) -> Call[types.OfferedModelsAnswer]:
    """Make models that the service offers models here, with what is known of their sizes and prices."""
    return Call("POST", f"staff/connections/{part(row_id)}/models/", body=body)


def staff_connections_test_create(row_id: str | int) -> Call[types.TrialAnswer]:
    """Ask the service for a word, as on the page of the connection: what it costs is the caller's."""
    return Call("POST", f"staff/connections/{part(row_id)}/test/")


def staff_experiments_list(
    *, cursor: str | None = None, page_size: int | None = None
) -> Call[Page[types.ExperimentAnswer]]:
    """For staff who may see experiments and read content, as these tell whether a context holds a text; newest
    first. A token needs `staff:content`."""
    return Call("GET", "staff/experiments/", query={"cursor": cursor, "page_size": page_size})


def staff_experiments_create(body: types.NewExperiment) -> Call[types.ExperimentAnswer]:
    """Have the requests of a dataset scored as versions of an assistant would make them. Workers do it: read the
    experiment to follow it. Where models are named, they answer each of them, for which the caller's limits and
    budgets pay."""
    return Call("POST", "staff/experiments/", body=body)


def staff_experiments_get(run_id: str | int) -> Call[types.ExperimentResult]:
    """One experiment: how far it is, and what came of its cases so far."""
    return Call("GET", f"staff/experiments/{part(run_id)}/")


def staff_experiments_cancel_create(run_id: str | int) -> Call[types.ExperimentAnswer]:
    """End it: what was scored so far stays. Nothing happens to one that has ended."""
    return Call("POST", f"staff/experiments/{part(run_id)}/cancel/")


def staff_groups_list(*, cursor: str | None = None, page_size: int | None = None) -> Call[Page[types.GroupRow]]:
    """For staff: Groups: what their members may, what they may use, how they sign in, and who manages them. Who is
    in them is said by SCIM or in the admin. A token needs `staff:groups`; its user the right to view them in the
    admin."""
    return Call("GET", "staff/groups/", query={"cursor": cursor, "page_size": page_size})


def staff_groups_create(body: types.NewGroupRow) -> Call[types.SavedGroupRow]:
    """Add a group: checked and recorded as on its page, for whoever may add one there."""
    return Call("POST", "staff/groups/", body=body)


def staff_groups_get(row_id: str | int) -> Call[types.GroupRow]:
    """For staff: a group."""
    return Call("GET", f"staff/groups/{part(row_id)}/")


def staff_groups_update(row_id: str | int, body: types.PatchedGroupRowChange) -> Call[types.SavedGroupRow]:
    """Change a group: checked and recorded as on its page. What is left out stays. A list of rows that belong to it
    takes the place of all that it has."""
    return Call("PATCH", f"staff/groups/{part(row_id)}/", body=body)


def staff_groups_delete(row_id: str | int) -> Call[None]:
    """Delete a group. 409 `row_in_use` where something needs it."""
    return Call("DELETE", f"staff/groups/{part(row_id)}/")


def staff_models_list(*, cursor: str | None = None, page_size: int | None = None) -> Call[Page[types.ModelRow]]:
    """For staff: Models of all services: what they can do and what they cost. A token needs `staff:models`; its user
    the right to view them in the admin."""
    return Call("GET", "staff/models/", query={"cursor": cursor, "page_size": page_size})


def staff_models_create(body: types.NewModelRow) -> Call[types.SavedModelRow]:
    """Add a model: checked and recorded as on its page, for whoever may add one there."""
    return Call("POST", "staff/models/", body=body)


def staff_models_get(row_id: str | int) -> Call[types.ModelRow]:
    """For staff: a model."""
    return Call("GET", f"staff/models/{part(row_id)}/")


def staff_models_update(row_id: str | int, body: types.PatchedModelRowChange) -> Call[types.SavedModelRow]:
    """Change a model: checked and recorded as on its page. What is left out stays. A list of rows that belong to it
    takes the place of all that it has."""
    return Call("PATCH", f"staff/models/{part(row_id)}/", body=body)


def staff_models_delete(row_id: str | int) -> Call[None]:
    """Delete a model. 409 `row_in_use` where something needs it."""
    return Call("DELETE", f"staff/models/{part(row_id)}/")


def staff_presets_list(*, cursor: str | None = None, page_size: int | None = None) -> Call[Page[types.PresetRow]]:
    """For staff: Presets, offered or not, with what they tell the model. A token needs `staff:assistants`; its user
    the right to view them in the admin."""
    return Call("GET", "staff/presets/", query={"cursor": cursor, "page_size": page_size})


def staff_presets_create(body: types.NewPresetRow) -> Call[types.SavedPresetRow]:
    """Add a preset: checked and recorded as on its page, for whoever may add one there."""
    return Call("POST", "staff/presets/", body=body)


def staff_presets_get(row_id: str | int) -> Call[types.PresetRow]:
    """For staff: a preset."""
    return Call("GET", f"staff/presets/{part(row_id)}/")


def staff_presets_update(row_id: str | int, body: types.PatchedPresetRowChange) -> Call[types.SavedPresetRow]:
    """Change a preset: checked and recorded as on its page. What is left out stays."""
    return Call("PATCH", f"staff/presets/{part(row_id)}/", body=body)


def staff_presets_delete(row_id: str | int) -> Call[None]:
    """Delete a preset. 409 `row_in_use` where something needs it."""
    return Call("DELETE", f"staff/presets/{part(row_id)}/")


def staff_replays_list(*, cursor: str | None = None, page_size: int | None = None) -> Call[Page[types.ReplayAnswer]]:
    """For staff who may see replays of requests, newest first. A token needs `staff:replays`."""
    return Call("GET", "staff/replays/", query={"cursor": cursor, "page_size": page_size})


def staff_replays_create(body: types.NewReplay) -> Call[types.ReplayAnswer]:
    """Have past requests of an assistant made again as a version, or this release, would make them. Workers do it:
    read the replay to follow it. No model is asked."""
    return Call("POST", "staff/replays/", body=body)


def staff_replays_get(run_id: str | int) -> Call[types.ReplayAnswer]:
    """One replay: how far it is, and its figures so far."""
    return Call("GET", f"staff/replays/{part(run_id)}/")


def staff_replays_cancel_create(run_id: str | int) -> Call[types.ReplayAnswer]:
    """End it: what was made so far stays. Nothing happens to one that has ended."""
    return Call("POST", f"staff/replays/{part(run_id)}/cancel/")


def staff_requests_list(
    *,
    assistant: str | None = None,
    cursor: str | None = None,
    page_size: int | None = None,
    since: str | None = None,
    status: Literal["completed", "failed", "interrupted", "pending", "stopped"] | None = None,
    thread: str | None = None,
    until: str | None = None,
    user: str | None = None,
) -> Call[Page[types.StaffRequest]]:
    """For staff: model requests of everybody, newest first, as figures. Takes the right to see model requests; a
    token needs `staff`."""
    return Call(
        "GET",
        "staff/requests/",
        query={
            "assistant": assistant,
            "cursor": cursor,
            "page_size": page_size,
            "since": since,
            "status": status,
            "thread": thread,
            "until": until,
            "user": user,
        },
    )


def staff_requests_look_create(request_id: str | int, body: types.Look) -> Call[types.SnapshotAnswer]:
    """For staff who may read content: one model request with what it was given, for a reason. The look is on record
    before it is answered, and the person is told of it. A token needs `staff:content`. Where reading takes a
    second factor (`OPENBOOK_READING_NEEDS_FACTOR`), it takes a session that has just proved one."""
    return Call("POST", f"staff/requests/{part(request_id)}/look/", body=body)


def tags_get() -> Call[types.TagsAnswer]:
    """The tags of the caller's threads."""
    return Call("GET", "tags/")


def threads_list(
    *,
    archived: bool | None = None,
    assistant: str | None = None,
    cursor: str | None = None,
    page_size: int | None = None,
    pinned: bool | None = None,
    project: str | None = None,
    q: str | None = None,
    tag: str | None = None,
    updated_since: str | None = None,
) -> Call[Page[types.ThreadAnswer]]:
    """The threads of the caller, the one that was active last first."""
    return Call(
        "GET",
        "threads/",
        query={
            "archived": archived,
            "assistant": assistant,
            "cursor": cursor,
            "page_size": page_size,
            "pinned": pinned,
            "project": project,
            "q": q,
            "tag": tag,
            "updated_since": updated_since,
        },
    )


def threads_create(body: types.NewThread) -> Call[types.ThreadAnswer]:
    """Open an empty thread."""
    return Call("POST", "threads/", body=body)


def threads_change_several(body: types.PatchedThreadsChange) -> Call[types.ThreadsAnswer]:
    """Pin, archive, tag or move several threads: all of them, or none where one isn't there."""
    return Call("PATCH", "threads/", body=body)


def threads_get(thread_id: str | int) -> Call[types.ThreadAnswer]:
    """One thread."""
    return Call("GET", f"threads/{part(thread_id)}/")


def threads_update(thread_id: str | int, body: types.PatchedThreadChange) -> Call[types.ThreadAnswer]:
    """Rename, pin, archive or tag a thread, move it into a project, give it another assistant or model, say whether
    it takes part in memory, or go to another branch."""
    return Call("PATCH", f"threads/{part(thread_id)}/", body=body)


def threads_delete(thread_id: str | int) -> Call[types.HeldAnswer | None]:
    """Delete a thread with all that belongs to it, for good. 200 in place of 204 tells what a legal hold keeps of
    it."""
    return Call("DELETE", f"threads/{part(thread_id)}/")


def threads_artifacts_list(
    thread_id: str | int,
    *,
    content: bool | None = None,
    cursor: str | None = None,
    deleted: bool | None = None,
    kind: Literal["code", "document", "html", "mermaid", "svg", "table"] | None = None,
    page_size: int | None = None,
) -> Call[Page[types.ArtifactAnswer]]:
    """The artifacts of a thread, the one that was changed last first."""
    return Call(
        "GET",
        f"threads/{part(thread_id)}/artifacts/",
        query={"content": content, "cursor": cursor, "deleted": deleted, "kind": kind, "page_size": page_size},
    )


def threads_artifacts_create(thread_id: str | int, body: types.NewArtifact) -> Call[types.ArtifactAnswer]:
    """Add an artifact to a thread. An assistant turn not more than 5 seconds older counts as what made it."""
    return Call("POST", f"threads/{part(thread_id)}/artifacts/", body=body)


def threads_clear_create(thread_id: str | int) -> Call[types.ClearingAnswer]:
    """Forget all turns of a thread for good, with what rests on them. The thread and its artifacts stay."""
    return Call("POST", f"threads/{part(thread_id)}/clear/")


def threads_clearing_get(thread_id: str | int) -> Call[types.ClearingAnswer]:
    """What clearing this thread would do. Changes nothing."""
    return Call("GET", f"threads/{part(thread_id)}/clearing/")


def threads_context_create(thread_id: str | int, body: types.MessageRequest) -> Call[types.SnapshotAnswer]:
    """The context that a message would get. Calls no model and writes nothing."""
    return Call("POST", f"threads/{part(thread_id)}/context/", body=body)


def threads_export_get(thread_id: str | int) -> Call[bytes]:
    """A thread as a ZIP file: the conversation as Markdown and as a document that `POST import/` takes, its
    artifacts."""
    return Call("GET", f"threads/{part(thread_id)}/export/", is_binary=True)


def threads_fork_create(thread_id: str | int, body: types.ForkRequest) -> Call[types.ThreadAnswer]:
    """Copy the path up to and with a turn into a new thread: its turns, what they brought and made. What is
    remembered of them stays with the thread that they come from."""
    return Call("POST", f"threads/{part(thread_id)}/fork/", body=body)


def threads_messages_list(
    thread_id: str | int,
    *,
    before: str | None = None,
    cursor: str | None = None,
    page_size: int | None = None,
    path: str | None = None,
) -> Call[Page[types.MessageAnswer]]:
    """The turns of a thread's active path, or of another one, oldest first."""
    return Call(
        "GET",
        f"threads/{part(thread_id)}/messages/",
        query={"before": before, "cursor": cursor, "page_size": page_size, "path": path},
    )


def threads_messages_create(thread_id: str | int, body: types.MessageRequest) -> Call[types.ExchangeAnswer]:
    """Send a message and wait for the whole reply."""
    return Call("POST", f"threads/{part(thread_id)}/messages/", body=body)


def threads_presets_list(
    thread_id: str | int, *, cursor: str | None = None, page_size: int | None = None
) -> Call[Page[types.PresetAnswer]]:
    """What the thread's assistant can make of the conversation at once, and what it has made so far."""
    return Call("GET", f"threads/{part(thread_id)}/presets/", query={"cursor": cursor, "page_size": page_size})


def threads_presets_create(thread_id: str | int, slug: str | int, body: types.PresetRequest) -> Call[types.MadeAnswer]:
    """Make an artifact of the conversation and wait for it. Nothing of this enters the thread's history."""
    return Call("POST", f"threads/{part(thread_id)}/presets/{part(slug)}/", body=body)


def threads_requests_list(
    thread_id: str | int,
    *,
    cursor: str | None = None,
    page_size: int | None = None,
    status: Literal["completed", "failed", "interrupted", "pending", "stopped"] | None = None,
) -> Call[Page[types.SnapshotAnswer]]:
    """The model requests of a thread, newest first."""
    return Call(
        "GET",
        f"threads/{part(thread_id)}/requests/",
        query={"cursor": cursor, "page_size": page_size, "status": status},
    )


def threads_shares_create(thread_id: str | int, body: types.ThreadShareRequest) -> Call[types.ShareAnswer]:
    """Make a link that shows the thread up to a turn to whoever has it. Later turns and other paths never show, nor
    what is forgotten from then on. Refused with 403 `sharing_off` where the server does not allow it."""
    return Call("POST", f"threads/{part(thread_id)}/shares/", body=body)


def tokens_list(*, cursor: str | None = None, page_size: int | None = None) -> Call[Page[types.TokenDescription]]:
    """The tokens of the caller that were not revoked, newest first. Never the tokens themselves."""
    return Call("GET", "tokens/", query={"cursor": cursor, "page_size": page_size})


def tokens_create(body: types.NewToken) -> Call[types.CreatedToken]:
    """Make a token. With a session, where the person has proved who they are within five minutes; with a token, for
    no more, no longer and from nowhere else than itself. The token is in this answer and is never shown again."""
    return Call("POST", "tokens/", body=body)


def tokens_delete(token_id: str | int) -> Call[None]:
    """Revoke a token, for good. It stops working at once."""
    return Call("DELETE", f"tokens/{part(token_id)}/")


def tokens_current_get() -> Call[types.TokenDescription]:
    """The token that this call is made with. Needs no scope."""
    return Call("GET", "tokens/current/")


def topics_list(
    *, cursor: str | None = None, page_size: int | None = None, resolved: bool | None = None
) -> Call[Page[types.TopicAnswer]]:
    """What was begun in conversations and is still open, newest first."""
    return Call("GET", "topics/", query={"cursor": cursor, "page_size": page_size, "resolved": resolved})


def topics_update(topic_id: str | int, body: types.PatchedTopicChange) -> Call[types.TopicAnswer]:
    """Call a topic resolved, or open again."""
    return Call("PATCH", f"topics/{part(topic_id)}/", body=body)


def topics_delete(topic_id: str | int) -> Call[None]:
    """Remove a topic. The turns that opened it stay."""
    return Call("DELETE", f"topics/{part(topic_id)}/")


def webhooks_list(*, cursor: str | None = None, page_size: int | None = None) -> Call[Page[types.WebhookAnswer]]:
    """The caller's webhooks, newest first."""
    return Call("GET", "webhooks/", query={"cursor": cursor, "page_size": page_size})


def webhooks_create(body: types.NewWebhook) -> Call[types.CreatedWebhook]:
    """Have a program told what happens, signed as Standard Webhooks says. The secret is shown in this answer alone.
    Refused with 403 `webhook_for_all_refused` where it is to hear of everybody, unless the caller is staff and
    may."""
    return Call("POST", "webhooks/", body=body)


def webhooks_get(webhook_id: str | int) -> Call[types.WebhookAnswer]:
    """One webhook."""
    return Call("GET", f"webhooks/{part(webhook_id)}/")


def webhooks_update(webhook_id: str | int, body: types.PatchedWebhookChange) -> Call[types.WebhookAnswer]:
    """Change a webhook, or switch it on again."""
    return Call("PATCH", f"webhooks/{part(webhook_id)}/", body=body)


def webhooks_delete(webhook_id: str | int) -> Call[None]:
    """Delete a webhook, with what waits to be sent."""
    return Call("DELETE", f"webhooks/{part(webhook_id)}/")


def webhooks_deliveries_list(
    webhook_id: str | int, *, cursor: str | None = None, page_size: int | None = None
) -> Call[Page[types.DeliveryAnswer]]:
    """What was sent to a webhook and what is to be, newest first, as long as the server keeps it: 30 days by
    default."""
    return Call("GET", f"webhooks/{part(webhook_id)}/deliveries/", query={"cursor": cursor, "page_size": page_size})


def webhooks_deliveries_redeliver_create(webhook_id: str | int, delivery_id: str | int) -> Call[types.DeliveryAnswer]:
    """Send it once more, with the `webhook-id` that it had."""
    return Call("POST", f"webhooks/{part(webhook_id)}/deliveries/{part(delivery_id)}/redeliver/")


def webhooks_ping_create(webhook_id: str | int) -> Call[types.DeliveryAnswer]:
    """Send a test: an event of the type `ping`."""
    return Call("POST", f"webhooks/{part(webhook_id)}/ping/")


def webhooks_secret_create(webhook_id: str | int) -> Call[types.SecretAnswer]:
    """A new secret. For a day messages bear two signatures, with the former secret as well."""
    return Call("POST", f"webhooks/{part(webhook_id)}/secret/")
