-- The end of every command: events, audit lines, jobs and the receipt's body, in one call that travels with COMMIT.
-- The payload is UTF-8 JSON: workspace, user, grant, agent, operation, request, events [{topic, object_id, revision}],
-- jobs [{entrypoint, payload}], and, with an idempotency key, key and body (both base64).
CREATE OR REPLACE FUNCTION gate_finish(p_payload bytea)
RETURNS void LANGUAGE plpgsql VOLATILE AS $function$
DECLARE
  p jsonb := convert_from(p_payload, 'UTF8')::jsonb;
  v_workspace uuid := (p ->> 'workspace')::uuid;
  v_user uuid := (p ->> 'user')::uuid;
  v_grant uuid := (p ->> 'grant')::uuid;
BEGIN
  INSERT INTO events (workspace_id, epoch, xid, id, topic, object_id, revision)
  SELECT v_workspace, (SELECT max(epoch) FROM event_epochs), pg_current_xact_id(), gen_random_uuid(), e.topic,
         e.object_id, e.revision
    FROM jsonb_to_recordset(p -> 'events') AS e(topic text, object_id uuid, revision int);
  INSERT INTO audit (workspace_id, id, user_id, grant_id, agent, operation, topic, object_id, revision, request_id)
  SELECT v_workspace, gen_random_uuid(), v_user, v_grant, p ->> 'agent', p ->> 'operation', e.topic, e.object_id,
         e.revision, p ->> 'request'
    FROM jsonb_to_recordset(p -> 'events') AS e(topic text, object_id uuid, revision int);
  PERFORM enqueue_jobs(array_agg(0), array_agg(j.entrypoint), array_agg(decode(j.payload, 'base64')),
                       array_agg(interval '0'), array_agg(NULL::text), array_agg(NULL::jsonb))
     FROM jsonb_to_recordset(p -> 'jobs') AS j(entrypoint text, payload text)
   HAVING count(*) > 0;
  IF p ? 'key' THEN
    UPDATE receipts
       SET body = decode(p ->> 'body', 'base64'),
           object_ids = ARRAY(SELECT e.object_id FROM jsonb_to_recordset(p -> 'events') AS e(object_id uuid))
     WHERE workspace_id = v_workspace AND user_id = v_user AND grant_id = v_grant
       AND key_digest = decode(p ->> 'key', 'base64');
  END IF;
END
$function$;
