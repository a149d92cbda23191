"""Workbooks of Excel, tables of CSV, and how cells are shown."""
