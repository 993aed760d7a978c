"""What can be done with files."""

from __future__ import annotations

from app.features.collections import service as collections
from app.features.collections.errors import CollectionNotFound
from app.features.documents import service as documents
from app.features.documents.schemas import MAX_TITLE, CreateDocument, Document
from app.features.uploads import queries
from app.features.uploads.errors import FileTypeUnsupported, FileUnreadable, OriginalNotFound
from app.features.uploads.remote import Converter
from app.features.uploads.schemas import Converted, GetOriginal, UploadDocument
from app.gate.operation import Context, effect, query
from app.gate.policy import Meter, Rate, Scope
from app.kit.errors import InvalidRequest
from app.kit.schema import Binary, One

FILE = "file"
"""The source type of documents that were made from a file."""


async def _convert(ctx: Context, args: UploadDocument) -> Converted:
    """Read the file, after what would be refused anyway."""
    await collections.check_place(ctx, args.collection_id)
    return await ctx.get(Converter).convert(ctx.workspace_id, args.file)


@effect(
    "documents.upload",
    prepare=_convert,
    scope=Scope.DOCUMENTS_WRITE,
    rate=Rate.API,
    spends=(Meter.DOCUMENTS, Meter.STORAGE_BYTES),
    raises=(FileTypeUnsupported, FileUnreadable, InvalidRequest, CollectionNotFound),
)
async def upload_document(ctx: Context, args: UploadDocument, found: Converted) -> One[Document]:
    """Make a document of a file: its text as Markdown; the file itself is kept too.

    PDF, Office, EPUB, HTML, CSV, JSON, notebooks, mail, text and code are read. What cannot be read is refused with the
    reason, and nothing is kept.
    """
    title = (args.title or found.title or args.file.name)[:MAX_TITLE].strip()
    new = CreateDocument(title=title, content=found.content, tags=args.tags, collection_id=args.collection_id)
    document = await documents.create(ctx, new, source_type=FILE)
    await queries.put_original(ctx.tx, document.id, args.file)
    return One(data=document)


@query("documents.original", scope=Scope.DOCUMENTS_READ, rate=Rate.READONLY, raises=(OriginalNotFound,))
async def get_original(ctx: Context, args: GetOriginal) -> Binary:
    """Give back the file that a document was made from, byte for byte, as an attachment."""
    async with ctx.snapshot() as tx:
        row = await queries.get_original(tx, args.document_id)
    if row is None:
        raise OriginalNotFound
    return Binary(name=row["name"], media_type=row["media_type"], digest=row["digest"], content=row["content"])
