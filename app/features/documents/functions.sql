-- Functions of documents. They run with the rights of their caller, behind its row-level policies. Each write is a
-- whole command: it sets the tenant for itself and records what it did; p_call is the call (`gate_record`).

-- What a reader is told of an item's text: `external` when it came from outside, `member` when anyone but the reader had
-- a hand in it, else NULL. A stranger's words stay in what is written on top of them, so an item's hands only ever grow.
CREATE OR REPLACE FUNCTION text_trust(p_hands text, p_creator uuid, p_reader uuid)
RETURNS text LANGUAGE sql IMMUTABLE AS $function$
  SELECT CASE WHEN p_hands = 'outside' THEN 'external'
              WHEN p_hands = 'several' OR p_creator <> p_reader THEN 'member' END
$function$;

-- The same of a revision: what came after it does not count.
CREATE OR REPLACE FUNCTION document_trust(d documents, p_revision int, p_reader uuid)
RETURNS text LANGUAGE plpgsql STABLE AS $function$
BEGIN
  IF d.hands = 'several' AND d.created_by = p_reader AND NOT EXISTS (
       SELECT FROM document_revisions AS r
        WHERE r.workspace_id = d.workspace_id AND r.document_id = d.id AND r.revision <= p_revision
          AND r.author_id <> p_reader) THEN
    RETURN NULL;
  END IF;
  RETURN text_trust(d.hands, d.created_by, p_reader);
END
$function$;

-- Hot read: one autocommit call that sets the tenant, and what of it the caller may see, for itself.
CREATE OR REPLACE FUNCTION document_get(p_workspace uuid, p_collections text, p_id uuid, p_reader uuid)
RETURNS TABLE (
  id uuid, title text, status text, status_reason text, source_type text, source_url text, tags text[],
  current_version int, revision int, content_hash text, created_at timestamptz, last_changed_at timestamptz,
  content text, policy text, trust text
)
LANGUAGE plpgsql VOLATILE AS $function$
#variable_conflict use_column
BEGIN
  PERFORM set_config('app.workspace_id', p_workspace::text, true), set_config('app.collections', p_collections, true);
  RETURN QUERY
  SELECT d.id, d.title, d.status, d.status_reason, d.source_type, d.source_url, d.tags, d.current_version, d.revision,
         encode(d.content_hash, 'hex'), d.created_at, d.last_changed_at, c.content, d.policy,
         text_trust(d.hands, d.created_by, p_reader)
    FROM documents d
    JOIN contents c ON c.workspace_id = d.workspace_id AND c.digest = d.content_digest
   WHERE d.workspace_id = p_workspace AND d.id = p_id AND d.deleted_at IS NULL;
END
$function$;

-- The document's strong entity tag, without its quotes.
CREATE OR REPLACE FUNCTION document_tag(d documents)
RETURNS text LANGUAGE sql IMMUTABLE AS $function$
  SELECT 'r' || d.revision || '-' || left(encode(d.content_hash, 'hex'), 16)
$function$;

CREATE OR REPLACE FUNCTION document_lease_is_live(d documents, p_at timestamptz)
RETURNS boolean LANGUAGE sql IMMUTABLE AS $function$
  SELECT d.lease_digest IS NOT NULL AND d.lease_released_at IS NULL AND p_at < d.lease_expires_at
$function$;

CREATE OR REPLACE FUNCTION document_lease_is_shown(d documents, p_lease bytea, p_fence bigint, p_at timestamptz)
RETURNS boolean LANGUAGE sql IMMUTABLE AS $function$
  SELECT document_lease_is_live(d, p_at) AND d.lease_digest = p_lease AND d.fence = p_fence
$function$;

-- Why a write is refused for its lease, judged behind the row lock: lease_required, lease_lost, incomplete (a managed
-- write without revision or key) or NULL. A lease that is shown must be the current one whatever the policy is now.
CREATE OR REPLACE FUNCTION document_lease_refusal(d documents, p_lease bytea, p_fence bigint, p_complete boolean)
RETURNS text LANGUAGE sql VOLATILE AS $function$
  SELECT CASE WHEN p_lease IS NULL THEN CASE d.policy WHEN 'lease_required' THEN 'lease_required' END
              WHEN d.policy = 'lease_required' AND NOT p_complete THEN 'incomplete'
              WHEN NOT document_lease_is_shown(d, p_lease, p_fence, clock_timestamp()) THEN 'lease_lost' END
$function$;

-- SHA-256 over the digests of title, content and tags.
CREATE OR REPLACE FUNCTION document_hash(p_title_digest bytea, p_content_digest bytea, p_tags_digest bytea)
RETURNS bytea LANGUAGE sql IMMUTABLE AS $function$
  SELECT sha256(p_title_digest || p_content_digest || p_tags_digest)
$function$;

CREATE OR REPLACE FUNCTION text_digest(p_text text)
RETURNS bytea LANGUAGE sql IMMUTABLE AS $function$
  SELECT sha256(convert_to(p_text, 'UTF8'))
$function$;

-- Whether a write's precondition holds: none, or one of the (revision, hash prefix) pairs; an empty prefix matches any.
CREATE OR REPLACE FUNCTION revision_expected(p_revisions bigint[], p_hashes text[], p_revision int, p_hash bytea)
RETURNS boolean LANGUAGE sql IMMUTABLE AS $function$
  SELECT p_revisions IS NULL OR EXISTS (
    SELECT FROM unnest(p_revisions, p_hashes) AS expected(revision, hash)
     WHERE expected.revision = p_revision AND expected.hash IN ('', left(encode(p_hash, 'hex'), 16)))
$function$;

-- Keep a text under its digest, held until the transaction ends: a purge that forgets the same text waits, or is waited
-- for and the text is written again.
CREATE OR REPLACE FUNCTION content_put(p_workspace uuid, p_digest bytea, p_content text)
RETURNS void LANGUAGE plpgsql VOLATILE AS $function$
BEGIN
  LOOP
    INSERT INTO contents (workspace_id, digest, content) VALUES (p_workspace, p_digest, p_content)
    ON CONFLICT DO NOTHING;
    EXIT WHEN FOUND;
    PERFORM FROM contents AS c WHERE c.workspace_id = p_workspace AND c.digest = p_digest FOR KEY SHARE;
    EXIT WHEN FOUND;
  END LOOP;
END
$function$;

-- A file's document begins without a version: what is there before the file was read is none to go back to.
CREATE OR REPLACE FUNCTION document_create(
  p_workspace uuid, p_id uuid, p_title text, p_content text, p_tags text[], p_source_type text, p_source_url text,
  p_revision_id uuid, p_collection uuid, p_call jsonb
)
RETURNS TABLE (outcome text, content_hash text, current_version int, decided_at timestamptz)
LANGUAGE plpgsql VOLATILE AS $function$
#variable_conflict use_column
DECLARE
  v_title bytea := text_digest(p_title);
  v_content bytea := text_digest(p_content);
  v_tags bytea := text_digest(array_to_string(p_tags, E'\x1f'));
  v_hash bytea := document_hash(v_title, v_content, v_tags);
  v_version int := (p_source_type <> 'file')::int;
  v_at timestamptz := clock_timestamp();
BEGIN
  PERFORM set_config('app.workspace_id', p_workspace::text, true),
          set_config('app.collections', p_call ->> 'collections', true);
  IF p_collection IS NOT NULL AND NOT collection_place(p_workspace, p_collection, 'document', p_id,
                                                       (p_call ->> 'user')::uuid) THEN
    RETURN QUERY SELECT 'no_collection', NULL::text, NULL::int, NULL::timestamptz;
    RETURN;
  END IF;
  PERFORM content_put(p_workspace, v_content, p_content);
  INSERT INTO documents (workspace_id, id, title, tags, title_digest, content_digest, tags_digest, content_hash,
                         current_version, source_type, source_url, hands, created_by, created_at, last_changed_at)
  VALUES (p_workspace, p_id, p_title, p_tags, v_title, v_content, v_tags, v_hash, v_version, p_source_type,
          p_source_url, CASE p_source_type WHEN 'text' THEN 'one' ELSE 'outside' END, (p_call ->> 'user')::uuid, v_at, v_at);
  INSERT INTO document_tags (workspace_id, tag, document_id)
  SELECT p_workspace, tag, p_id FROM unnest(p_tags) AS tag;
  INSERT INTO document_revisions (workspace_id, document_id, revision, id, version, content_changed, title, tags,
                                  content_digest, content_hash, action, author_id, author_name, grant_id, agent,
                                  decided_at)
  VALUES (p_workspace, p_id, 1, p_revision_id, v_version, v_version = 1, p_title, p_tags, v_content, v_hash, 'create',
          (p_call ->> 'user')::uuid, p_call ->> 'userName', (p_call ->> 'grant')::uuid, p_call ->> 'agent', v_at);
  PERFORM gate_record(p_call, 'document.created', p_id, 1);
  RETURN QUERY SELECT 'created', encode(v_hash, 'hex'), v_version, v_at;
END
$function$;

-- Lock a document whose next content is made of its present one, for the rest of the transaction. The outcome is
-- current, absent or what `document_lease_refusal` says; the content is that of the locked revision.
CREATE OR REPLACE FUNCTION document_lock(
  p_workspace uuid, p_id uuid, p_lease bytea, p_fence bigint, p_complete boolean
)
RETURNS TABLE (outcome text, revision int, content_hash text, content text)
LANGUAGE plpgsql VOLATILE AS $function$
#variable_conflict use_column
DECLARE
  d documents;
BEGIN
  SELECT * INTO d FROM documents AS x
   WHERE x.workspace_id = p_workspace AND x.id = p_id AND x.deleted_at IS NULL
     FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN QUERY SELECT 'absent', NULL::int, NULL::text, NULL::text;
    RETURN;
  END IF;
  RETURN QUERY
  SELECT coalesce(document_lease_refusal(d, p_lease, p_fence, p_complete), 'current'), d.revision,
         encode(d.content_hash, 'hex'), c.content
    FROM contents AS c
   WHERE c.workspace_id = p_workspace AND c.digest = d.content_digest;
END
$function$;

-- The whole write: lock, check, change, revision row. A NULL field is kept; p_version takes title, content and tags
-- from that version. The outcome is written, noop, mismatch, absent, no_version or what `document_lease_refusal` says,
-- with the current state beside it.
CREATE OR REPLACE FUNCTION document_write(
  p_workspace uuid, p_id uuid, p_revisions bigint[], p_hashes text[], p_title text, p_content text, p_tags text[],
  p_version uuid, p_change_log text, p_revision_id uuid, p_call jsonb,
  p_lease bytea, p_fence bigint, p_keyed boolean
)
RETURNS TABLE (
  outcome text, title text, current_version int, revision int, content_hash text, last_changed_at timestamptz,
  missing text[]
)
LANGUAGE plpgsql VOLATILE AS $function$
#variable_conflict use_column
DECLARE
  d documents;
  v_missing text[] := '{}';
  v_source document_revisions;
  v_title bytea;
  v_content bytea;
  v_tags bytea;
  v_hash bytea;
  v_at timestamptz;
  v_version int;
  v_refusal text;
BEGIN
  PERFORM set_config('app.workspace_id', p_workspace::text, true),
          set_config('app.collections', p_call ->> 'collections', true);
  SELECT * INTO d FROM documents AS x
   WHERE x.workspace_id = p_workspace AND x.id = p_id AND x.deleted_at IS NULL
     FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN QUERY SELECT 'absent', NULL::text, NULL::int, NULL::int, NULL::text, NULL::timestamptz, v_missing;
    RETURN;
  END IF;
  v_refusal := document_lease_refusal(d, p_lease, p_fence, p_keyed AND p_revisions IS NOT NULL);
  IF v_refusal IS NOT NULL THEN
    RETURN QUERY SELECT v_refusal, NULL::text, NULL::int, NULL::int, NULL::text, NULL::timestamptz, v_missing;
    RETURN;
  END IF;
  IF p_version IS NOT NULL THEN
    SELECT * INTO v_source FROM document_revisions AS r
     WHERE r.workspace_id = p_workspace AND r.document_id = p_id AND r.id = p_version AND r.content_changed;
    IF NOT FOUND THEN
      RETURN QUERY SELECT 'no_version', d.title, d.current_version, d.revision, encode(d.content_hash, 'hex'),
                          d.last_changed_at, v_missing;
      RETURN;
    END IF;
    p_title := v_source.title;
    p_tags := v_source.tags;
    v_content := v_source.content_digest;
    v_missing := array_remove(ARRAY[CASE WHEN v_source.title IS NULL THEN 'title' END,
                                    CASE WHEN v_source.content_digest IS NULL THEN 'content' END,
                                    CASE WHEN v_source.tags IS NULL THEN 'tags' END], NULL);
  END IF;
  IF NOT revision_expected(p_revisions, p_hashes, d.revision, d.content_hash) THEN
    RETURN QUERY SELECT 'mismatch', d.title, d.current_version, d.revision, encode(d.content_hash, 'hex'),
                        d.last_changed_at, v_missing;
    RETURN;
  END IF;
  v_title := CASE WHEN p_title IS NULL THEN d.title_digest ELSE text_digest(p_title) END;
  v_content := coalesce(v_content, CASE WHEN p_content IS NULL THEN d.content_digest ELSE text_digest(p_content) END);
  v_tags := CASE WHEN p_tags IS NULL THEN d.tags_digest ELSE text_digest(array_to_string(p_tags, E'\x1f')) END;
  v_hash := document_hash(v_title, v_content, v_tags);
  IF v_hash = d.content_hash THEN
    RETURN QUERY SELECT 'noop', d.title, d.current_version, d.revision, encode(d.content_hash, 'hex'),
                        d.last_changed_at, v_missing;
    RETURN;
  END IF;
  v_at := clock_timestamp();
  v_version := d.current_version + (v_content <> d.content_digest)::int;
  IF p_content IS NOT NULL THEN
    PERFORM content_put(p_workspace, v_content, p_content);
  END IF;
  UPDATE documents AS x
     SET title = coalesce(p_title, x.title), tags = coalesce(p_tags, x.tags), title_digest = v_title,
         content_digest = v_content, tags_digest = v_tags, content_hash = v_hash, revision = x.revision + 1,
         current_version = v_version, last_changed_at = v_at, status = 'pending', status_reason = NULL,
         index_attempts = 0,
         hands = CASE WHEN x.hands = 'one' AND x.created_by <> (p_call ->> 'user')::uuid THEN 'several' ELSE x.hands END
   WHERE x.workspace_id = p_workspace AND x.id = p_id AND x.revision = d.revision;
  IF v_tags <> d.tags_digest THEN
    DELETE FROM document_tags AS t WHERE t.workspace_id = p_workspace AND t.document_id = p_id;
    INSERT INTO document_tags (workspace_id, tag, document_id)
    SELECT p_workspace, tag, p_id FROM unnest(p_tags) AS tag;
  END IF;
  INSERT INTO document_revisions (workspace_id, document_id, revision, id, version, content_changed, title, tags,
                                  content_digest, content_hash, action, change_log, author_id, author_name, grant_id,
                                  agent, decided_at)
  VALUES (p_workspace, p_id, d.revision + 1, p_revision_id, v_version, v_content <> d.content_digest,
          coalesce(p_title, d.title), coalesce(p_tags, d.tags), v_content, v_hash,
          CASE WHEN p_version IS NULL THEN 'update' ELSE 'restore' END, p_change_log, (p_call ->> 'user')::uuid,
          p_call ->> 'userName', (p_call ->> 'grant')::uuid, p_call ->> 'agent', v_at);
  PERFORM gate_record(p_call, 'document.changed', p_id, d.revision + 1);
  RETURN QUERY SELECT 'written', coalesce(p_title, d.title), v_version, d.revision + 1, encode(v_hash, 'hex'), v_at,
                      v_missing;
END
$function$;

-- Soft delete: the row keeps revision and fence; outcome deleted, mismatch, absent or a refusal for
-- its lease.
CREATE OR REPLACE FUNCTION document_delete(
  p_workspace uuid, p_id uuid, p_revisions bigint[], p_hashes text[], p_call jsonb, p_lease bytea,
  p_fence bigint
)
RETURNS TABLE (outcome text, revision int, content_hash text)
LANGUAGE plpgsql VOLATILE AS $function$
#variable_conflict use_column
DECLARE
  d documents;
  v_refusal text;
BEGIN
  PERFORM set_config('app.workspace_id', p_workspace::text, true),
          set_config('app.collections', p_call ->> 'collections', true);
  SELECT * INTO d FROM documents AS x
   WHERE x.workspace_id = p_workspace AND x.id = p_id AND x.deleted_at IS NULL
     FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN QUERY SELECT 'absent', NULL::int, NULL::text;
    RETURN;
  END IF;
  v_refusal := document_lease_refusal(d, p_lease, p_fence, true);
  IF v_refusal IS NOT NULL THEN
    RETURN QUERY SELECT v_refusal, NULL::int, NULL::text;
    RETURN;
  END IF;
  IF NOT revision_expected(p_revisions, p_hashes, d.revision, d.content_hash) THEN
    RETURN QUERY SELECT 'mismatch', d.revision, encode(d.content_hash, 'hex');
    RETURN;
  END IF;
  UPDATE documents AS x SET deleted_at = clock_timestamp(), deleted_by = (p_call ->> 'user')::uuid
   WHERE x.workspace_id = p_workspace AND x.id = p_id AND x.deleted_at IS NULL;
  PERFORM gate_record(p_call, 'document.deleted', p_id, d.revision);
  RETURN QUERY SELECT 'deleted', d.revision, encode(d.content_hash, 'hex');
END
$function$;

-- Lock a document in the trash. Where it is managed and its lease is live, the lease must be shown; where nobody holds
-- one, nobody could, since a document in the trash has no lease to acquire. Outcome trashed, absent, lease_required or
-- lease_lost.
CREATE OR REPLACE FUNCTION document_lock_trashed(p_workspace uuid, p_id uuid, p_lease bytea, p_fence bigint)
RETURNS TABLE (outcome text, revision int)
LANGUAGE plpgsql VOLATILE AS $function$
#variable_conflict use_column
DECLARE
  d documents;
  v_at timestamptz;
BEGIN
  SELECT * INTO d FROM documents AS x
   WHERE x.workspace_id = p_workspace AND x.id = p_id AND x.deleted_at IS NOT NULL AND x.purged_at IS NULL
     FOR NO KEY UPDATE;
  v_at := clock_timestamp();
  RETURN QUERY SELECT CASE
      WHEN d.id IS NULL THEN 'absent'
      WHEN p_lease IS NULL AND d.policy = 'lease_required' AND document_lease_is_live(d, v_at) THEN 'lease_required'
      WHEN p_lease IS NOT NULL AND NOT document_lease_is_shown(d, p_lease, p_fence, v_at) THEN 'lease_lost'
      ELSE 'trashed' END, d.revision;
END
$function$;

-- Take a document out of the trash, unless its lease forbids it: outcome restored, or what locking it gave.
CREATE OR REPLACE FUNCTION document_undelete(p_workspace uuid, p_id uuid, p_lease bytea, p_fence bigint)
RETURNS TABLE (outcome text, revision int)
LANGUAGE plpgsql VOLATILE AS $function$
#variable_conflict use_column
DECLARE
  v record;
BEGIN
  SELECT * INTO v FROM document_lock_trashed(p_workspace, p_id, p_lease, p_fence);
  IF v.outcome = 'trashed' THEN
    UPDATE documents AS x
       SET deleted_at = NULL, deleted_by = NULL, status = 'pending', status_reason = NULL, indexed_revision = 0,
           index_attempts = 0
     WHERE x.workspace_id = p_workspace AND x.id = p_id;
    v.outcome := 'restored';
  END IF;
  RETURN QUERY SELECT v.outcome, v.revision;
END
$function$;
