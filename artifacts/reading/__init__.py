"""What a file is, and what stands in it, part by part.

Pure: knows no tables and no person. ``kinds.detect`` says what a file is, ``process.read`` reads it in a process of its own
(``child``), and ``problems.FileProblem`` says in words why it can't be. Each room reads the formats of a family.
"""
