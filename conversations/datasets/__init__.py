"""Datasets of past requests, and experiments: what versions of an assistant would have given to each of them, scored and
compared. No model is asked.
"""
