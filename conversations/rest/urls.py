from django.urls import path
from drf_spectacular.views import SpectacularAPIView
from rest_framework.renderers import JSONRenderer

from conversations.rest import (
    accesses,
    assistants,
    audit,
    banners,
    docs,
    feedback,
    files,
    import_export,
    instructions,
    invitations,
    leavers,
    messages,
    notices,
    projects,
    prompts,
    requests,
    session,
    shares,
    thread_labels,
    threads,
    tokens,
    versions,
)
from conversations.rest.base import OnlyJSON
from conversations.rest.openapi import MadeOnce


class Schema(SpectacularAPIView):
    """This API in OpenAPI 3.1."""

    renderer_classes = [JSONRenderer]
    content_negotiation_class = OnlyJSON
    generator_class = MadeOnce


urlpatterns = [
    path("auth/token/", tokens.TokenView.as_view()),
    path("auth/tokens/", tokens.TokenList.as_view()),
    path("auth/tokens/<str:token_id>/", tokens.TokenDetail.as_view()),
    path("tokens/", tokens.TokenList.as_view()),
    path("tokens/current/", tokens.TokenCurrent.as_view()),
    path("tokens/<str:token_id>/", tokens.TokenDetail.as_view()),
    path("session/", session.SessionDetail.as_view()),
    path("notice/", notices.NoticeDetail.as_view()),
    path("banners/", banners.BannerList.as_view()),
    path("limits/", tokens.LimitsDetail.as_view()),
    path("account/instructions/", instructions.InstructionsDetail.as_view()),
    path("projects/", projects.ProjectList.as_view()),
    path("projects/<str:project_id>/", projects.ProjectDetail.as_view()),
    path("assistants/", assistants.AssistantList.as_view()),
    path("assistants/<str:slug>/versions/", versions.VersionList.as_view()),
    path("assistants/<str:slug>/versions/<str:number>/publish/", versions.VersionPublish.as_view()),
    path("models/", assistants.ModelList.as_view()),
    path("prompts/", prompts.PromptList.as_view()),
    path("prompts/<str:prompt_id>/", prompts.PromptDetail.as_view()),
    path("tags/", thread_labels.TagList.as_view()),
    path("threads/", threads.ThreadList.as_view()),
    path("threads/<str:thread_id>/", threads.ThreadDetail.as_view()),
    path("threads/<str:thread_id>/fork/", threads.ThreadFork.as_view()),
    path("threads/<str:thread_id>/messages/", messages.MessageList.as_view()),
    path("threads/<str:thread_id>/messages/stream/", messages.MessageStream.as_view()),
    path("threads/<str:thread_id>/context/", messages.ContextPreview.as_view()),
    path("threads/<str:thread_id>/requests/", requests.RequestList.as_view()),
    path("feedback/", feedback.FeedbackQueue.as_view()),
    path("messages/<str:message_id>/feedback/", feedback.FeedbackDetail.as_view()),
    path("threads/<str:thread_id>/shares/", shares.ThreadShareList.as_view()),
    path("artifacts/<str:artifact_id>/shares/", shares.ArtifactShareList.as_view()),
    path("leavers/", leavers.LeaverList.as_view()),
    path("leavers/<str:leaver_id>/shares/", leavers.LeaverShareList.as_view()),
    path("shares/", shares.ShareList.as_view()),
    path("shares/<str:share_id>/", shares.ShareDetail.as_view()),
    path("requests/<str:request_id>/", requests.RequestDetail.as_view()),
    path("replies/<str:reply_id>/stop/", messages.ReplyStop.as_view()),
    path("replies/<str:reply_id>/retry/", messages.ReplyRetry.as_view()),
    path("replies/<str:reply_id>/continue/", messages.ReplyContinue.as_view()),
    path("replies/<str:reply_id>/events/", messages.ReplyEvents.as_view()),
    path("files/", files.FileList.as_view()),
    path("files/<str:file_id>/", files.FileDetail.as_view()),
    path("files/<str:file_id>/content/", files.FileContent.as_view()),
    path("files/<str:file_id>/parts/", files.PartList.as_view()),
    path("files/<str:file_id>/parts/<str:number>/", files.PartDetail.as_view()),
    path("files/<str:file_id>/parts/<str:number>/picture/", files.PartPicture.as_view()),
    path("files/<str:file_id>/given/", files.Given.as_view()),
    path("files/<str:file_id>/thumbnail/", files.Thumbnail.as_view()),
    path("files/<str:file_id>/pages/<str:number>/", files.PagePicture.as_view()),
    path("invitations/", invitations.InvitationList.as_view()),
    path("invitations/<str:invitation_id>/", invitations.InvitationDetail.as_view()),
    path("audit/", audit.AuditList.as_view()),
    path("accesses/", accesses.AccessList.as_view()),
    path("import/", import_export.Import.as_view()),
    path("export/", import_export.Export.as_view()),
    path("schema/", Schema.as_view(), name="schema"),
    path("docs/", docs.page, name="api_docs"),
    path("docs/messages/", docs.guide, {"file": "messages-api.md"}, name="messages_api_docs"),
    path("docs/reasons/", docs.guide, {"file": "reasons.md"}, name="reasons"),
    path("docs/tour/", docs.guide, {"file": "tour.md"}, name="tour"),
]
