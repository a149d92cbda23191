from django.urls import include, path, re_path

from conversations.web import account, entry, installed, shared, shares, socket_docs, tokens, views

urlpatterns = [
    path("", views.chat, name="chat"),
    path("threads/<uuid:thread_id>/", views.chat, name="thread"),
    path("threads/<uuid:thread_id>/print/", views.print_sheet, name="print_thread"),
    path("manifest.webmanifest", installed.manifest, name="manifest"),
    path("service-worker.js", installed.service_worker, name="service_worker"),
    path("offline/", installed.offline, name="offline"),
    path("s/<str:token>/", shared.shared, name="shared"),
    path("s/<str:token>/continue/", shared.continued, name="continue_shared"),
    path("s/<str:token>/frame/", shared.frame, name="shared_frame"),
    path("s/<str:token>/files/<uuid:file_id>/", shared.file, name="shared_file"),
    path("robots.txt", shared.robots),
    path("favicon.ico", views.icon, name="icon"),
    path("api/v1/docs/websocket/", socket_docs.page, name="socket_docs"),
    path("prompts/", views.prompts, name="prompts"),
    path("account/tokens/", tokens.page, name="tokens"),
    path("account/tokens/<int:token_id>/revoke/", tokens.revoke, name="revoke_token"),
    path("admin/login/", entry.staff_login),
    path("admin/password_change/", account.change_password_of_staff),
    path("accounts/login/", entry.login),
    path("accounts/signup/", entry.signup),
    path("accounts/password/reset/", entry.forgotten),
    re_path(r"^accounts/password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$", entry.set_password),
    path("accounts/password/change/", account.change_password),
    path("accounts/email/", account.change_mail),
    path("accounts/reauthenticate/", account.reauthenticate),
    path("accounts/leaving/", entry.leaving, name="leaving"),
    path("accounts/", include("allauth.account.urls")),  # the names of the above, and the rest
    path("account/shares/", shares.page, name="shares"),
    path("account/shares/<uuid:share_id>/revoke/", shares.revoke, name="revoke_share"),
    path("account/", account.page, name="account"),
    path("account/language/", account.choose_language, name="choose_language"),
    path("account/sign-out/", account.sign_out, name="sign_out_elsewhere"),
    path("account/delete/", account.delete, name="delete_account"),
]
