-- Functions of the search index. They run with the rights of their caller.

-- Characters of scripts that are written without spaces between words (and Hangul, whose endings no stemmer knows).
CREATE OR REPLACE FUNCTION search_unspaced()
RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $function$
  SELECT '[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f]'
$function$;

-- Stems that say nothing, of languages for which Postgres knows no stop words.
CREATE OR REPLACE FUNCTION search_stops(p_language text)
RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $function$
  SELECT CASE p_language
    WHEN 'arabic' THEN string_to_array(
      'اذا الت الذ اللذ الي ان او اي ايض اين بعد بعض به بها بين تكون تلك تم ثم حتي ذلك ذين علي عن عند عندم غير في فيه قبل قد '
      'كان كل كم كما كيف لا لقد لم لماذ لن له لها ما ماذ متي مع من منذ هذا هذه هل هم هنا هو هي و يتم يكون', ' ')
    WHEN 'hindi' THEN string_to_array(
      'अप इन इस उन उस एक और क कब कर कह कित किस कैस कौन क्य ग गय ज जब जिस त तक थ द्वार न नह पर भ म य यह ल व वह स साथ ह है हैं होत', ' ')
    ELSE '{}' END
$function$;

-- The terms of a text, with how often each occurs; texts and queries are read alike. Words are stemmed as the language
-- has it. What is joined (`snake_case`, `a.b.c`, `E-1042`, `camelCase`) counts as a whole and by its parts. Scripts
-- without spaces give single characters and pairs.
CREATE OR REPLACE FUNCTION search_terms(p_language text, p_text text)
RETURNS TABLE (term text, tf int)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 20 AS $function$
#variable_conflict use_column
DECLARE
  v_text text := p_text;
  v_words text;
  v_unspaced text;
BEGIN
  IF octet_length(v_text) > length(v_text) THEN
    v_text := normalize(v_text, NFKC);
    IF v_text ~ search_unspaced() THEN
      v_unspaced := search_unspaced();
    END IF;
  END IF;
  v_words := translate(regexp_replace(v_text, '([[:lower:][:digit:]])([[:upper:]])', '\1 \2', 'g'),
                       '._:/\#@-', '        ');
  IF v_unspaced IS NOT NULL THEN
    v_words := regexp_replace(v_words, v_unspaced, ' ', 'g');
  END IF;
  RETURN QUERY
  SELECT every.term, sum(every.tf)::int
    FROM (SELECT lexeme AS term, cardinality(positions) AS tf
            FROM unnest(to_tsvector(p_language::regconfig, v_words))
           WHERE lexeme <> ALL (search_stops(p_language))
          UNION ALL
          SELECT left(lower(found[1]), 200), 1
            FROM regexp_matches(
                   v_text, '((?:[[:alnum:]]+[._:/\\#@-]+)+[[:alnum:]]+|[[:alnum:]]*[[:lower:]][[:upper:]][[:alnum:]]*)',
                   'g') AS found
          UNION ALL
          SELECT unnest(CASE WHEN pair.after ~ v_unspaced THEN ARRAY[pair.one, pair.one || pair.after]
                             ELSE ARRAY[pair.one] END), 1
            FROM (SELECT one, lead(one) OVER (ORDER BY place) AS after
                    FROM string_to_table(CASE WHEN v_unspaced IS NOT NULL THEN v_text END, NULL)
                         WITH ORDINALITY AS t(one, place)) AS pair
           WHERE pair.one ~ v_unspaced) AS every
   GROUP BY every.term;
END
$function$;

-- A term of a query, or its parts where no text has it: languages that write compounds as one word ask for a
-- Paketkennzeichnung where texts say how a Paket is marked. The parts share its weight: each is the longest beginning of
-- what is left that texts have as a word (linking letters included, since it is stemmed), and what remains at last counts
-- as one that no text has.
CREATE OR REPLACE FUNCTION search_parts(p_workspace uuid, p_level text, p_language text, p_term text)
RETURNS TABLE (term text, share float8) LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 1 AS $function$
#variable_conflict use_column
DECLARE
  v_rest text := p_term;
  v_parts text[] := '{}';
  v_found text;
  v_begin text;
BEGIN
  IF p_term ~ '^[[:alpha:]]{8,40}$' THEN
    LOOP
      v_found := NULL;
      FOR v_length IN REVERSE length(v_rest) .. 4 LOOP
        v_begin := left(v_rest, v_length);
        SELECT p.term INTO v_found
          FROM postings p
         WHERE p.workspace_id = p_workspace AND p.level = p_level AND p.language = p_language
           AND p.term = CASE WHEN v_begin = v_rest THEN v_rest
                             ELSE (ts_lexize((p_language || '_stem')::regdictionary, v_begin))[1] END
         LIMIT 1;
        EXIT WHEN v_found IS NOT NULL;
      END LOOP;
      EXIT WHEN v_found IS NULL;
      v_parts := v_parts || v_found;
      v_rest := substr(v_rest, length(v_begin) + 1);
      EXIT WHEN v_rest = '';
    END LOOP;
  END IF;
  RETURN QUERY
  SELECT part, 1.0::float8 / (cardinality(v_parts) + (v_rest <> '')::int)
    FROM unnest(CASE WHEN v_parts = '{}' THEN ARRAY[p_term] ELSE v_parts END) AS part;
END
$function$;

-- The terms of a query for one level of the index: read in each language that is held, of which some are major (a
-- hundredth of the level), and as it stands. In the others a word is as rare as it is there and in the major languages
-- together: a text that is alone in its language is found, and what all use is no rare word in it. The query's own
-- language is that in which most of it are stop words; these count in no other language either, where they would be rare
-- words. `rarity` is the term's inverse document frequency among all that the transaction may see of the level, and only
-- what it may see has languages: both show in scores, and a key that is narrowed to collections must not learn from them
-- which words others use. No compounds are taken apart for it, since each part would have to be looked for in what it
-- may see. Where a term is in more than 2,000 chunks, whose ids are digests, those of a sixteenth of all ids are counted
-- instead. `average` is the mean length of the whole workspace's.
CREATE OR REPLACE FUNCTION search_query(p_workspace uuid, p_level text, p_text text)
RETURNS TABLE (language text, major boolean, term text, weight float8, rarity float8, average float8)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 20 AS $function$
  WITH tenant AS MATERIALIZED (
    SELECT coalesce(current_setting('app.collections', true), '') <> '*' AS narrowed
  ), seen AS MATERIALIZED (
    SELECT c.id, c.language
      FROM tenant CROSS JOIN LATERAL (SELECT reach_of('document') AS id WHERE tenant.narrowed OFFSET 0) AS d
     CROSS JOIN LATERAL (
           SELECT id, language FROM chunks
            WHERE workspace_id = p_workspace AND document_id = d.id
              AND level = CASE p_level WHEN 'document' THEN 'document' ELSE 'paragraph' END
              AND (p_level = 'document' OR (speaker IS NOT NULL) = (p_level = 'turn')) OFFSET 0) AS c
     WHERE p_level IN ('document', 'paragraph', 'turn')
    UNION ALL
    SELECT item.id, p.language
      FROM (SELECT reach_of('prompt') AS id FROM tenant WHERE tenant.narrowed AND p_level = 'prompt'
            UNION ALL
            SELECT c.id FROM tenant JOIN collections AS c ON c.workspace_id = p_workspace AND tenant.narrowed
             WHERE p_level = 'collection') AS item
     CROSS JOIN LATERAL (
           SELECT language FROM postings WHERE workspace_id = p_workspace AND chunk_id = item.id LIMIT 1) AS p
  ), statistics AS (
    SELECT language, chunks, length FROM index_statistics
     WHERE workspace_id = p_workspace AND level = p_level AND chunks > 0
  ), held AS MATERIALIZED (
    SELECT language, chunks FROM statistics WHERE NOT (SELECT narrowed FROM tenant)
    UNION ALL
    SELECT language, count(*) FROM seen GROUP BY language
  ), whole AS (
    SELECT (SELECT sum(chunks) FROM held)::float8 AS n, sum(length)::float8 / greatest(sum(chunks), 1) AS average
      FROM statistics
  ), known AS MATERIALIZED (
    SELECT held.language, held.chunks, held.language = 'simple' OR held.chunks * 100 >= whole.n AS major
      FROM held, whole
  ), own AS (
    SELECT language FROM known
     WHERE major AND language <> 'simple' AND (SELECT count(*) FROM known) > 1
     ORDER BY length(to_tsvector(language::regconfig, p_text)), chunks DESC, language LIMIT 1
  ), words AS MATERIALIZED (
    SELECT place, word FROM regexp_split_to_table(p_text, '\s+') WITH ORDINALITY AS t(word, place)
  ), bare AS MATERIALIZED (
    SELECT words.place, words.word
      FROM words, own
     WHERE to_tsvector(own.language::regconfig, words.word) <> '' OR words.word ~ search_unspaced()
  ), asked AS MATERIALIZED (
    SELECT known.language, known.major, word.place, t.term, t.tf
      FROM known,
           (SELECT place, word FROM bare UNION ALL SELECT place, word FROM words WHERE NOT EXISTS (SELECT FROM bare))
             AS word,
           search_terms(known.language, word.word) AS t
  ), compounds AS MATERIALIZED (
    SELECT language, term
      FROM asked
     WHERE language IN ('danish', 'dutch', 'finnish', 'german', 'hungarian', 'norwegian', 'swedish') AND major
       AND language IN (SELECT coalesce((SELECT language FROM own), language)) AND length(term) >= 8
       AND NOT (SELECT narrowed FROM tenant)
     GROUP BY language, term ORDER BY min(place), language, term LIMIT 8
  ), read AS MATERIALIZED (
    SELECT asked.language, asked.major, asked.place, coalesce(part.term, asked.term) AS term,
           asked.tf * coalesce(part.share, 1) AS tf
      FROM asked
      LEFT JOIN (SELECT c.language, c.term AS whole, p.term, p.share
                   FROM compounds c, search_parts(p_workspace, p_level, c.language, c.term) AS p) AS part
        ON part.language = asked.language AND part.whole = asked.term
  ), counted AS MATERIALIZED (
    SELECT read.*, greatest(few.df, 16 * sampled.df) AS df
      FROM read
     CROSS JOIN (SELECT CASE WHEN p_level IN ('document', 'paragraph', 'turn') THEN 2000 END AS df) AS most
     CROSS JOIN LATERAL (
           SELECT count(*) AS df
             FROM (SELECT FROM postings p
                    WHERE p.workspace_id = p_workspace AND p.level = p_level AND p.language = read.language
                      AND p.term = read.term
                      AND (NOT (SELECT narrowed FROM tenant) OR (p.chunk_id IN (SELECT id FROM seen)) IS TRUE)
                    LIMIT most.df) AS these) AS few
     CROSS JOIN LATERAL (
           SELECT count(*) AS df
             FROM postings p
            WHERE p.workspace_id = p_workspace AND p.level = p_level AND p.language = read.language
              AND p.term = read.term AND p.chunk_id < '10000000-0000-0000-0000-000000000000' AND few.df >= most.df
              AND (NOT (SELECT narrowed FROM tenant) OR (p.chunk_id IN (SELECT id FROM seen)) IS TRUE)) AS sampled
  ), met AS MATERIALIZED (
    SELECT place, max(df) AS df FROM counted WHERE major GROUP BY place
  )
  SELECT c.language, c.major, c.term, sum(c.tf),
         ln(1 + greatest(whole.n - max(c.df + c.others) + 0.5, 0.5) / (max(c.df + c.others) + 0.5)),
         greatest(whole.average, 1)
    FROM whole,
         (SELECT counted.*, CASE WHEN major THEN 0 ELSE coalesce(met.df, 0) END AS others
            FROM counted LEFT JOIN met ON met.place = counted.place) AS c
   WHERE c.major OR c.df > 0
   GROUP BY c.language, c.major, c.term, whole.n, whole.average
$function$;
