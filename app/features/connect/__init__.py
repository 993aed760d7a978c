"""How each client is connected, and an examination of the service as clients meet it."""
