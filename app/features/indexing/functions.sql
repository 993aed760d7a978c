-- Functions of the search index. They run with the rights of their caller.

-- Characters of scripts that are written without spaces between words (and Hangul, whose endings no stemmer knows).
CREATE OR REPLACE FUNCTION search_unspaced()
RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $function$
  SELECT '[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f]'
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
