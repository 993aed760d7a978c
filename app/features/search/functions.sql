-- Functions of search.

-- Where a text stands in another, ignoring case; 0: nowhere. `position` compares up to the whole needle at every place of
-- a text made for it. The regular-expression engine, with every character literal (`***=`), stays linear when it is
-- asked for a match alone (asked for places it collects them all), and is slower for the short needles that people type.
-- The small form of `İ` is two characters, `i` and a dot: where the dot is asked for, both are written so, and the place
-- is counted back; else `İ` is an `i`, as Turkish has it. (`lower` makes it one or the other, as the locale of the
-- database is.) `ς` is a `σ` at the end of a word.
-- Not in SQL, which the planner would inline and judge by its operators: texts are long, so it must know the cost.
CREATE OR REPLACE FUNCTION literal_place(p_needle text, p_text text)
RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 1000 AS $function$
DECLARE
  v_dotted boolean := p_needle ~ '[\u0130\u0307]';
  v_small text := CASE WHEN v_dotted THEN U&'i\0307' ELSE 'i' END;
  v_needle text := replace(lower(replace(p_needle, U&'\0130', v_small)), 'ς', 'σ');
  v_text text := replace(lower(replace(p_text, U&'\0130', v_small)), 'ς', 'σ');
  v_place int;
BEGIN
  IF length(v_needle) > 64 AND NOT v_text ~ ('***=' || v_needle) THEN
    RETURN 0;
  END IF;
  v_place := position(v_needle IN v_text);
  IF v_dotted AND v_place > 0 AND length(v_text) > length(p_text) THEN
    -- With each `İ` doubled, the text before the place is as long as it was there: its pairs are counted once.
    v_text := left(replace(p_text, U&'\0130', U&'\0130\0130'), v_place - 1);
    v_place := v_place - (length(v_text) - length(replace(v_text, U&'\0130', '')) + 1) / 2;
  END IF;
  RETURN v_place;
END
$function$;

-- Literal search over the kinds in $1, for the text $2, with all of the tags in $3, at most $4 of each kind: titles and
-- descriptions first, then the newest. Whole bodies are read, also before they are indexed; a passage is named where the
-- text as it is now has been cut into some. It runs as the role that no row-level policy narrows, since comparisons of
-- texts may not be pushed below one, and so says itself which rows a transaction may see: its workspace's, and of them
-- only members of its collections where it is restricted to some. (Parameters by number: a test explains this text.)
CREATE OR REPLACE FUNCTION search_literally(p_kinds text[], p_text text, p_tags text[], p_limit int)
RETURNS TABLE (
  kind text, id uuid, title text, description text, status text, chunk_id uuid, highlight text
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public AS $function$
  WITH tenant AS MATERIALIZED (
    SELECT nullif(current_setting('app.workspace_id', true), '')::uuid AS id,
           coalesce(current_setting('app.collections', true), '') = '*' AS everything,
           string_to_array(nullif(current_setting('app.collections', true), '*'), ',') AS reach
  ), candidates AS (
    SELECT 'document' AS kind, d.id, d.title, '' AS description, d.status, d.created_at, t.content AS body,
           d.chunked_revision = d.revision AS chunked
      FROM documents d
     CROSS JOIN LATERAL (  -- one by one, by their keys, whatever the planner thinks of a table that all tenants share
           SELECT c.content FROM contents c
            WHERE c.workspace_id = d.workspace_id AND c.digest = d.content_digest OFFSET 0) t
     WHERE 'document' = ANY ($1) AND d.workspace_id = (SELECT tenant.id FROM tenant) AND d.deleted_at IS NULL
       AND d.tags @> $3
       AND ((SELECT tenant.everything FROM tenant) OR d.id IN (SELECT reach_of('document')))
    UNION ALL
    SELECT 'prompt', p.id, p.title, p.description, '', p.created_at, v.content, false
      FROM prompts p
      JOIN prompt_versions v
        ON v.workspace_id = p.workspace_id AND v.prompt_id = p.id AND v.version = p.current_version
     WHERE 'prompt' = ANY ($1) AND p.workspace_id = (SELECT tenant.id FROM tenant) AND p.deleted_at IS NULL
       AND NOT p.archived AND p.tags @> $3
       AND ((SELECT tenant.everything FROM tenant) OR p.id IN (SELECT reach_of('prompt')))
    UNION ALL
    SELECT 'collection', c.id, c.name, c.description, '', c.created_at, '', false
      FROM collections c
     WHERE 'collection' = ANY ($1) AND c.workspace_id = (SELECT tenant.id FROM tenant) AND c.deleted_at IS NULL
       AND c.tags @> $3
       AND ((SELECT tenant.everything FROM tenant) OR c.id = ANY ((SELECT tenant.reach FROM tenant)::uuid[]))
  ), placed AS (
    SELECT c.*, greatest(literal_place($2, c.title), literal_place($2, c.description)) AS named,
           literal_place($2, c.body) AS place
      FROM candidates c
  ), ranked AS (
    SELECT p.*, row_number() OVER (PARTITION BY p.kind ORDER BY (p.named > 0) DESC, p.created_at DESC, p.id) AS rank
      FROM placed p
     WHERE p.named > 0 OR p.place > 0
  )
  SELECT r.kind, r.id, r.title, r.description, r.status, h.id,
         substr(r.body, greatest(r.place - 80, 1), 80 + length($2) + 120)
    FROM ranked r
    LEFT JOIN LATERAL (
         SELECT c.id FROM chunks c
          WHERE c.workspace_id = (SELECT tenant.id FROM tenant) AND c.document_id = r.id AND c.level = 'paragraph'
            AND r.place > 0 AND r.place - 1 BETWEEN c.start_index AND c.end_index - 1
          LIMIT 1) AS h ON r.chunked
   WHERE r.rank <= $4
   ORDER BY r.kind, r.rank
$function$;

-- Only a role that may create in the schema can own what is in it.
GRANT CREATE ON SCHEMA public TO app_system;
ALTER FUNCTION search_literally(text[], text, text[], int) OWNER TO app_system;
REVOKE CREATE ON SCHEMA public FROM app_system;
REVOKE ALL ON FUNCTION search_literally(text[], text, text[], int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION search_literally(text[], text, text[], int) TO app_read, app_write;
