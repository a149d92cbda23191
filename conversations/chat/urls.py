from django.contrib.auth.views import LogoutView
from django.urls import path

from conversations.chat import account, entry, frames, memory, protocol, tokens, views

urlpatterns = [
    path("", views.chat, name="chat"),
    path("threads/<uuid:thread_id>/", views.chat, name="thread"),
    path("api/v1/docs/websocket/", protocol.page, name="socket_docs"),
    path("memory/", memory.page, name="memory"),
    path("account/tokens/", tokens.page, name="tokens"),
    path("account/tokens/<int:token_id>/revoke/", tokens.revoke, name="revoke_token"),
    path("artifacts/<uuid:artifact_id>/versions/<int:number>/frame/", frames.frame, name="artifact_frame"),
    path("artifacts/drawing/", frames.drawing, name="drawing_frame"),
    path("accounts/login/", entry.login, name="login"),
    path("admin/login/", entry.staff_login),
    path("accounts/logout/", LogoutView.as_view(), name="logout"),
    path("accounts/signup/", entry.signup, name="signup"),
    path("accounts/forgotten/", entry.forgotten, name="forgotten"),
    path("accounts/password/<uidb64>/<token>/", entry.set_password, name="set_password"),
    path("accounts/leaving/", entry.leaving, name="leaving"),
    path("account/", account.page, name="account"),
    path("account/password/", account.change_password, name="change_password"),
    path("account/mail/", account.change_mail, name="change_mail"),
    path("account/sign-out/", account.sign_out, name="sign_out_elsewhere"),
    path("account/delete/", account.delete, name="delete_account"),
]
