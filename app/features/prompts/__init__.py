"""Prompts: templates with versions, variables and labels.

Invariants: a version is an immutable row and only a change of content makes one; every logical change moves the
revision by one; a write that changes nothing moves nothing; a label points at one version of its prompt.
"""
