"""The admin's page *System*: how the whole installation is, in words, with what is worrying and the page that says what to do.

``facts`` reads, ``lines`` judges (pure, by the limits of the doctor and the alerts), ``page`` shows.
"""
