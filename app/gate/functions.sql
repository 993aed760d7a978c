-- What a call did: events, audit lines and jobs. The call is JSON: workspace, user, grant, agent, operation, request,
-- events [{topic, object_id, revision}], jobs [{entrypoint, payload (base64), merges}].
CREATE OR REPLACE FUNCTION gate_record(p jsonb)
RETURNS void LANGUAGE plpgsql VOLATILE AS $function$
DECLARE
  v_workspace uuid := (p ->> 'workspace')::uuid;
  v_job record;
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
  FOR v_job IN SELECT * FROM jsonb_to_recordset(p -> 'jobs') AS j(entrypoint text, payload text, merges bool)
                ORDER BY j.merges, j.payload
  LOOP
    IF v_job.merges THEN
      PERFORM merge_job(v_job.entrypoint, decode(v_job.payload, 'base64'));
    ELSE
      PERFORM enqueue_jobs(ARRAY[0], ARRAY[v_job.entrypoint], ARRAY[decode(v_job.payload, 'base64')],
                           ARRAY[interval '0'], ARRAY[NULL::text], ARRAY[NULL::jsonb]);
    END IF;
  END LOOP;
END
$function$;

-- The same for a function that is a whole command, whose one change is known to itself alone.
CREATE OR REPLACE FUNCTION gate_changed(p_call jsonb, p_topic text, p_object uuid, p_revision int)
RETURNS void LANGUAGE sql VOLATILE AS $function$
  SELECT gate_record(p_call || jsonb_build_object('events', jsonb_build_array(
           jsonb_build_object('topic', p_topic, 'object_id', p_object, 'revision', p_revision))))
$function$;

-- The end of a command that is a transaction: what it did and, with an idempotency key, the receipt's body (key and
-- body are base64), in one call that travels with COMMIT. The payload is UTF-8 JSON.
CREATE OR REPLACE FUNCTION gate_finish(p_payload bytea)
RETURNS void LANGUAGE plpgsql VOLATILE AS $function$
DECLARE
  p jsonb := convert_from(p_payload, 'UTF8')::jsonb;
BEGIN
  PERFORM gate_record(p);
  IF p ? 'key' THEN
    UPDATE receipts SET body = decode(p ->> 'body', 'base64')
     WHERE workspace_id = (p ->> 'workspace')::uuid AND user_id = (p ->> 'user')::uuid
       AND grant_id = (p ->> 'grant')::uuid AND key_digest = decode(p ->> 'key', 'base64');
  END IF;
END
$function$;
