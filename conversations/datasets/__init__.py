"""Datasets of past requests, and experiments: what versions of an assistant would have given to each of them, and what models
answer to that, scored and compared.
"""
