from django.apps import apps
from django.urls import URLPattern, include, path, re_path

from conversations.web import (
    accessibility,
    account,
    budgets,
    entry,
    installed,
    invitations,
    leavers,
    notice,
    openid,
    projects,
    providers,
    second_factor,
    shared,
    shares,
    socket_docs,
    tokens,
    views,
    webhooks,
)


def saml_urls() -> list[URLPattern]:
    """Where the extra ``saml`` is installed."""
    if not apps.is_installed("allauth.socialaccount.providers.saml"):
        return []
    from conversations.web import saml  # noqa: PLC0415  # its library may be missing

    routes = {
        "login": saml.login,
        "acs": saml.answer,
        "acs/finish": saml.finish,
        "sls": saml.sign_out,
        "metadata": saml.metadata,
    }
    names = {"acs/finish": "saml_finish_acs"}
    return [
        path(f"accounts/saml/<str:organization_slug>/{name}/", view, name=names.get(name, f"saml_{name}"))
        for name, view in routes.items()
    ]


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
    path("accessibility/", accessibility.statement, name="accessibility"),
    path("favicon.ico", views.icon, name="icon"),
    path("api/v1/docs/websocket/", socket_docs.page, name="socket_docs"),
    path("prompts/", views.prompts, name="prompts"),
    path("account/tokens/", tokens.page, name="tokens"),
    path("account/tokens/<int:token_id>/revoke/", tokens.revoke, name="revoke_token"),
    path("admin/login/", entry.staff_login),
    path("admin/password_change/", account.change_password_of_staff),
    path("accounts/login/", entry.login),
    path("accounts/signup/", entry.signup),
    path("accounts/signup/address/<str:token>/", entry.prove_address, name="prove_address"),
    path("accounts/operator/<str:token>/", entry.operator, name="sign_in_link"),
    path("accounts/password/reset/", entry.forgotten),
    re_path(r"^accounts/password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$", entry.set_password),
    path("accounts/password/change/", account.change_password),
    path("accounts/email/", account.change_mail),
    path("accounts/reauthenticate/", account.reauthenticate),
    path("accounts/again/", account.sign_in_again, name="sign_in_again"),
    path("accounts/password/set/", account.set_first_password),
    path("accounts/leaving/", entry.leaving, name="leaving"),
    path("accounts/2fa/", second_factor.page),
    path("accounts/2fa/authenticate/", second_factor.authenticate),
    path("accounts/2fa/reauthenticate/", second_factor.reauthenticate),
    path("accounts/2fa/totp/activate/", second_factor.activate_app),
    path("accounts/2fa/totp/deactivate/", second_factor.remove_app),
    path("accounts/2fa/webauthn/", second_factor.list_passkeys),
    path("accounts/2fa/webauthn/add/", second_factor.add_passkey),
    path("accounts/2fa/webauthn/login/", second_factor.sign_in_by_passkey),
    path("accounts/2fa/webauthn/reauthenticate/", second_factor.reauthenticate_by_passkey),
    path("accounts/2fa/webauthn/keys/<int:pk>/remove/", second_factor.remove_passkey),
    path("accounts/2fa/webauthn/keys/<int:pk>/edit/", second_factor.rename_passkey),
    path("accounts/2fa/recovery-codes/", second_factor.view_codes),
    path("accounts/2fa/recovery-codes/generate/", second_factor.make_codes),
    path("accounts/2fa/recovery-codes/download/", second_factor.download_codes),
    path("accounts/2fa/", include("allauth.mfa.urls")),  # the names of the above
    path("accounts/logout/", providers.logout),
    path("accounts/oidc/<str:provider_id>/login/", openid.login, name="openid_connect_login"),
    path("accounts/oidc/<str:provider_id>/login/callback/", openid.callback, name="openid_connect_callback"),
    path("accounts/oidc/<str:provider_id>/logout/", openid.back_channel_logout, name="back_channel_logout"),
    path("accounts/", include("allauth.account.urls")),  # the names of the above, and the rest
    *saml_urls(),
    path("accounts/3rdparty/", providers.linked_accounts),
    path("accounts/3rdparty/signup/", providers.no_form),
    path("accounts/3rdparty/login/error/", providers.no_form),
    path("accounts/3rdparty/", include("allauth.socialaccount.urls")),
    path("admin/logout/", providers.logout),
    path("invitation/", invitations.opened, name="opened_invitation"),
    path("invitation/<str:secret>/", invitations.opening, name="invitation"),
    path("account/invitations/", invitations.listing, name="invitations"),
    path("account/invitations/<uuid:invitation_id>/revoke/", invitations.revoke, name="revoke_invitation"),
    path("account/export/", account.export, name="export"),
    path("account/budgets/", budgets.listing, name="budgets"),
    path("account/budgets/<int:budget_id>/", budgets.page, name="budget"),
    path("account/budgets/<int:budget_id>/use.csv", budgets.as_csv, name="budget_csv"),
    path("account/leavers/", leavers.listing, name="leavers"),
    path("account/leavers/<int:leaver_id>/", leavers.page, name="leaver"),
    path("notice/", notice.page, name="notice"),
    path("account/webhooks/", webhooks.page, name="webhooks"),
    path("account/webhooks/<uuid:webhook_id>/", webhooks.detail, name="webhook"),
    path("account/webhooks/<uuid:webhook_id>/ping/", webhooks.ping, name="ping_webhook"),
    path("account/webhooks/<uuid:webhook_id>/switch/", webhooks.switch, name="switch_webhook"),
    path("account/webhooks/<uuid:webhook_id>/delete/", webhooks.delete, name="delete_webhook"),
    path("account/webhooks/<uuid:webhook_id>/<uuid:delivery_id>/redeliver/", webhooks.redeliver, name="redeliver"),
    path("account/shares/", shares.page, name="shares"),
    path("account/shares/<uuid:share_id>/revoke/", shares.revoke, name="revoke_share"),
    path("account/", account.page, name="account"),
    path("account/instructions/", projects.instruct, name="instruct"),
    path("projects/", projects.listing, name="projects"),
    path("projects/<uuid:project_id>/", projects.page, name="project"),
    path("projects/<uuid:project_id>/new/", projects.begin, name="begin_in_project"),
    path("projects/<uuid:project_id>/delete/", projects.delete, name="delete_project"),
    path("account/language/", account.choose_language, name="choose_language"),
    path("account/sign-out/", account.sign_out, name="sign_out_elsewhere"),
    path("account/delete/", account.delete, name="delete_account"),
]
