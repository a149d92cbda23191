"""The addresses of the Anthropic Messages API, which have no slash at their end."""

from django.urls import path, re_path

from conversations.rest import messages_api

urlpatterns = [
    path("messages", messages_api.Messages.as_view()),
    path("messages/count_tokens", messages_api.CountTokens.as_view()),
    path("models", messages_api.ModelList.as_view()),
    path("models/<str:slug>", messages_api.ModelDetail.as_view()),
    re_path("^.*$", messages_api.unknown_call),
]
