"""What is examined of files: the parts of them that a model is to be given."""

from base64 import b64encode
from collections import defaultdict
from collections.abc import Collection, Sequence

from conversations.context.files.excerpts import PartKey
from conversations.errors import FileNotFound
from conversations.files import storage
from conversations.models import File, FilePart
from conversations.moderation.examined import BETWEEN

PNG = b"\x89PNG"


def what_files_say(user_id: int, parts: Collection[PartKey], *, with_pictures: bool) -> tuple[str, Sequence[str]]:
    """The names of the files, and labels, headings and texts of these parts, as one text; and their pictures, as addresses that
    hold them. A file that is gone meanwhile is left out: the model is given nothing of it either."""
    numbers: defaultdict[str, set[int]] = defaultdict(set)
    for file_id, number in parts:
        numbers[str(file_id)].add(number)
    files = File.objects.filter(user=user_id, id__in=list(numbers))
    names = dict(files.order_by("id").values_list("id", "name"))
    rows = FilePart.objects.filter(user=user_id, file__in=list(names), number__in={number for _, number in parts})
    texts, places = list(names.values()), []
    for part in rows.order_by("file", "number").only("file_id", "number", "label", "heading", "text", "picture"):
        if part.number in numbers[str(part.file_id)]:
            texts += [part.label, part.heading, part.text]
            places += [part.picture] if part.picture and with_pictures else []
    return BETWEEN.join(filter(None, texts)), [address for place in places if (address := _picture(place))]


def _picture(place: str) -> str:
    try:
        with storage.open_bytes(place) as opened:
            content = opened.read()
    except FileNotFound:
        return ""
    kind = "png" if content.startswith(PNG) else "jpeg"
    return f"data:image/{kind};base64,{b64encode(content).decode()}"
