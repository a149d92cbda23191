"""Who serves which address."""

from django.contrib import admin
from django.urls import include, path

from config import health

urlpatterns = [
    path("", include("conversations.chat.urls")),
    path("admin/", admin.site.urls),
    path("api/v1/", include("conversations.api.urls")),
    path("v1/", include("conversations.api.messages_urls")),
    path("health/", health.health, name="health"),
]

handler400 = "config.failures.bad_request"
handler403 = "config.failures.forbidden"
handler404 = "config.failures.not_found"
handler500 = "config.failures.server_error"
