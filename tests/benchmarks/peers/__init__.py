"""What others need for the same: load a thread and give the model its newest turns, and store a turn.

Their packages live in an environment of their own (``make bench`` makes it), so that they can't touch the tests.
"""
