"""CSV of many programs."""

from collections.abc import Callable, Mapping
from functools import partial

TEXTS = {
    "sep.csv": "sep=;\r\nName;Betrag\r\nMiete;900,00\r\nStrom;80,50\r\n",
    "sep-mark.csv": "\ufeffsep=;\r\nName;Betrag\r\nMiete;900,00\r\n",
    "decimals.csv": "3;1,5\n4;2,25\n",
    "many-decimals.csv": "1,5;2,5;3,5\n1,25;2,0;3,0\n",
    "named-decimals.csv": "Ort;Wert\nKöln;1,5\nBonn;12,25\n",
    "tabs.csv": "Name\tSum\nAnn\t1,5\nBob\t2\n",
    "tabs.tsv": "Name, first\tSum\nAnn, B.\t1\n",
    "pipes.csv": "Name|Sum|Day\nAnn|1|2\n",
    "thousands.csv": 'Name,Sum\nAnn,"1,234.50"\nBob,"2,000.00"\n',
    "quoted.csv": '"Name";"Sum"\n"Ann; Bob";"3,5"\n"Cem";"5,5"\n',
    "lines.csv": 'Name,Note\nAnn,"first,\nsecond"\nBob,x\n',
    "bank.csv": (
        "Kontonummer:;DE12 3456 7890\nZeitraum:;01.01.2025 - 31.01.2025\nSaldo:;1.234,56 EUR\n\n"
        "Buchungstag;Text;Betrag;Saldo\n02.01.2025;Miete;-900,00;1.000,00\n03.01.2025;Lohn;2.000,00;3.000,00\n"
    ),
    "long-bank.csv": (
        "Konto;DE12\n\nTag;Zweck;Betrag\n"
        + "".join(f"0{at % 9 + 1}.01.2025;Zahlung {at};{at},00\n" for at in range(1, 700))
    ),
    "trailing.csv": "Name;Sum;;\nAnn;5;;\nBob;6;;\n",
    "open.csv": 'Name,Sum\nAnn,1\nBob,"open\nCem,3\nDan,4\n',
    "inches.csv": 'Item,Size\nPipe,5" long\nTube,3" long\n',
    "mixed-ends.csv": "Name,Sum\r\nAnn,1\nBob,2\rCem,3\n",
    "comments.csv": "# exported by harbour, in May\n# do not edit\nName,Sum\nAnn,1\n",
    "commented-header.csv": "# id,name\n1,Ann\n2,Bob\n",
    "number-sign.csv": "#,Name,Score\n1,Ann,5\n2,Bob,6\n",
    "zip-codes.csv": "Name,Code\nAnn,01067\nBob,00501\n",
    "backslashes.csv": 'Name,Note\nAnn,"said \\"yes\\", twice"\nBob,no\n',
    "kept-texts.csv": 'Name,Code\nAnn,="00123"\nBob,"=""0044"""\n',
    "headless.csv": "Ann,5,1.5\nBob,6,2.5\nCem,7,3.5\n",
    "far.csv": "id,n" + "," * 16_000 + "\n" + ("1,2" + "," * 16_000 + "\n") * 80 + "3" + "," * 15_000 + "LANTERN\n",
    "crosstab.csv": ";Nord;Süd\nSchiffe;3;4\nBoote;5;6\n",
    "years.csv": "Land;2024;2025\nBelgien;7;8\nFrankreich;9;10\n",
    "spaced.csv": 'Name, Note\nAnn, "a, b"\nBob, "c"\n',
    "sentences.csv": "Name;Text\nAnn;one, two, three\nBob;four\nCem;five, six\n",
    "quote-alone.csv": 'Name;Sum\nAnn;"\nBob;5\n',
}
FILES: Mapping[str, Callable[[], bytes]] = {name: partial(str.encode, text) for name, text in TEXTS.items()}
