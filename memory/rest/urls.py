from django.urls import path

from memory.rest import forgetting, memories, preferences, search, topics

urlpatterns = [
    path("threads/<str:thread_id>/clearing/", forgetting.ThreadClearing.as_view()),
    path("threads/<str:thread_id>/clear/", forgetting.ThreadClear.as_view()),
    path("messages/<str:message_id>/", forgetting.MessageDetail.as_view()),
    path("messages/<str:message_id>/forgetting/", forgetting.MessageForgetting.as_view()),
    path("messages/<str:message_id>/forget/", forgetting.MessageForget.as_view()),
    path("memories/", memories.MemoryList.as_view()),
    path("memories/forgetting/", forgetting.EverythingForgetting.as_view()),
    path("memories/forget/", forgetting.EverythingForget.as_view()),
    path("memories/search/", search.MemorySearch.as_view()),
    path("memories/<str:memory_id>/", memories.MemoryDetail.as_view()),
    path("memories/<str:memory_id>/restore/", memories.MemoryRestore.as_view()),
    path("memories/<str:memory_id>/uses/", memories.MemoryUses.as_view()),
    path("memories/<str:memory_id>/forgetting/", forgetting.MemoryForgetting.as_view()),
    path("memories/<str:memory_id>/forget/", forgetting.MemoryForget.as_view()),
    path("preferences/", preferences.PreferencesDetail.as_view()),
    path("topics/", topics.TopicList.as_view()),
    path("topics/<str:topic_id>/", topics.TopicDetail.as_view()),
    path("days/", topics.DayList.as_view()),
]
