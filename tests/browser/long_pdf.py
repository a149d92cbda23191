"""A PDF of many pages of text."""


def long_pdf(pages: int) -> bytes:
    """Pages of text, each of which names its number; the seventh tells of costs."""
    filler = [f"(Line {line} tells of nothing else that happened in the harbour.) Tj 0 -16 Td" for line in range(30)]
    objects = ["<</Type/Catalog/Pages 2 0 R>>", "", "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"]
    for number in range(1, pages + 1):
        said = "The costs of quarter seven were 4711 crowns." if number == 7 else f"Quarter {number} was quiet."
        heading = f"BT /F1 22 Tf 60 760 Td (Chapter {(number + 9) // 10}) Tj ET"
        content = f"{heading} BT /F1 12 Tf 60 720 Td ({said}) Tj 0 -16 Td {' '.join(filler)} ET"
        at = len(objects)
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents {at + 2} 0 R/Resources<</Font<</F1 3 0 R>>>>>>"
        )
        objects.append(f"<</Length {len(content)}>>stream\n{content}\nendstream")
    kids = " ".join(f"{number} 0 R" for number in range(4, len(objects) + 1, 2))
    objects[1] = f"<</Type/Pages/Count {pages}/Kids[{kids}]>>"
    file = b"%PDF-1.7\n"
    places = []
    for number, each in enumerate(objects, 1):
        places.append(len(file))
        file += f"{number} 0 obj\n{each}\nendobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer<</Size {len(objects) + 1}/Root 1 0 R>>"
    return file + f"{end}\nstartxref\n{len(file)}\n%%EOF\n".encode()
