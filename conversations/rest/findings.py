"""What the linter found about requests, for staff and their programs."""

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.linter.findings import FindingAnswer, finding_object
from conversations.models import LintFinding, Scope
from conversations.rest.base import APIView, caller
from conversations.rest.pagination import ordered_by
from conversations.rest.query_params import Choice
from conversations.rest.serializers import described

SEE_FINDINGS = "conversations.view_lintfinding"


class FindingList(APIView):
    scopes = {"GET": Scope.STAFF}
    pagination_class = ordered_by("-id")
    state = Choice("state", LintFinding.State.values, "Only those in this state.")

    @extend_schema(responses=described(FindingAnswer, many=True), parameters=[state])
    def get(self, request: Request) -> Response:
        """For staff: what the linter found about requests of the last thirty days, newest first. Takes the right to see
        findings; a token needs `staff`."""
        if not (caller(request).is_staff and caller(request).has_perm(SEE_FINDINGS)):
            raise PermissionDenied
        rows = LintFinding.objects.select_related("assistant")
        if state := self.state.read(request):
            rows = rows.filter(state=state)
        return self.page(request, rows, lambda page: [finding_object(row) for row in page])
