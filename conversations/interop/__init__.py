"""What other libraries take threads for: PydanticAI (``openbook[pydantic-ai]``)."""
