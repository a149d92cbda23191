"""`manage.py doctor`: what is wrong with an installation, in words, and what to do about it.

A check reads facts and hands them to small pure functions, which judge. ``checklist.CHECKS`` is the list of all.
"""
