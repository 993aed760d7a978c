"""Context packs: what a query or a collection has to say within a budget of tokens, under a hash."""
