"""E-mail, mailboxes and web archives."""

import base64
import quopri
from collections.abc import Callable, Mapping

DATE = "Date: Mon, 5 Oct 2026 10:00:00 +0200\nMIME-Version: 1.0\n"
HEAD = "From: Ann <ann@a.example>\nTo: Bob <bob@b.example>\nSubject: {}\n" + DATE
PDF = (
    "Content-Type: application/pdf; name=offer.pdf\nContent-Disposition: attachment; filename=offer.pdf\n"
    "Content-Transfer-Encoding: base64\n\nJVBERi0xLjQK\n"
)
PICTURE = (
    "Content-Type: image/png; name=logo.png\nContent-ID: <logo>\nContent-Transfer-Encoding: base64\n\niVBORw0KGgo=\n"
)


def message(rest: str, subject: str = "Offer", head: str = HEAD) -> bytes:
    return (head.format(subject) + rest).encode()


def part(body: str, type: str = "text/plain; charset=utf-8", headers: str = "") -> str:
    return f"Content-Type: {type}\n{headers}\n{body}\n"


def divided(kind: str, *parts: str, boundary: str = "b1", written: str = "", end: str = "--b1--\n") -> str:
    inside = "".join(f"--{boundary}\n{each}" for each in parts)
    return f"Content-Type: multipart/{kind}; boundary={written or boundary}\n\n{inside}{end}"


def mixed(*parts: str, **how: str) -> bytes:
    return message(divided("mixed", *parts, **how))


def alternative(plain: str, html: str, *more: str) -> bytes:
    return message(divided("alternative", part(plain), part(html, "text/html; charset=utf-8"), *more))


def packed(text: str, encoding: str, way: str) -> str:
    content = text.encode(encoding)
    return (base64.encodebytes(content) if way == "base64" else quopri.encodestring(content)).decode()


def of_charset(text: str, encoding: str, label: str, way: str = "base64") -> bytes:
    return message(
        f"Content-Type: text/plain; charset={label}\nContent-Transfer-Encoding: {way}\n\n{packed(text, encoding, way)}"
    )


def raw(text: str, encoding: str, header: str = "") -> bytes:
    return (HEAD.format(text) + header + "\n" + text + "\n").encode(encoding)


CALENDAR = """BEGIN:VCALENDAR
METHOD:REQUEST
BEGIN:VTIMEZONE
TZID:Europe/Berlin
BEGIN:STANDARD
DTSTART:19701025T030000
END:STANDARD
END:VTIMEZONE
BEGIN:VEVENT
SUMMARY:Budget talk\\, second round
DTSTART;TZID=Europe/Berlin:20261012T090000
DTEND;TZID=Europe/Berlin:20261012T100000
LOCATION:Room 12
ORGANIZER;CN=Ann Miller:mailto:ann@a.example
ATTENDEE;CN="Bob Brown";PARTSTAT=ACCEPTED;RSVP=TRUE:mailto:bob@b.exam
 ple
DESCRIPTION:Please bring the figures.\\nThank you.
BEGIN:VALARM
DESCRIPTION:Reminder
END:VALARM
END:VEVENT
END:VCALENDAR
"""
INNER = HEAD.format("The original") + part("Original body, secret 4711.")
LIST = part("_____\nlist footer, unsubscribe here", 'text/plain; charset="us-ascii"', "Content-Disposition: inline\n")
FLOWED = "This is a long line that \ngoes on here.\n\n> quoted and \n> quoted on\n-- \nAnn\n"
MBOX = (
    b"From ann@a.example Mon Oct  5 10:00:00 2026\n"
    + message("\nFirst body.\n\nFrom here on it is text.\n", "First subject")
    + b"\nFrom bob@b.example Tue Oct  6 10:00:00 2026\n"
    + message(divided("mixed", part("Second body.")), "Second subject")
    + b"\nFrom cyd@c.example Wed Oct  7 10:00:00 2026\n"
    + message("\nThird body.\n", "Third subject")
)
ARCHIVE = message(
    divided(
        "related",
        part(
            "<html><head><title>Saved</title></head><body><h1>Prices</h1><p>=C3=9Cber 20 =E2=82=AC</p></body></html>",
            "text/html",
            "Content-Transfer-Encoding: quoted-printable\nContent-Location: https://a.example/\n",
        ),
        part("body { color: red }", "text/css", "Content-Location: https://a.example/a.css\n"),
        PICTURE,
    ),
    head="From: <Saved by Blink>\nSnapshot-Content-Location: https://a.example/\nSubject: {}\n" + DATE,
)
BOUNCE_FIELDS = (
    "Reporting-MTA: dns; mx.example\n\nFinal-Recipient: rfc822; bob@b.example\nAction: failed\n"
    "Diagnostic-Code: smtp; 552 mailbox full\n"
)
UU = "See the file.\n\nbegin 644 hello.bin\n%:&5L;&\\\n`\nend\n\nRegards\n"
DEEP = divided(
    "mixed",
    part("outer text"),
    divided(
        "related",
        divided("alternative", part("inner text"), boundary="b3", end="--b3--\n"),
        PICTURE,
        boundary="b2",
        end="--b2--\n",
    ),
)

FILES: Mapping[str, Callable[[], bytes]] = {
    "second-text.eml": lambda: mixed(part("First half."), PDF, part("Second half.")),
    "second-html.eml": lambda: mixed(
        part("<p>First half.</p>", "text/html"), PDF, part("<p>Second half.</p>", "text/html")
    ),
    "list-footer.eml": lambda: mixed(part("How do I do this?"), LIST),
    "empty-plain.eml": lambda: alternative("\n", "<p>Account 12 was debited 99 euro.</p>"),
    "stub-plain.eml": lambda: alternative(
        "View this in an HTML client: https://a.example/x", "<p>Account 12 was debited 99 euro on Friday.</p>"
    ),
    "stub-and-same.eml": lambda: alternative(
        "Hello Bob, the meeting is at ten.", "<p>Hello <b>Bob</b>, the meeting is at ten.</p>"
    ),
    "hidden-part-of-html.eml": lambda: alternative(
        "", "<div style='display:none'>preheader</div><p>The price is 12.</p>"
    ),
    "amp.eml": lambda: alternative(
        "Seats are free.", "<p>Seats are free.</p>", part("<html amp4email>AMP</html>", "text/x-amp-html")
    ),
    "only-html.eml": lambda: message(part("<p>Only HTML &euro;</p>", "text/html")),
    "unquoted-special.eml": lambda: mixed(part("The word is LANTERN."), boundary="=_a/b:c?d", end="--=_a/b:c?d--\n"),
    "unquoted-spaces.eml": lambda: mixed(part("The word is LANTERN."), boundary="my bound ary", end=""),
    "no-final-boundary.eml": lambda: mixed(part("First."), part("The word is LANTERN."), end=""),
    "another-boundary.eml": lambda: mixed(part("The word is LANTERN."), PDF, written='"wrong"'),
    "no-boundary-said.eml": lambda: message(
        "Content-Type: multipart/mixed\n\nPreamble\n--zz\n" + part("The word is LANTERN.") + "--zz--\n"
    ),
    "no-type-said.eml": lambda: message(
        "\n--zz\n" + part("The word is LANTERN.") + "--zz\n" + PDF + "--zz--\n", head="From: a@a.example\nSubject: {}\n"
    ),
    "type-after-empty-line.eml": lambda: message(
        "\n" + divided("mixed", part("The word is LANTERN.")), head="From: a@a.example\nSubject: {}\n"
    ),
    "boundary-with-blanks.eml": lambda: mixed(part("First."), part("The word is LANTERN.")).replace(
        b"\n--b1\n", b"\n--b1  \n"
    ),
    "never-divided.eml": lambda: message('Content-Type: multipart/mixed; boundary="x"\n\nThe word is LANTERN.\n'),
    "crlf.eml": lambda: mixed(part("First."), part("<p>Two\nlines</p>", "text/html")).replace(b"\n", b"\r\n"),
    "no-header-line-end.eml": lambda: b"From: a@a.example\nSubject: Short",
    "related.eml": lambda: message(
        divided("related", part('<p>See <img src="cid:logo" alt="our logo"></p>', "text/html"), PICTURE)
    ),
    "nested.eml": lambda: message(DEEP),
    "invitation.eml": lambda: alternative(
        "You are invited.", "<p>You are invited.</p>", part(CALENDAR, "text/calendar; method=REQUEST")
    ),
    "cancelled.eml": lambda: message(part(CALENDAR.replace("REQUEST", "CANCEL"), "text/calendar; method=CANCEL")),
    "ics-attached.eml": lambda: mixed(
        part("See the file."), part(CALENDAR, "application/octet-stream; name=invite.ics")
    ),
    "bounce.eml": lambda: message(
        divided(
            "report",
            part("It could not be delivered."),
            part(BOUNCE_FIELDS, "message/delivery-status"),
            part(INNER, "message/rfc822"),
        )
    ),
    "bounce-headers.eml": lambda: message(
        divided(
            "report",
            part("It could not be delivered."),
            part(BOUNCE_FIELDS, "message/delivery-status"),
            part("Subject: The original\nTo: bob@b.example", "text/rfc822-headers"),
        )
    ),
    "forwarded.eml": lambda: mixed(part("See below."), part(INNER, "message/rfc822")),
    "forwarded-packed.eml": lambda: mixed(
        part("See below."),
        part(packed(INNER, "utf-8", "base64"), "message/rfc822", "Content-Transfer-Encoding: base64\n"),
    ),
    "forwarded-file.eml": lambda: mixed(part("See below."), part(INNER, "application/octet-stream; name=mail.eml")),
    "forwarded-twice.eml": lambda: mixed(
        part(
            HEAD.format("Middle")
            + divided("mixed", part("Middle body."), part(INNER, "message/rfc822"), boundary="b9", end="--b9--\n"),
            "message/rfc822",
        )
    ),
    "digest.eml": lambda: message(divided("digest", "\n" + INNER, "\n" + INNER.replace("4711", "4712"))),
    "nameless.eml": lambda: mixed(
        part("Here it is."), part("AAAAAAAA", "application/zip", "Content-Transfer-Encoding: base64\n")
    ),
    "attached-texts.eml": lambda: mixed(
        part("Two files."),
        part("name,age\nAnn,33", "text/csv; name=people.csv"),
        part("# Plan\nGo on.", "application/octet-stream; name=plan.md", "Content-Disposition: attachment\n"),
    ),
    "winmail.eml": lambda: mixed(
        part("The text."),
        part("eJ8+IgAA", "application/ms-tnef; name=winmail.dat", "Content-Transfer-Encoding: base64\n"),
    ),
    "smime.eml": lambda: message(
        part(
            "MIAGCSqGSIb3DQEHA6CA",
            "application/pkcs7-mime; smime-type=enveloped-data; name=smime.p7m",
            "Content-Transfer-Encoding: base64\n",
        )
    ),
    "pgp-mime.eml": lambda: message(
        divided(
            "encrypted",
            part("Version: 1", "application/pgp-encrypted"),
            part("-----BEGIN PGP MESSAGE-----\nhQEM\n-----END PGP MESSAGE-----", "application/octet-stream"),
        )
    ),
    "pgp-inline.eml": lambda: message(
        part("Before.\n-----BEGIN PGP MESSAGE-----\nhQEMA0\n-----END PGP MESSAGE-----\nAfter.")
    ),
    "signed.eml": lambda: message(
        divided(
            "signed",
            part("Signed words."),
            part("MIAG", "application/pkcs7-signature; name=smime.p7s", "Content-Transfer-Encoding: base64\n"),
        )
    ),
    "uu.eml": lambda: message(part(UU)),
    "flowed.eml": lambda: message(part(FLOWED, "text/plain; format=flowed")),
    "base64-with-footer.eml": lambda: message(
        "Content-Transfer-Encoding: base64\n\n"
        + packed("The word is LANTERN. " * 9, "utf-8", "base64")
        + "\n_____\nlist footer, unsubscribe here\n"
    ),
    "base64-that-is-none.eml": lambda: message(
        "Content-Transfer-Encoding: base64\n\nThe word is LANTERN, and nothing is packed.\n"
    ),
    "base64-damaged.eml": lambda: message(
        "Content-Transfer-Encoding: base64\n\n"
        + packed("The word is LANTERN. " * 30, "utf-8", "base64").replace("\n", "!\n", 3)
    ),
    "printable-damaged.eml": lambda: message(
        "Content-Transfer-Encoding: quoted-printable\n\nGr=C3=BC=C3=9Fe =XY 100 =\nLANTERN\n"
    ),
    "latin1-is-windows.eml": lambda: of_charset("Price: 5 € – “final”", "cp1252", "iso-8859-1"),
    "gb2312-is-gb18030.eml": lambda: of_charset("朱镕基, 陳先生", "gb18030", "gb2312"),
    "shift-jis-is-windows.eml": lambda: of_charset("①㈱髙橋", "cp932", "Shift_JIS", "quoted-printable"),
    "ks-c-5601.eml": lambda: of_charset("똠방각하", "cp949", "ks_c_5601-1987"),
    "iso-2022-jp.eml": lambda: message(
        "Content-Type: text/plain; charset=ISO-2022-JP\n\n" + "お世話になります。".encode("iso2022_jp").decode()
    ),
    "unknown-charset.eml": lambda: of_charset("Grüße aus Köln, schöne Straße", "cp1252", "x-user-defined"),
    "ascii-that-is-not.eml": lambda: of_charset("Grüße aus Köln, schöne Straße", "utf-8", "us-ascii"),
    "raw-header-latin1.eml": lambda: raw(
        "Größe der Prüfung", "cp1252", "Content-Type: text/plain; charset=iso-8859-1\n"
    ),
    "raw-header-utf8.eml": lambda: raw("Größe der Prüfung", "utf-8"),
    "raw-header-koi8.eml": lambda: raw(
        "Проверка отопления в среду", "koi8-r", "Content-Type: text/plain; charset=koi8-r\n"
    ),
    "raw-header-unsaid.eml": lambda: raw("Größe der Prüfung", "cp1252"),
    "words-of-headers.eml": lambda: message(
        "\nBody.\n",
        "=?gb2312?B?"
        + base64.b64encode("朱镕基".encode("gb18030")).decode()
        + "?= =?x-unknown?Q?Gr=FC=DFe?= =?utf-8?Q?caf=C3?=\n =?utf-8?Q?=A9 au lait?= (=?iso-8859-1?q?=80?=)",
    ),
    "names-of-attachments.eml": lambda: mixed(
        part("x"),
        part(
            "AAAA",
            "application/zip; name*0*=utf-8''Gr%C3%BC; name*1*=%C3%9Fe; name*2=.zip",
            "Content-Transfer-Encoding: base64\n",
        ),
        part("AAAA", 'application/zip; name="=?utf-8?q?=C3=9Cbersicht.zip?="', "Content-Transfer-Encoding: base64\n"),
    ),
    "html-says-its-charset.eml": lambda: message(
        "Content-Type: text/html\nContent-Transfer-Encoding: base64\n\n"
        + packed('<meta charset="koi8-r"><p>Проверка</p>', "koi8-r", "base64")
    ),
    "missing-semicolon.eml": lambda: message("Content-Type: text/html charset=iso-8859-1\n\n<p>Only &euro; HTML</p>"),
    "html-unsaid.eml": lambda: message("\n<html><body><p>HTML said nowhere</p></body></html>"),
    "blank-first.eml": lambda: b"\n\n" + message("\nThe word is LANTERN.\n"),
    "mark-first.eml": lambda: b"\xef\xbb\xbf" + message("\nThe word is LANTERN.\n"),
    "utf-16.eml": lambda: message("\nThe word is LANTERN.\n").decode().encode("utf-16"),
    "two-packed.eml": lambda: message("Content-Transfer-Encoding: base64\n\nVHdv\nIHBhcnRzLg==\nQW5kIG1vcmUu\n"),
    "broken-header.eml": lambda: message(
        divided("mixed", part("The word is LANTERN.")),
        head="From: a@a.example\nSubject: long\nsubject goes on\nMIME-Version: 1.0\n",
    ),
    "stub-in-german.eml": lambda: alternative(
        "Ihr Programm kann leider keine HTML-Nachrichten zeigen, bitte lesen Sie diese hier: https://a.example/123456",
        "<p>Rechnung 4711 über 99 Euro</p>",
    ),
    "html-around-file.eml": lambda: message(
        divided(
            "alternative",
            part("Hello there, see file."),
            divided(
                "mixed",
                part("<p>Hello there,</p>", "text/html"),
                PDF,
                part("<p>see file. PS</p>", "text/html"),
                boundary="b2",
                end="--b2--\n",
            ),
        )
    ),
    "list-of-windows.eml": lambda: mixed(
        part("See."),
        part(
            packed("Name;Ort\nJürgen;Köln\n", "cp1252", "base64"),
            "application/octet-stream; name=list.csv",
            "Content-Transfer-Encoding: base64\n",
        ),
    ),
    "box.mbox": lambda: MBOX,
    "page.mht": lambda: ARCHIVE,
    "headers.eml": lambda: message(
        "Cc: Cyd <cyd@c.example>,\n Dan <dan@d.example>\nReply-To: list@a.example\nX-Spam: yes\n\nBody.\n"
    ),
}
