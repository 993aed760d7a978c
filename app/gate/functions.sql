-- One change: its event and its audit line. p_call is the call as JSON: workspace, user, grant, agent, operation,
-- request, jobs.
CREATE OR REPLACE FUNCTION gate_changed(p_call jsonb, p_topic text, p_object uuid, p_revision int)
RETURNS void LANGUAGE plpgsql VOLATILE AS $function$
DECLARE
  v_workspace uuid := (p_call ->> 'workspace')::uuid;
BEGIN
  INSERT INTO events (workspace_id, epoch, xid, id, topic, object_id, revision)
  VALUES (v_workspace, (SELECT max(epoch) FROM event_epochs), pg_current_xact_id(), gen_random_uuid(), p_topic,
          p_object, p_revision);
  INSERT INTO audit (workspace_id, id, user_id, grant_id, agent, operation, topic, object_id, revision, request_id)
  VALUES (v_workspace, gen_random_uuid(), (p_call ->> 'user')::uuid, (p_call ->> 'grant')::uuid, p_call ->> 'agent',
          p_call ->> 'operation', p_topic, p_object, p_revision, p_call ->> 'request');
END
$function$;

-- The jobs of a call: [{entrypoint, payload (base64), merges}].
CREATE OR REPLACE FUNCTION gate_enqueue(p_jobs jsonb)
RETURNS void LANGUAGE plpgsql VOLATILE AS $function$
DECLARE
  v_job jsonb;
BEGIN
  FOR i IN 0 .. coalesce(jsonb_array_length(p_jobs), 0) - 1 LOOP
    v_job := p_jobs -> i;
    IF (v_job ->> 'merges')::bool THEN
      PERFORM merge_job(v_job ->> 'entrypoint', decode(v_job ->> 'payload', 'base64'));
    ELSE
      PERFORM enqueue_jobs(ARRAY[0], ARRAY[v_job ->> 'entrypoint'], ARRAY[decode(v_job ->> 'payload', 'base64')],
                           ARRAY[interval '0'], ARRAY[NULL::text], ARRAY[NULL::jsonb]);
    END IF;
  END LOOP;
END
$function$;

-- The record of a function that is a whole command: its one change, and the jobs of the call.
CREATE OR REPLACE FUNCTION gate_record(p_call jsonb, p_topic text, p_object uuid, p_revision int)
RETURNS void LANGUAGE plpgsql VOLATILE AS $function$
BEGIN
  PERFORM gate_changed(p_call, p_topic, p_object, p_revision);
  PERFORM gate_enqueue(p_call -> 'jobs');
END
$function$;

-- The end of a command that is a transaction: its events [{topic, object_id, revision}], its jobs and, with an
-- idempotency key, the receipt's body (key and body are base64), in one call that travels with COMMIT. The payload is
-- the call with these, in UTF-8.
CREATE OR REPLACE FUNCTION gate_finish(p_payload bytea)
RETURNS void LANGUAGE plpgsql VOLATILE AS $function$
DECLARE
  p jsonb := convert_from(p_payload, 'UTF8')::jsonb;
BEGIN
  PERFORM gate_changed(p, e.topic, e.object_id, e.revision)
     FROM jsonb_to_recordset(p -> 'events') AS e(topic text, object_id uuid, revision int);
  PERFORM gate_enqueue(p -> 'jobs');
  IF p ? 'key' THEN
    -- What was changed is looked up in this transaction's events, also by a key that may see none: COMMIT follows.
    PERFORM set_config('app.collections', '*', true);
    UPDATE receipts
       SET body = decode(p ->> 'body', 'base64'),
           object_ids = ARRAY(SELECT DISTINCT e.object_id FROM events AS e
                               WHERE e.workspace_id = (p ->> 'workspace')::uuid
                                 AND e.epoch = (SELECT max(epoch) FROM event_epochs) AND e.xid = pg_current_xact_id())
     WHERE workspace_id = (p ->> 'workspace')::uuid AND user_id = (p ->> 'user')::uuid
       AND grant_id = (p ->> 'grant')::uuid AND key_digest = decode(p ->> 'key', 'base64');
  END IF;
END
$function$;
