"""The addresses of the APIs of others that Openbook speaks, which have no slash at their end."""

from django.urls import path, re_path

from conversations.rest import completions_api, messages_api, responses_api

urlpatterns = [
    path("messages", messages_api.Messages.as_view()),
    path("messages/count_tokens", messages_api.CountTokens.as_view()),
    path("chat/completions", completions_api.ChatCompletions.as_view()),
    path("responses", responses_api.Responses.as_view()),
    path("models", messages_api.ModelList.as_view()),
    path("models/<str:slug>", messages_api.ModelDetail.as_view()),
    re_path("^.*$", messages_api.unknown_call),
]
