from django.urls import path, re_path
from drf_spectacular.views import SpectacularAPIView
from rest_framework.renderers import JSONRenderer

from conversations.api import (
    accesses,
    artifacts,
    docs,
    errors,
    exchange,
    exporting,
    forgetting,
    memories,
    preferences,
    presets,
    recall,
    tokens,
    topics,
    views,
)
from conversations.api.base import OnlyJSON


class Schema(SpectacularAPIView):
    """This API in OpenAPI 3.1."""

    renderer_classes = [JSONRenderer]
    content_negotiation_class = OnlyJSON


urlpatterns = [
    path("auth/token/", tokens.TokenView.as_view()),
    path("tokens/", tokens.TokenList.as_view()),
    path("tokens/current/", tokens.TokenCurrent.as_view()),
    path("tokens/<str:token_id>/", tokens.TokenDetail.as_view()),
    path("limits/", tokens.LimitsDetail.as_view()),
    path("assistants/", views.AssistantList.as_view()),
    path("threads/", views.ThreadList.as_view()),
    path("threads/<str:thread_id>/", views.ThreadDetail.as_view()),
    path("threads/<str:thread_id>/messages/", views.MessageList.as_view()),
    path("threads/<str:thread_id>/messages/stream/", views.MessageStream.as_view()),
    path("threads/<str:thread_id>/clearing/", forgetting.ThreadClearing.as_view()),
    path("threads/<str:thread_id>/clear/", forgetting.ThreadClear.as_view()),
    path("threads/<str:thread_id>/context/", views.ContextPreview.as_view()),
    path("threads/<str:thread_id>/requests/", views.RequestList.as_view()),
    path("threads/<str:thread_id>/artifacts/", artifacts.ArtifactList.as_view()),
    path("threads/<str:thread_id>/export/", exporting.ThreadExport.as_view()),
    path("threads/<str:thread_id>/presets/", presets.PresetList.as_view()),
    path("threads/<str:thread_id>/presets/<str:slug>/", presets.PresetRun.as_view()),
    path("threads/<str:thread_id>/presets/<str:slug>/stream/", presets.PresetStream.as_view()),
    path("artifacts/<str:artifact_id>/", artifacts.ArtifactDetail.as_view()),
    path("artifacts/<str:artifact_id>/restore/", artifacts.ArtifactRestore.as_view()),
    path("artifacts/<str:artifact_id>/export/", exporting.ArtifactExport.as_view()),
    path("artifacts/<str:artifact_id>/versions/", artifacts.VersionList.as_view()),
    path("artifacts/<str:artifact_id>/versions/<str:number>/", artifacts.VersionDetail.as_view()),
    path("requests/<str:request_id>/", views.RequestDetail.as_view()),
    path("replies/<str:reply_id>/stop/", views.ReplyStop.as_view()),
    path("replies/<str:reply_id>/retry/", views.ReplyRetry.as_view()),
    path("replies/<str:reply_id>/continue/", views.ReplyContinue.as_view()),
    path("replies/<str:reply_id>/events/", views.ReplyEvents.as_view()),
    path("messages/<str:message_id>/", forgetting.MessageDetail.as_view()),
    path("messages/<str:message_id>/forgetting/", forgetting.MessageForgetting.as_view()),
    path("messages/<str:message_id>/forget/", forgetting.MessageForget.as_view()),
    path("memories/", memories.MemoryList.as_view()),
    path("memories/forgetting/", forgetting.EverythingForgetting.as_view()),
    path("memories/forget/", forgetting.EverythingForget.as_view()),
    path("memories/search/", recall.MemorySearch.as_view()),
    path("memories/<str:memory_id>/", memories.MemoryDetail.as_view()),
    path("memories/<str:memory_id>/forgetting/", forgetting.MemoryForgetting.as_view()),
    path("memories/<str:memory_id>/forget/", forgetting.MemoryForget.as_view()),
    path("preferences/", preferences.PreferencesDetail.as_view()),
    path("topics/", topics.TopicList.as_view()),
    path("topics/<str:topic_id>/", topics.TopicDetail.as_view()),
    path("days/", topics.DayList.as_view()),
    path("accesses/", accesses.AccessList.as_view()),
    path("import/", exchange.Import.as_view()),
    path("export/", exchange.Export.as_view()),
    path("schema/", Schema.as_view(), name="schema"),
    path("docs/", docs.page, name="api_docs"),
    path("docs/messages/", docs.guide, {"file": "messages-api.md"}, name="messages_api_docs"),
    path("docs/reasons/", docs.guide, {"file": "reasons.md"}, name="reasons"),
    path("docs/tour/", docs.guide, {"file": "tour.md"}, name="tour"),
    re_path("^.*$", errors.unknown_call),
]
