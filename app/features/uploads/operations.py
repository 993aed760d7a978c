"""What can be done with files."""

from __future__ import annotations

from pydantic_core import to_jsonable_python as to_jsonable

from app.features.collections.errors import CollectionNotFound
from app.features.documents import service as documents
from app.features.documents.schemas import MAX_TITLE, CreateDocument, Document, Status
from app.features.uploads import queries
from app.features.uploads.errors import FileTypeUnsupported, OriginalNotFound
from app.features.uploads.schemas import GetOriginal, UploadDocument
from app.features.uploads.service import WAITING, reading_job
from app.gate.index import index_job
from app.gate.operation import Context, command, query
from app.gate.policy import Meter, Rate, Scope
from app.kit.errors import InvalidRequest
from app.kit.kinds import kind_of, media_type_of
from app.kit.schema import Binary, One
from app.store.base import EVERYTHING

FILE = "file"
"""The source type of documents that were made from a file."""


@command(
    "documents.upload",
    scope=Scope.DOCUMENTS_WRITE,
    rate=Rate.API,
    spends=(Meter.DOCUMENTS, Meter.STORAGE_BYTES),
    raises=(FileTypeUnsupported, InvalidRequest, CollectionNotFound),
)
async def upload_document(ctx: Context, args: UploadDocument) -> One[Document]:
    """Make a document of a file: its text as Markdown; the file itself is kept too.

    PDF, Office, EPUB, HTML, CSV, JSON, notebooks, mail, text and code are read, after this answers: the document is
    `processing` until its text is there (as its first version), and `failed` with the reason where it cannot be read.
    """
    if kind_of(args.file.name, args.file.media_type) is None:
        raise FileTypeUnsupported(args.file.name)
    title = (args.title or args.file.name)[:MAX_TITLE].strip()
    new = CreateDocument(title=title, content="", tags=args.tags, collection_id=args.collection_id)
    document = await documents.create(ctx, new, source_type=FILE)
    call = to_jsonable(ctx.call(index_job(ctx.workspace_id))) | {"collections": EVERYTHING}  # its place was judged
    titled = args.title is not None
    await queries.put_original(ctx.tx, document.id, args.file)
    await queries.await_text(ctx.tx, document.id, titled=titled, call=call, note=WAITING)
    ctx.enqueue(reading_job(ctx.workspace_id))
    return One(data=document.model_copy(update={"status": Status.PROCESSING, "status_reason": WAITING}))


@query("documents.original", scope=Scope.DOCUMENTS_READ, rate=Rate.READONLY, raises=(OriginalNotFound,))
async def get_original(ctx: Context, args: GetOriginal) -> Binary:
    """Give back the file that a document was made from, byte for byte, as an attachment.

    Its media type is the one that was sent with it, or that of its kind.
    """
    async with ctx.snapshot() as tx:
        row = await queries.get_original(tx, args.document_id)
    if row is None:
        raise OriginalNotFound
    media_type = media_type_of(row["name"], row["media_type"])
    return Binary(name=row["name"], media_type=media_type, digest=row["digest"], content=row["content"])
