"""Tools of other servers, by the Model Context Protocol: connected, read, allowed, and called for a model."""
