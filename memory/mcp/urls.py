from django.urls import path

from memory.mcp.endpoint import Endpoint

urlpatterns = [path("", Endpoint.as_view(), name="mcp")]
