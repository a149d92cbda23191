"""The pages on which managers, and staff who have the right, hand over links of people who have left. They need no script."""

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.messages import success
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from conversations import tasks
from conversations.errors import NotFound, OpenbookError
from conversations.runtime.wording import lazy, translated
from conversations.sharing import handover
from conversations.web.views import SignedInRequest

PER_PAGE = 50
NONE_CHOSEN = lazy("Choose at least one link.")


@never_cache
@login_required
@require_safe
def listing(request: SignedInRequest) -> HttpResponse:
    leavers = Paginator(handover.leavers_seen_by(request.user), PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "conversations/leavers.html", {"leavers": leavers})


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: SignedInRequest, leaver_id: int) -> HttpResponse:
    """Answers 404 for who is still there, has nothing to hand over, or is of a group that somebody else manages."""
    try:
        leaver = handover.leaver_seen_by(request.user, leaver_id)
    except NotFound as error:
        raise Http404(error.message) from None
    to, chosen, problem = request.POST.get("to", ""), set(request.POST.getlist("share")), ""
    links = list(handover.links_of(leaver))
    ids = [link.id for link in links if str(link.id) in chosen]
    if request.method == "POST" and not ids:
        problem = str(NONE_CHOSEN)
    elif request.method == "POST":
        try:
            receiver, moved = handover.hand_over(
                request.user, leaver, to=to, share_ids=ids, read_later=tasks.enqueue_reading
            )
        except OpenbookError as error:
            problem = translated(error.message)
        else:
            words = ngettext(
                "Handed over to %(name)s: %(count)s link.", "Handed over to %(name)s: %(count)s links.", len(moved)
            )
            success(request, words % {"name": receiver.get_username(), "count": len(moved)})
            return redirect("leavers")
    context = {
        "leaver": leaver,
        "links": [(link, request.method != "POST" or str(link.id) in chosen) for link in links],
        "names": list(
            handover.new_owners(request.user, leaver).values_list("username", flat=True)[: handover.MOST_NAMES]
        ),
        "to": to,
        "problem": problem,
        "is_on": settings.OPENBOOK_SHARING,
        "may_choose_anybody": request.user.has_perm(handover.RIGHT),
    }
    return render(request, "conversations/leaver.html", context, status=400 if problem else 200)
