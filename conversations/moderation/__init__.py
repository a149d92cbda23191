"""Moderation: what people send and models answer is examined by the checks that staff made, and allowed, marked or refused.

A check is a `Moderator` row: a list of patterns, a moderation model, or a service of one's own. All of them are asked by one
interface, ``checks.Check``; what each made of a text is recorded as a `ModerationFinding`, without the text.
"""
