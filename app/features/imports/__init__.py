"""Archives of exports, taken chunk by chunk.

Invariants: a chunk that is sent twice happens once; what was exported, imported into an empty workspace and exported
again is the same archive; an id that is taken is never written over.
"""
