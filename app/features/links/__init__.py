"""Public links: a person shows a document or a prompt to whoever has its address, until it ends."""
