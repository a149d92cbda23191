"""Prompts that staff write for everybody. Those that people keep for themselves have no page here."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db import models
from django.http import HttpRequest

from conversations.errors import InvalidMessage
from conversations.models import SharedPrompt
from conversations.runtime import clock
from conversations.runtime.wording import translated
from conversations.staff.base import PageAdmin
from conversations.threads import prompts

if TYPE_CHECKING:
    ModelForm = forms.ModelForm[SharedPrompt]
else:
    ModelForm = forms.ModelForm


class PromptForm(ModelForm):
    def clean_text(self) -> str:
        text: str = self.cleaned_data["text"]
        try:
            prompts.refuse_variables(text)
        except InvalidMessage as error:
            raise ValidationError(translated(error.message)) from error
        return text


@admin.register(SharedPrompt)
class SharedPromptAdmin(PageAdmin[SharedPrompt]):
    form = PromptForm
    list_display = ["name", "variables", "is_active", "updated_at"]
    list_filter = ["is_active"]
    search_fields = ["name", "text"]
    fields = ["name", "text", "is_active"]
    formfield_overrides = {
        models.TextField: {"widget": forms.Textarea(attrs={"rows": 16, "class": "vLargeTextField ob-prompt"})}
    }
    actions = None
    empty_text = "No prompts. Add one, and everybody finds it by / in the message box."

    @admin.display
    def variables(self, prompt: SharedPrompt) -> str:
        return ", ".join(prompts.variables_of(prompt.text))

    def save_model(self, request: HttpRequest, obj: SharedPrompt, form: Any, change: bool) -> None:
        now = clock.now()
        obj.created_at = obj.created_at or now
        obj.updated_at = now
        super().save_model(request, obj, form, change)
