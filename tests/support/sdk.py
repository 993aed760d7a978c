"""Pieces of programs that use the official SDK's client."""


class Storage:
    """Keeps what an OAuth client is given, as a program would in its settings."""

    def __init__(self):
        self.tokens = None
        self.client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client
