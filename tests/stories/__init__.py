"""Made conversations, of no real person, whose contexts are built at each commit and compared with what was accepted.

A story is a file ``NAME.toml`` here, what its requests held is ``expected/NAME.json``.
"""
