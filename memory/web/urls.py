from django.urls import path

from memory.web import views

urlpatterns = [
    path("memory/", views.page, name="memory"),
]
