"""Retrieval quality of the running service on sets of documents, questions and judgements."""
