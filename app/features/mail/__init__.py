"""Mail to people: a row in the transaction that causes it, sent by the worker."""
