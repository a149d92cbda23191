"""Files that people give: what they are, and what stands in them, part by part.

Knows no tables. ``kinds.detect`` says what a file is, ``reading.read`` reads it in a process of its own (``child``), and
``problems.FileProblem`` says in words why it can't be.
"""
