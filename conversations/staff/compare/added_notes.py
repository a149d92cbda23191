"""A note that nobody made, as the address of a comparison holds it: encrypted, as addresses stand in logs."""

import json
from datetime import datetime

from conversations.context.sources import AddedNote
from conversations.runtime import encryption
from conversations.runtime.encryption import NotDecryptable

PURPOSE = "added note"


def written(note: AddedNote, user_id: int) -> str:
    """For requests of this person alone."""
    values = {"user": user_id, "text": note.text, "at": note.at.isoformat()}
    return encryption.encrypt(json.dumps(values), purpose=PURPOSE).decode()


def read(text: str, user_id: int) -> AddedNote | None:
    """``None``: it is none of this person's."""
    try:
        values = json.loads(encryption.decrypt(text.encode(), purpose=PURPOSE))
    except NotDecryptable:
        return None
    if values["user"] != user_id:
        return None
    return AddedNote(text=values["text"], at=datetime.fromisoformat(values["at"]))
