from django.urls import path

from artifacts.web import frames

urlpatterns = [
    path("artifacts/<uuid:artifact_id>/versions/<int:number>/frame/", frames.frame, name="artifact_frame"),
    path("artifacts/drawing/", frames.drawing, name="drawing_frame"),
]
