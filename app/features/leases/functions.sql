-- Coordination of a document. Its lease lives in the document's row, so that one lock decides about write and lease;
-- the clock is read after the lock.

-- The coordination's own entity tag: it moves with whatever its representation shows.
CREATE OR REPLACE FUNCTION coordination_tag(d documents, p_live boolean)
RETURNS text LANGUAGE sql IMMUTABLE AS $function$
  SELECT 'c' || d.fence || '-' || left(encode(sha256(convert_to(concat_ws('|', d.policy, d.revision, d.content_hash,
           extract(epoch FROM d.lease_granted_at), extract(epoch FROM d.lease_expires_at), p_live), 'UTF8')), 'hex'), 16)
$function$;

-- Hot read: one autocommit call that sets the tenant, and what of it the caller may see, for itself.
CREATE OR REPLACE FUNCTION coordination_get(p_workspace uuid, p_collections text, p_id uuid)
RETURNS TABLE (policy text, revision int, fence bigint, live boolean, lease_grant uuid, granted_at timestamptz,
               expires_at timestamptz, tag text)
LANGUAGE plpgsql VOLATILE AS $function$
#variable_conflict use_column
BEGIN
  PERFORM set_config('app.workspace_id', p_workspace::text, true), set_config('app.collections', p_collections, true);
  RETURN QUERY
  SELECT d.policy, d.revision, d.fence, lease.live, d.lease_grant, d.lease_granted_at, d.lease_expires_at,
         coordination_tag(d, lease.live)
    FROM documents d, LATERAL (SELECT document_lease_is_live(d, clock_timestamp()) AS live) AS lease
   WHERE d.workspace_id = p_workspace AND d.id = p_id AND d.deleted_at IS NULL;
END
$function$;

-- Set the policy. p_tags are the strong entity tags of If-Match: the document's or the coordination's own. Leaving the
-- managed mode ends the lease; the fence stays. Outcome: written, noop, mismatch, forbidden or absent.
CREATE OR REPLACE FUNCTION coordination_set(p_workspace uuid, p_id uuid, p_policy text, p_tags text[], p_user uuid,
                                            p_owner boolean)
RETURNS TABLE (outcome text, policy text, revision int, fence bigint, live boolean, lease_grant uuid,
               granted_at timestamptz, expires_at timestamptz, tag text)
LANGUAGE plpgsql VOLATILE AS $function$
#variable_conflict use_column
DECLARE
  d documents;
  v_at timestamptz;
  v_tag text;
  v_outcome text := 'written';
BEGIN
  SELECT * INTO d FROM documents AS x
   WHERE x.workspace_id = p_workspace AND x.id = p_id AND x.deleted_at IS NULL
     FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    outcome := 'absent';
    RETURN NEXT;
    RETURN;
  END IF;
  v_at := clock_timestamp();
  v_tag := coordination_tag(d, document_lease_is_live(d, v_at));
  IF NOT p_owner AND d.created_by <> p_user THEN
    v_outcome := 'forbidden';
  ELSIF NOT p_tags && ARRAY[v_tag, document_tag(d)] THEN
    v_outcome := 'mismatch';
  ELSIF d.policy = p_policy THEN
    v_outcome := 'noop';
  ELSE
    UPDATE documents AS x
       SET policy = p_policy,
           lease_released_at = CASE WHEN p_policy = 'standard' AND x.lease_released_at IS NULL
                                     AND x.lease_digest IS NOT NULL THEN v_at ELSE x.lease_released_at END
     WHERE x.workspace_id = p_workspace AND x.id = p_id RETURNING * INTO d;
  END IF;
  live := document_lease_is_live(d, v_at);
  RETURN QUERY SELECT v_outcome, d.policy, d.revision, d.fence, live, d.lease_grant, d.lease_granted_at,
                      d.lease_expires_at, coordination_tag(d, live);
END
$function$;

-- Acquire, renew or release. p_lease is the digest of the lease id: the new one's, or the one that is shown with its
-- fence. Outcome: active, released, held, lost, standard or absent; `seconds` are those until a held lease ends.
CREATE OR REPLACE FUNCTION coordination_lease(p_workspace uuid, p_id uuid, p_action text, p_lease bytea, p_fence bigint,
                                              p_seconds int, p_grant uuid)
RETURNS TABLE (outcome text, revision int, fence bigint, ttl int, expires_at timestamptz, seconds int)
LANGUAGE plpgsql VOLATILE AS $function$
#variable_conflict use_column
DECLARE
  d documents;
  v_at timestamptz;
  v_outcome text := 'active';
BEGIN
  SELECT * INTO d FROM documents AS x
   WHERE x.workspace_id = p_workspace AND x.id = p_id AND x.deleted_at IS NULL
     FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN QUERY SELECT 'absent', NULL::int, NULL::bigint, NULL::int, NULL::timestamptz, NULL::int;
    RETURN;
  END IF;
  v_at := clock_timestamp();
  IF p_action = 'release' THEN
    IF d.lease_digest = p_lease AND d.fence = p_fence THEN
      v_outcome := 'released';
      UPDATE documents AS x SET lease_released_at = coalesce(x.lease_released_at, v_at)
       WHERE x.workspace_id = p_workspace AND x.id = p_id RETURNING * INTO d;
    ELSE
      v_outcome := 'lost';
    END IF;
  ELSIF d.policy <> 'lease_required' THEN
    v_outcome := 'standard';
  ELSIF p_action = 'acquire' AND document_lease_is_live(d, v_at) THEN
    v_outcome := 'held';
  ELSIF p_action = 'renew' AND NOT document_lease_is_shown(d, p_lease, p_fence, v_at) THEN
    v_outcome := 'lost';
  ELSE
    UPDATE documents AS x
       SET fence = CASE p_action WHEN 'acquire' THEN x.fence + 1 ELSE x.fence END,
           lease_digest = p_lease,
           lease_grant = CASE p_action WHEN 'acquire' THEN p_grant ELSE x.lease_grant END,
           lease_granted_at = CASE p_action WHEN 'acquire' THEN v_at ELSE x.lease_granted_at END,
           lease_seconds = coalesce(p_seconds, x.lease_seconds),
           lease_expires_at = v_at + make_interval(secs => coalesce(p_seconds, x.lease_seconds)),
           lease_released_at = NULL
     WHERE x.workspace_id = p_workspace AND x.id = p_id RETURNING * INTO d;
  END IF;
  RETURN QUERY SELECT v_outcome, d.revision, d.fence, d.lease_seconds, d.lease_expires_at,
                      ceil(extract(epoch FROM d.lease_expires_at - v_at))::int;
END
$function$;
