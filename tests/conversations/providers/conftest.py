from tests.cloud_servers import bedrock, vertex

__all__ = ["bedrock", "vertex"]
