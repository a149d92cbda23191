"""What an installation needs as people and messages grow: a made year, priced by what real messages cost in this run.

``measured`` asks a real server on a real PostgreSQL; ``people`` is an assumed, seeded model of who writes when; ``estimates``
multiplies the two; ``picture`` draws them. ``docs/growth.md`` tells of it.
"""
