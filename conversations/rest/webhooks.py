"""The caller's webhooks: addresses that are told what happens, and what was sent to them."""

from typing import Annotated, Any, NotRequired, TypedDict

from rest_framework.request import Request
from rest_framework.response import Response

from conversations.models import Scope, Webhook, WebhookDelivery, WebhookEvent
from conversations.models.webhooks import NAME_CHARS, PING, URL_CHARS
from conversations.rest.base import APIView, caller
from conversations.rest.descriptions import describe
from conversations.rest.pagination import ordered_by
from conversations.rest.serializers import described, valid
from conversations.runtime.shapes import Id, Line, Time, fill
from conversations.webhooks import webhooks

Name = Annotated[Line, {"max_length": NAME_CHARS}, f"What you recognise it by, at most {NAME_CHARS} characters."]
Url = Annotated[
    str,
    {"max_length": URL_CHARS},
    "Where it is sent by POST: `https://…` or `http://…`, in no inner network of the server's.",
]
Events = Annotated[list[Annotated[str, WebhookEvent]], {"allow_empty": False}, "What it hears of."]
STATES = ("waiting", "delivered", "failed")


class NewWebhook(TypedDict):
    name: Name
    url: Url
    events: Events
    for_all: NotRequired[Annotated[bool, "It hears of everybody: only for staff who may."]]


class WebhookChange(TypedDict, total=False):
    name: Name
    url: Url
    events: Events
    is_active: Annotated[bool, "`false`: nothing is sent, and what happens meanwhile is not told later."]


class WebhookAnswer(TypedDict):
    id: Annotated[Id, "Id of the webhook."]
    name: Annotated[str, "What you recognise it by."]
    url: Annotated[str, "Where it is sent."]
    events: Annotated[list[Annotated[str, WebhookEvent]], "What it hears of."]
    for_all: Annotated[bool, "`true`: it hears of everybody, not of you alone."]
    is_active: Annotated[bool, "`false`: nothing is sent."]
    disabled_because: Annotated[
        str,
        ("", *Webhook.Cause.values),
        "Why the server switched it off: it failed for three days, its address answered 410, or you may not hear of everybody "
        "any more. Empty: it did not.",
    ]
    failures: Annotated[int, "Attempts that failed since one succeeded."]
    failing_since: Annotated[Time | None, "When the first of them was made."]
    former_until: Annotated[Time | None, "Until then messages are signed with the former secret, too."]
    created_at: Annotated[Time, "When it was made."]
    updated_at: Annotated[Time, "When it was last changed."]


class CreatedWebhook(WebhookAnswer):
    secret: Annotated[str, "`whsec_…`, by which your program knows that a message is ours. Shown once."]


class SecretAnswer(TypedDict):
    secret: Annotated[str, "`whsec_…`. Shown once; the former one counts for a day as well."]


class DeliveryAnswer(TypedDict):
    id: Annotated[Id, "Id of the delivery; the header `webhook-id` is `msg_` and this."]
    type: Annotated[str, (PING, *WebhookEvent.values), "What happened."]
    data: Annotated[dict[str, Any], "Ids, states and figures, as they are sent."]
    state: Annotated[str, STATES, "`waiting`: it is to be sent, or sent again. `failed`: given up."]
    attempts: Annotated[int, "How often it was sent."]
    status_code: Annotated[int | None, "Of the last answer; null: there was none."]
    answer: Annotated[str, "How the last answer began."]
    problem: Annotated[str, "Why the last attempt failed."]
    milliseconds: Annotated[int | None, "That the last attempt took."]
    created_at: Annotated[Time, "When it happened."]
    attempted_at: Annotated[Time | None, "When it was last sent."]
    delivered_at: Annotated[Time | None, "When it was taken."]
    due_at: Annotated[Time | None, "When it is sent, or sent again."]


class WebhookList(APIView):
    part = Scope.WEBHOOKS
    pagination_class = ordered_by("-id")

    @describe(responses=described(WebhookAnswer, many=True))
    def get(self, request: Request) -> Response:
        """The caller's webhooks, newest first."""
        return self.page(request, webhooks.of(caller(request)), lambda page: [webhook_object(each) for each in page])

    @describe(request=described(NewWebhook), responses={201: described(CreatedWebhook)})
    def post(self, request: Request) -> Response:
        """Have a program told what happens, signed as Standard Webhooks says. The secret is shown in this answer alone. Refused
        with 403 `webhook_for_all_refused` where it is to hear of everybody, unless the caller is staff and may."""
        webhook, secret = webhooks.create(caller(request), **valid(NewWebhook, request))
        return Response({**webhook_object(webhook), "secret": secret}, status=201)


class WebhookDetail(APIView):
    part = Scope.WEBHOOKS

    @describe(responses=described(WebhookAnswer))
    def get(self, request: Request, webhook_id: str) -> Response:
        """One webhook."""
        return Response(webhook_object(webhooks.get(caller(request), webhook_id)))

    @describe(request=described(WebhookChange), responses=described(WebhookAnswer))
    def patch(self, request: Request, webhook_id: str) -> Response:
        """Change a webhook, or switch it on again."""
        webhook = webhooks.get(caller(request), webhook_id)
        webhooks.change(webhook, **valid(WebhookChange, request))
        return Response(webhook_object(webhooks.get(caller(request), webhook_id)))

    @describe(responses={204: None})
    def delete(self, request: Request, webhook_id: str) -> Response:
        """Delete a webhook, with what waits to be sent."""
        webhooks.delete(webhooks.get(caller(request), webhook_id))
        return Response(status=204)


class WebhookSecret(APIView):
    part = Scope.WEBHOOKS

    @describe(request=None, responses={201: described(SecretAnswer)})
    def post(self, request: Request, webhook_id: str) -> Response:
        """A new secret. For a day messages bear two signatures, with the former secret as well."""
        secret = webhooks.renew_secret(webhooks.get(caller(request), webhook_id))
        return Response({"secret": secret}, status=201)


class WebhookPing(APIView):
    part = Scope.WEBHOOKS

    @describe(request=None, responses={201: described(DeliveryAnswer)})
    def post(self, request: Request, webhook_id: str) -> Response:
        """Send a test: an event of the type `ping`."""
        delivery = webhooks.ping(webhooks.get(caller(request), webhook_id))
        return Response(delivery_object(delivery), status=201)


class DeliveryList(APIView):
    part = Scope.WEBHOOKS
    pagination_class = ordered_by("-created_at", "id")

    @describe(responses=described(DeliveryAnswer, many=True))
    def get(self, request: Request, webhook_id: str) -> Response:
        """What was sent to a webhook and what is to be, newest first, as long as the server keeps it: 30 days by default."""
        rows = webhooks.deliveries(webhooks.get(caller(request), webhook_id))
        return self.page(request, rows, lambda page: [delivery_object(each) for each in page])


class Redelivery(APIView):
    part = Scope.WEBHOOKS

    @describe(request=None, responses=described(DeliveryAnswer))
    def post(self, request: Request, webhook_id: str, delivery_id: str) -> Response:
        """Send it once more, with the `webhook-id` that it had."""
        webhook = webhooks.get(caller(request), webhook_id)
        return Response(delivery_object(webhooks.redeliver(webhook, delivery_id)))


def webhook_object(webhook: Webhook) -> WebhookAnswer:
    return fill(WebhookAnswer, webhook)


def delivery_object(delivery: WebhookDelivery) -> DeliveryAnswer:
    return fill(DeliveryAnswer, delivery, type=delivery.event, state=delivery.state)
