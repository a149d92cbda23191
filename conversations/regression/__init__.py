"""A change to an assistant, or of this code, tried on requests that were made: each is built again as the change would have
built it, from what was known then, and compared. No model is asked, and nothing is written.
"""
