from django.urls import path

from artifacts.rest import artifacts, exports, presets, staff

urlpatterns = [
    path("staff/presets/", staff.PresetRowList.as_view()),
    path("staff/presets/<str:row_id>/", staff.PresetRowDetail.as_view()),
    path("threads/<str:thread_id>/artifacts/", artifacts.ArtifactList.as_view()),
    path("threads/<str:thread_id>/export/", exports.ThreadExport.as_view()),
    path("threads/<str:thread_id>/presets/", presets.PresetList.as_view()),
    path("threads/<str:thread_id>/presets/<str:slug>/", presets.PresetRun.as_view()),
    path("threads/<str:thread_id>/presets/<str:slug>/stream/", presets.PresetStream.as_view()),
    path("artifacts/<str:artifact_id>/", artifacts.ArtifactDetail.as_view()),
    path("artifacts/<str:artifact_id>/restore/", artifacts.ArtifactRestore.as_view()),
    path("artifacts/<str:artifact_id>/export/", exports.ArtifactExport.as_view()),
    path("artifacts/<str:artifact_id>/versions/", artifacts.VersionList.as_view()),
    path("artifacts/<str:artifact_id>/versions/<str:number>/", artifacts.VersionDetail.as_view()),
]
