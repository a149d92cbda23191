"""Legal holds: nothing of a person's, or of one project of theirs, may be lost while one lasts.

What a person deletes or forgets goes at once, as it always does, so that no list, search, export, share or request of theirs
knows it any more. The rows of before are copied first (``custody``), where only staff with a right of its own read them. When
the last hold that covers them ends, a worker deletes the copies (``release``).
"""
