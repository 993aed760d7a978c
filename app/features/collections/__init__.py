"""Collections: named sets of documents and prompts.

Membership is a set: adding and removing commute, are idempotent and do not move the collection's revision.
"""
