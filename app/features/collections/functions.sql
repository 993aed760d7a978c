-- Functions of collections. They run with the rights of their caller, behind its row-level policies.

-- Whether an item is a member of one of the collections that the transaction is narrowed to. Policies ask it through a
-- function, so that a statement that is not narrowed does not even prepare for the question. It is asked of single rows:
-- its plan is made once, and by the index however few rows there were then.
CREATE OR REPLACE FUNCTION in_reach(p_workspace uuid, p_kind text, p_item uuid)
RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $function$
BEGIN
  RETURN EXISTS (
    SELECT FROM collection_items AS i
      JOIN collections AS c ON c.workspace_id = i.workspace_id AND c.id = i.collection_id AND c.deleted_at IS NULL
     WHERE i.workspace_id = p_workspace AND i.item_type = p_kind AND i.item_id = p_item
       AND i.collection_id = ANY (string_to_array(nullif(current_setting('app.collections', true), '*'), ',')::uuid[]));
END
$function$;

-- The items of a kind that `in_reach` says yes of, for statements that look at many rows. Said to be few and cheap, so
-- that no plan is another one for it.
CREATE OR REPLACE FUNCTION reach_of(p_kind text)
RETURNS SETOF uuid LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1 ROWS 1 AS $function$
BEGIN
  RETURN QUERY
  SELECT i.item_id
    FROM collections AS c
   CROSS JOIN LATERAL (
         SELECT item_id FROM collection_items
          WHERE workspace_id = c.workspace_id AND collection_id = c.id AND item_type = p_kind OFFSET 0) AS i
   WHERE c.workspace_id = nullif(current_setting('app.workspace_id', true), '')::uuid AND c.deleted_at IS NULL
     AND c.id = ANY (string_to_array(nullif(current_setting('app.collections', true), '*'), ',')::uuid[]);
END
$function$;

-- Make a new item a member of a collection, before the item itself is written: a key that is restricted to collections
-- may only write members. False when there is no such collection.
CREATE OR REPLACE FUNCTION collection_place(p_workspace uuid, p_collection uuid, p_kind text, p_item uuid, p_user uuid)
RETURNS boolean LANGUAGE plpgsql VOLATILE AS $function$
BEGIN
  PERFORM FROM collections AS c
    WHERE c.workspace_id = p_workspace AND c.id = p_collection AND c.deleted_at IS NULL
      FOR SHARE;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  INSERT INTO collection_items (workspace_id, collection_id, item_type, item_id, added_by, added_at)
  VALUES (p_workspace, p_collection, p_kind, p_item, p_user, clock_timestamp());
  RETURN true;
END
$function$;

-- SHA-256 over the digests of name, description, colour, icon and tags.
CREATE OR REPLACE FUNCTION collection_hash(p_name text, p_description text, p_color text, p_icon text, p_tags text[])
RETURNS bytea LANGUAGE sql IMMUTABLE AS $function$
  SELECT sha256(text_digest(p_name) || text_digest(p_description) || text_digest(coalesce(p_color, ''))
                || text_digest(p_icon) || text_digest(array_to_string(p_tags, E'\x1f')))
$function$;

-- The whole change: lock, check, change. A NULL field is kept; an empty colour is none. The outcome is written, noop,
-- mismatch or absent, with the current revision and hash.
CREATE OR REPLACE FUNCTION collection_write(
  p_workspace uuid, p_id uuid, p_revisions bigint[], p_hashes text[], p_name text, p_description text, p_color text,
  p_icon text, p_tags text[]
)
RETURNS TABLE (outcome text, revision int, content_hash text)
LANGUAGE plpgsql VOLATILE AS $function$
#variable_conflict use_column
DECLARE
  c collections;
  v_hash bytea;
BEGIN
  SELECT * INTO c FROM collections AS x
   WHERE x.workspace_id = p_workspace AND x.id = p_id AND x.deleted_at IS NULL
     FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN QUERY SELECT 'absent', NULL::int, NULL::text;
    RETURN;
  END IF;
  IF NOT revision_expected(p_revisions, p_hashes, c.revision, c.content_hash) THEN
    RETURN QUERY SELECT 'mismatch', c.revision, encode(c.content_hash, 'hex');
    RETURN;
  END IF;
  c.name := coalesce(p_name, c.name);
  c.description := coalesce(p_description, c.description);
  c.color := nullif(coalesce(p_color, c.color), '');
  c.icon := coalesce(p_icon, c.icon);
  c.tags := coalesce(p_tags, c.tags);
  v_hash := collection_hash(c.name, c.description, c.color, c.icon, c.tags);
  IF v_hash = c.content_hash THEN
    RETURN QUERY SELECT 'noop', c.revision, encode(v_hash, 'hex');
    RETURN;
  END IF;
  UPDATE collections AS x
     SET name = c.name, description = c.description, color = c.color, icon = c.icon, tags = c.tags,
         content_hash = v_hash, revision = x.revision + 1, last_changed_at = clock_timestamp()
   WHERE x.workspace_id = p_workspace AND x.id = p_id AND x.revision = c.revision;
  RETURN QUERY SELECT 'written', c.revision + 1, encode(v_hash, 'hex');
END
$function$;

-- Soft delete: the members stay what they are; outcome deleted, mismatch or absent.
CREATE OR REPLACE FUNCTION collection_delete(
  p_workspace uuid, p_id uuid, p_revisions bigint[], p_hashes text[], p_user uuid
)
RETURNS TABLE (outcome text, revision int, content_hash text)
LANGUAGE plpgsql VOLATILE AS $function$
#variable_conflict use_column
DECLARE
  c collections;
BEGIN
  SELECT * INTO c FROM collections AS x
   WHERE x.workspace_id = p_workspace AND x.id = p_id AND x.deleted_at IS NULL
     FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN QUERY SELECT 'absent', NULL::int, NULL::text;
    RETURN;
  END IF;
  IF NOT revision_expected(p_revisions, p_hashes, c.revision, c.content_hash) THEN
    RETURN QUERY SELECT 'mismatch', c.revision, encode(c.content_hash, 'hex');
    RETURN;
  END IF;
  UPDATE collections AS x SET deleted_at = clock_timestamp(), deleted_by = p_user
   WHERE x.workspace_id = p_workspace AND x.id = p_id AND x.deleted_at IS NULL;
  RETURN QUERY SELECT 'deleted', c.revision, encode(c.content_hash, 'hex');
END
$function$;

-- Change the members: p_user adds the items, NULL removes them. Writers share the collection's row, so that they do not
-- wait for each other; items come in one order, so that none waits in a circle. The outcome is done, no_items (some to
-- add are absent: they are in `missing`), mismatch or absent.
CREATE OR REPLACE FUNCTION collection_change_items(
  p_workspace uuid, p_id uuid, p_revisions bigint[], p_hashes text[], p_type text, p_items uuid[], p_user uuid
)
RETURNS TABLE (outcome text, revision int, content_hash text, changed int, missing uuid[])
LANGUAGE plpgsql VOLATILE AS $function$
#variable_conflict use_column
DECLARE
  c collections;
  v_missing uuid[];
  v_changed int;
BEGIN
  SELECT * INTO c FROM collections AS x
   WHERE x.workspace_id = p_workspace AND x.id = p_id AND x.deleted_at IS NULL
     FOR SHARE;
  IF NOT FOUND THEN
    RETURN QUERY SELECT 'absent', NULL::int, NULL::text, 0, NULL::uuid[];
    RETURN;
  END IF;
  IF NOT revision_expected(p_revisions, p_hashes, c.revision, c.content_hash) THEN
    RETURN QUERY SELECT 'mismatch', c.revision, encode(c.content_hash, 'hex'), 0, NULL::uuid[];
    RETURN;
  END IF;
  IF p_user IS NULL THEN
    DELETE FROM collection_items AS i
     WHERE i.workspace_id = p_workspace AND i.collection_id = p_id AND i.item_type = p_type AND i.item_id = ANY (p_items);
  ELSE
    SELECT array_agg(wanted.id ORDER BY wanted.id) INTO v_missing
      FROM (SELECT DISTINCT unnest(p_items) AS id) AS wanted
     WHERE NOT EXISTS (SELECT FROM items
                        WHERE items.workspace_id = p_workspace AND items.kind = p_type AND items.id = wanted.id
                          AND items.deleted_at IS NULL);
    IF v_missing IS NOT NULL THEN
      RETURN QUERY SELECT 'no_items', c.revision, encode(c.content_hash, 'hex'), 0, v_missing;
      RETURN;
    END IF;
    INSERT INTO collection_items (workspace_id, collection_id, item_type, item_id, added_by, added_at)
    SELECT p_workspace, p_id, p_type, wanted.id, p_user, clock_timestamp()
      FROM (SELECT DISTINCT unnest(p_items) AS id ORDER BY id) AS wanted
    ON CONFLICT DO NOTHING;
  END IF;
  GET DIAGNOSTICS v_changed = ROW_COUNT;
  RETURN QUERY SELECT 'done', c.revision, encode(c.content_hash, 'hex'), v_changed, NULL::uuid[];
END
$function$;
