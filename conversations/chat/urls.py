from django.contrib.auth.views import LogoutView
from django.urls import path

from conversations.chat import frames, memory, protocol, tokens, views

urlpatterns = [
    path("", views.chat, name="chat"),
    path("threads/<uuid:thread_id>/", views.chat, name="thread"),
    path("api/v1/docs/websocket/", protocol.page, name="socket_docs"),
    path("memory/", memory.page, name="memory"),
    path("account/tokens/", tokens.page, name="tokens"),
    path("account/tokens/<int:token_id>/revoke/", tokens.revoke, name="revoke_token"),
    path("artifacts/<uuid:artifact_id>/versions/<int:number>/frame/", frames.frame, name="artifact_frame"),
    path("artifacts/drawing/", frames.drawing, name="drawing_frame"),
    path("accounts/login/", views.login, name="login"),
    path("admin/login/", views.staff_login),
    path("accounts/logout/", LogoutView.as_view(), name="logout"),
    path("accounts/signup/", views.signup, name="signup"),
]
