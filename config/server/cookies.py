"""Django's storage of messages that a page shows once, in a cookie whose name says what the others' do."""

from django.conf import settings
from django.contrib.messages.storage.cookie import CookieStorage
from django.contrib.messages.storage.fallback import FallbackStorage
from django.contrib.messages.storage.session import SessionStorage


class MessageCookie(CookieStorage):
    cookie_name = f"{settings.COOKIE_PREFIX}messages"


class MessageStorage(FallbackStorage):
    storage_classes = (MessageCookie, SessionStorage)
