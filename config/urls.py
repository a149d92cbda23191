"""Who serves which address."""

from django.contrib import admin
from django.urls import include, path, re_path

from config.observability import metrics
from config.server import health
from config.system import page
from conversations.rest import errors

urlpatterns = [
    # First, as it is asked most: an address is compared with one route after the other.
    path("api/v1/", include("conversations.rest.urls")),
    path("api/v1/", include("artifacts.rest.urls")),
    path("api/v1/", include("memory.rest.urls")),
    path("", include("artifacts.web.urls")),
    path("", include("memory.web.urls")),
    path("", include("conversations.web.urls")),
    path("admin/system/", admin.site.admin_view(page.system), name="system"),
    path("admin/system/runbooks/<slug:name>/", admin.site.admin_view(page.runbook), name="runbook"),
    path("admin/", admin.site.urls),
    path("mcp/", include("memory.mcp.urls")),
    path("v1/", include("conversations.rest.messages_urls")),
    path("scim/v2/", include("conversations.scim.urls")),
    path("health/", health.health, name="health"),
    path("health/live/", health.live, name="live"),
    path("health/ready/", health.ready, name="ready"),
    path("metrics", metrics.metrics, name="metrics"),
    path("api/v1/", include([re_path("^.*$", errors.unknown_call)])),
]

handler400 = "config.server.failures.bad_request"
handler403 = "config.server.failures.forbidden"
handler404 = "config.server.failures.not_found"
handler500 = "config.server.failures.server_error"
