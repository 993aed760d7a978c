"""Everything of a workspace as an archive: Markdown with front matter, and histories as JSON lines.

Invariants: an archive shows documents as they were at one moment; equal workspaces have equal archives, byte for byte.
"""
