"""Keys that are narrowed to collections: a snapshot hashes their members once, instead of asking of each row."""

from __future__ import annotations

from app.store.base import collection_policy, member_policy
from migrations import functions

revision = "0021"
down_revision = "0020"

COLLECTIONS = {"collections": "id", "collection_items": "collection_id"}
MEMBERS = {
    "document": {
        "documents": "id",
        "document_tags": "document_id",
        "document_revisions": "document_id",
        "chunks": "document_id",
        "retired_chunks": "document_id",
        "document_sources": "document_id",
        "document_files": "document_id",
        "pack_documents": "document_id",
    },
    "prompt": {
        "prompts": "id",
        "prompt_versions": "prompt_id",
        "prompt_labels": "prompt_id",
        "prompt_revisions": "prompt_id",
    },
}


def upgrade() -> None:
    """Apply."""
    functions.install("features/collections")
    functions.install("features/search")
    policies = {table: collection_policy(table, column) for table, column in COLLECTIONS.items()}
    for kind, tables in MEMBERS.items():
        policies |= {table: member_policy(table, kind, column) for table, column in tables.items()}
    functions.run("".join(f"DROP POLICY collections ON {table}; {policy}" for table, policy in policies.items()))


def downgrade() -> None:
    """Keep the policies: they say the same."""
