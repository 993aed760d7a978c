"""Documents with revisions: create, read, change, restore, delete.

Invariants: one acknowledged write makes exactly one revision (D1, D2); a write that changes nothing makes none; every
revision is an immutable row; what is deleted keeps its revision and fence.
"""
