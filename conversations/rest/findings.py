"""What the linter found about requests, for staff and their programs."""

from typing import Annotated, TypedDict

from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from conversations import threads
from conversations.errors import RowNotFound
from conversations.linter.findings import FindingAnswer, finding_object
from conversations.models import LintFinding, Scope
from conversations.rest.base import APIView, caller
from conversations.rest.descriptions import describe
from conversations.rest.pagination import ordered_by
from conversations.rest.query_params import Choice
from conversations.rest.serializers import described, valid
from conversations.rest.staff_rows import plain, save
from conversations.runtime.shapes import Clean
from conversations.staff import rows

SEE_FINDINGS = "conversations.view_lintfinding"


class FindingChange(TypedDict):
    reason: Annotated[Clean, {"max_length": 500}, "Why it stays as it is. Empty: it is open again."]


class FindingList(APIView):
    scopes = {"GET": Scope.STAFF}
    pagination_class = ordered_by("-id")
    state = Choice("state", LintFinding.State.values, "Only those in this state.")

    @describe(responses=described(FindingAnswer, many=True), parameters=[state])
    def get(self, request: Request) -> Response:
        """For staff: what the linter found about requests of the last thirty days, newest first. Takes the right to see
        findings; a token needs `staff`."""
        if not (caller(request).is_staff and caller(request).has_perm(SEE_FINDINGS)):
            raise PermissionDenied
        found = LintFinding.objects.select_related("assistant")
        if state := self.state.read(request):
            found = found.filter(state=state)
        return self.page(request, found, lambda page: [finding_object(row) for row in page])


class FindingHandling(APIView):
    scopes = {"PATCH": Scope.STAFF_FEEDBACK}

    @describe(request=described(FindingChange), responses=described(FindingAnswer))
    def patch(self, request: Request, finding_id: str) -> Response:
        """Accept a finding for a reason, or open it again, for staff who may change findings. Whether one is mended the next
        look tells: that is refused. A token needs `staff:feedback`."""
        found = threads.row_with_id(rows.seen(plain(request), LintFinding), finding_id, RowNotFound)
        rows.demand_change(plain(request), found)
        save(request, found, valid(FindingChange, request))
        return Response(finding_object(LintFinding.objects.select_related("assistant").get(pk=found.pk)))
