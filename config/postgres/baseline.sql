SET LOCAL check_function_bodies = false;
SET LOCAL search_path = '';
CREATE FUNCTION public.openbook_assistant_content(row_of jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE
    AS $$ SELECT row_of - '{id,slug,name,description,is_default,is_active,order,version_id}'::text[] $$;
CREATE FUNCTION public.openbook_door_is_open() RETURNS boolean
    LANGUAGE sql STABLE
    AS $$ SELECT coalesce(current_setting('openbook.door', true), '') = 'open' $$;
CREATE FUNCTION public.openbook_keep_audit() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND TG_TABLE_NAME = 'conversations_auditevent' AND OLD.number IS NULL
       AND NEW.number IS NOT NULL AND NEW.digest IS NOT NULL
       AND (to_jsonb(NEW) - '{number,digest}'::text[]) = (to_jsonb(OLD) - '{number,digest}'::text[]) THEN
        RETURN NEW;
    END IF;
    IF TG_OP = 'DELETE' AND TG_TABLE_NAME = 'conversations_auditevent' AND OLD.number IS NOT NULL
       AND EXISTS (SELECT FROM conversations_auditanchor AS anchor WHERE anchor.number >= OLD.number) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION '% of %: the audit record stays as it is', lower(TG_OP), TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation';
END $$;
CREATE FUNCTION public.openbook_note_all_bytes() RETURNS trigger
    LANGUAGE plpgsql
    AS $_$
BEGIN
    EXECUTE format('INSERT INTO conversations_bytestoremove (place, due_at) SELECT %1$I, now() FROM %2$I WHERE %1$I <> %3$L '
                   'ON CONFLICT (place) DO UPDATE SET due_at = now()', TG_ARGV[0], TG_TABLE_NAME, '');
    RETURN NULL;
END $_$;
CREATE FUNCTION public.openbook_note_bytes() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO conversations_bytestoremove (place, due_at) VALUES (to_jsonb(OLD) ->> TG_ARGV[0], now())
    ON CONFLICT (place) DO UPDATE SET due_at = now();
    RETURN NULL;
END $$;
CREATE FUNCTION public.openbook_presets_of(of_assistant bigint) RETURNS jsonb
    LANGUAGE sql
    AS $$
    SELECT coalesce(
        jsonb_object_agg(
            preset.slug,
            jsonb_build_object(
                'name', preset.name, 'prompt', preset.prompt, 'kind', preset.kind, 'language', preset.language
            )
        ),
        '{}'
    )
    FROM artifacts_preset preset JOIN artifacts_preset_assistants link ON link.preset_id = preset.id
    WHERE link.assistant_id = of_assistant AND preset.is_active
$$;
CREATE FUNCTION public.openbook_refuse() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF openbook_door_is_open() THEN
        IF TG_OP = 'DELETE' THEN RETURN OLD; ELSE RETURN NEW; END IF;
    END IF;
    RAISE EXCEPTION '% of %: turns, requests and versions stay as they are', lower(TG_OP), TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation', HINT = 'A user''s own delete goes through conversations.threads.deletion.';
END $$;
CREATE FUNCTION public.openbook_refuse_always() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION '% of %: who looked stays on record', lower(TG_OP), TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
CREATE FUNCTION public.openbook_refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF (to_jsonb(NEW) - TG_ARGV) IS NOT DISTINCT FROM (to_jsonb(OLD) - TG_ARGV) OR openbook_door_is_open() THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'update of %: only % may change', TG_TABLE_NAME, array_to_string(TG_ARGV, ', ')
        USING ERRCODE = 'restrict_violation';
END $$;
CREATE FUNCTION public.openbook_refuse_end() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION 'update of %: it has ended', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
CREATE FUNCTION public.openbook_user_of_file() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    BEGIN
        NEW.user_id := (SELECT user_id FROM conversations_file WHERE id = NEW.file_id);
        RETURN NEW;
    END $$;
CREATE FUNCTION public.openbook_user_of_reply() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    BEGIN
        NEW.user_id := (SELECT user_id FROM conversations_reply WHERE id = NEW.reply_id);
        RETURN NEW;
    END $$;
CREATE FUNCTION public.openbook_user_of_thread() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    BEGIN
        NEW.user_id := (SELECT user_id FROM conversations_thread WHERE id = NEW.thread_id);
        RETURN NEW;
    END $$;
CREATE FUNCTION public.openbook_version_assistant() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE wanted jsonb;
BEGIN
    NEW.presets := openbook_presets_of(NEW.id);
    wanted := openbook_assistant_content(to_jsonb(NEW));
    UPDATE conversations_assistantversion SET published_at = now()
    WHERE id = NEW.version_id AND assistant_id = NEW.id AND '{"presets": {}}'::jsonb || content = wanted
      AND (TG_OP = 'INSERT' OR NEW.version_id IS DISTINCT FROM OLD.version_id);
    IF FOUND THEN RETURN NEW; END IF;
    IF TG_OP = 'UPDATE' AND OLD.version_id IS NOT NULL AND wanted = openbook_assistant_content(to_jsonb(OLD)) THEN
        NEW.version_id := OLD.version_id;
        RETURN NEW;
    END IF;
    INSERT INTO conversations_assistantversion (assistant_id, number, content, note, published_at)
    SELECT NEW.id, coalesce(max(number), 0) + 1, wanted, '', now()
    FROM conversations_assistantversion WHERE assistant_id = NEW.id
    RETURNING id INTO NEW.version_id;
    RETURN NEW;
END $$;
CREATE FUNCTION public.openbook_version_preset() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    UPDATE conversations_assistant SET version_id = version_id
    WHERE id IN (SELECT assistant_id FROM artifacts_preset_assistants WHERE preset_id = NEW.id);
    RETURN NULL;
END $$;
CREATE FUNCTION public.openbook_version_preset_link() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    UPDATE conversations_assistant SET version_id = version_id WHERE id IN (OLD.assistant_id, NEW.assistant_id);
    RETURN NULL;
END $$;
CREATE TABLE public.account_emailaddress (
    id integer NOT NULL,
    email character varying(254) NOT NULL,
    verified boolean NOT NULL,
    "primary" boolean NOT NULL,
    user_id integer NOT NULL
);
ALTER TABLE public.account_emailaddress ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.account_emailaddress_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.account_emailconfirmation (
    id integer NOT NULL,
    created timestamp with time zone NOT NULL,
    sent timestamp with time zone,
    key character varying(64) NOT NULL,
    email_address_id integer NOT NULL
);
ALTER TABLE public.account_emailconfirmation ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.account_emailconfirmation_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.artifacts_artifact (
    id uuid NOT NULL,
    title character varying(200) NOT NULL,
    kind character varying(8) NOT NULL,
    language character varying(40) NOT NULL,
    preset character varying(50) NOT NULL,
    after_position integer NOT NULL,
    version integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone,
    thread_id uuid NOT NULL,
    user_id integer NOT NULL,
    CONSTRAINT artifact_has_a_version CHECK ((version >= 1)),
    CONSTRAINT artifact_kind_known CHECK ((kind IN ('document', 'code', 'html', 'svg', 'mermaid', 'table'))),
    CONSTRAINT artifacts_artifact_after_position_check CHECK ((after_position >= 0)),
    CONSTRAINT artifacts_artifact_version_check CHECK ((version >= 0))
);
CREATE TABLE public.artifacts_artifactversion (
    id bigint NOT NULL,
    number integer NOT NULL,
    content text NOT NULL,
    size integer GENERATED ALWAYS AS (length(content)) STORED,
    origin character varying(7) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    artifact_id uuid NOT NULL,
    message_id uuid,
    reply_id uuid,
    thread_id uuid NOT NULL,
    user_id integer NOT NULL,
    CONSTRAINT artifact_version_counts_from_one CHECK ((number >= 1)),
    CONSTRAINT artifact_version_origin_known CHECK ((origin IN ('reply', 'preset', 'hand', 'program'))),
    CONSTRAINT artifacts_artifactversion_number_check CHECK ((number >= 0))
);
ALTER TABLE public.artifacts_artifactversion ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.artifacts_artifactversion_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.artifacts_preset (
    id bigint NOT NULL,
    slug character varying(50) NOT NULL,
    name character varying(80) NOT NULL,
    description character varying(200) NOT NULL,
    prompt text NOT NULL,
    kind character varying(8) NOT NULL,
    language character varying(40) NOT NULL,
    is_active boolean NOT NULL,
    "order" smallint NOT NULL,
    CONSTRAINT artifacts_preset_order_check CHECK (("order" >= 0)),
    CONSTRAINT preset_kind_known CHECK ((kind IN ('document', 'code', 'html', 'svg', 'mermaid', 'table')))
);
CREATE TABLE public.artifacts_preset_assistants (
    id bigint NOT NULL,
    preset_id bigint NOT NULL,
    assistant_id bigint NOT NULL
);
ALTER TABLE public.artifacts_preset_assistants ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.artifacts_preset_assistants_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
ALTER TABLE public.artifacts_preset ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.artifacts_preset_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.auth_group (
    id integer NOT NULL,
    name character varying(150) NOT NULL
);
ALTER TABLE public.auth_group ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_group_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.auth_group_permissions (
    id bigint NOT NULL,
    group_id integer NOT NULL,
    permission_id integer NOT NULL
);
ALTER TABLE public.auth_group_permissions ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_group_permissions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.auth_permission (
    id integer NOT NULL,
    name character varying(255) NOT NULL,
    content_type_id integer NOT NULL,
    codename character varying(100) NOT NULL
);
ALTER TABLE public.auth_permission ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_permission_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.auth_user (
    id integer NOT NULL,
    password character varying(128) NOT NULL,
    last_login timestamp with time zone,
    is_superuser boolean NOT NULL,
    username character varying(150) NOT NULL,
    first_name character varying(150) NOT NULL,
    last_name character varying(150) NOT NULL,
    email character varying(254) NOT NULL,
    is_staff boolean NOT NULL,
    is_active boolean NOT NULL,
    date_joined timestamp with time zone NOT NULL
);
CREATE TABLE public.auth_user_groups (
    id bigint NOT NULL,
    user_id integer NOT NULL,
    group_id integer NOT NULL
);
ALTER TABLE public.auth_user_groups ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_user_groups_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
ALTER TABLE public.auth_user ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_user_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.auth_user_user_permissions (
    id bigint NOT NULL,
    user_id integer NOT NULL,
    permission_id integer NOT NULL
);
ALTER TABLE public.auth_user_user_permissions ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_user_user_permissions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.conversations_accountdeletion (
    user_id integer NOT NULL,
    asked_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone NOT NULL
);
CREATE UNLOGGED TABLE public.conversations_allowance (
    id bigint NOT NULL,
    day date NOT NULL,
    running integer NOT NULL,
    reserved bigint NOT NULL,
    spent bigint NOT NULL,
    most_running integer,
    most_tokens bigint,
    user_id integer NOT NULL,
    token_id bigint,
    forgettings integer DEFAULT 0 NOT NULL,
    CONSTRAINT allowance_forgettings CHECK ((forgettings >= 0)),
    CONSTRAINT allowance_running CHECK ((running <= most_running)),
    CONSTRAINT allowance_tokens CHECK ((most_tokens >= (spent + reserved))),
    CONSTRAINT conversations_allowance_most_running_check CHECK ((most_running >= 0)),
    CONSTRAINT conversations_allowance_most_tokens_check CHECK ((most_tokens >= 0)),
    CONSTRAINT conversations_allowance_reserved_check CHECK ((reserved >= 0)),
    CONSTRAINT conversations_allowance_running_check CHECK ((running >= 0)),
    CONSTRAINT conversations_allowance_spent_check CHECK ((spent >= 0))
);
ALTER TABLE public.conversations_allowance ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.conversations_allowance_id_seq
    LOGGED
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.conversations_apitoken (
    id bigint NOT NULL,
    name character varying(80) NOT NULL,
    digest bytea NOT NULL,
    scopes character varying(20)[] NOT NULL,
    requests_minute integer,
    running_replies integer,
    tokens_day bigint,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone,
    revoked_at timestamp with time zone,
    user_id integer NOT NULL,
    addresses character varying(43)[] DEFAULT '{}'::character varying(43)[] NOT NULL,
    last_used_from character varying(43) DEFAULT ''::character varying NOT NULL,
    CONSTRAINT conversations_apitoken_requests_minute_check CHECK ((requests_minute >= 0)),
    CONSTRAINT conversations_apitoken_running_replies_check CHECK ((running_replies >= 0)),
    CONSTRAINT conversations_apitoken_tokens_day_check CHECK ((tokens_day >= 0)),
    CONSTRAINT token_scopes_known CHECK (((scopes <@ ARRAY['read'::character varying(20), 'write'::character varying(20), 'export'::character varying(20), 'memory'::character varying(20), 'files'::character varying(20), 'webhooks'::character varying(20), 'servers'::character varying(20), 'chat'::character varying(20), 'staff'::character varying(20), 'staff:content'::character varying(20), 'staff:audit'::character varying(20), 'staff:assistants'::character varying(20), 'staff:models'::character varying(20), 'staff:groups'::character varying(20), 'staff:replays'::character varying(20), 'staff:feedback'::character varying(20), 'staff:invitations'::character varying(20), 'scim'::character varying(20)]) AND (
CASE
    WHEN (scopes IS NULL) THEN NULL::integer
    ELSE COALESCE(array_length(scopes, 1), 0)
END > 0)))
);
ALTER TABLE public.conversations_apitoken ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.conversations_apitoken_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.conversations_assistant (
    id bigint NOT NULL,
    slug character varying(50) NOT NULL,
    name character varying(80) NOT NULL,
    description character varying(200) NOT NULL,
    system_prompt text NOT NULL,
    provider character varying(40) NOT NULL,
    model character varying(80) NOT NULL,
    max_output_tokens integer NOT NULL,
    thinking_tokens integer NOT NULL,
    effort character varying(6) NOT NULL,
    show_thinking character varying(7) NOT NULL,
    reply_minutes smallint NOT NULL,
    fallback_model character varying(80) NOT NULL,
    fallback_automatic boolean NOT NULL,
    history_tokens_high integer NOT NULL,
    history_tokens_low integer NOT NULL,
    history_turns_min integer NOT NULL,
    history_turns_max integer NOT NULL,
    total_tokens integer NOT NULL,
    hard_cap_tokens integer NOT NULL,
    memory_tokens integer NOT NULL,
    today_tokens integer NOT NULL,
    open_threads_tokens integer NOT NULL,
    last_conversation_tokens integer NOT NULL,
    recall_tokens integer NOT NULL,
    uses_memory boolean NOT NULL,
    tools character varying(40)[] NOT NULL,
    filters_artifacts boolean NOT NULL,
    rewriting character varying(5) NOT NULL,
    rewriting_model character varying(80) NOT NULL,
    is_default boolean NOT NULL,
    is_active boolean NOT NULL,
    "order" smallint NOT NULL,
    budget_share smallint,
    file_tokens integer DEFAULT 24000 NOT NULL,
    version_id bigint,
    cache_lifetime character varying(2) DEFAULT ''::character varying NOT NULL,
    presets jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT assistant_budgets_in_order CHECK (((history_tokens_low <= history_tokens_high) AND (history_tokens_high <= total_tokens) AND (total_tokens <= hard_cap_tokens))),
    CONSTRAINT assistant_rewriting_known CHECK ((rewriting IN ('off', 'local', 'model'))),
    CONSTRAINT assistant_share_in_percent CHECK (((budget_share IS NULL) OR ((budget_share >= 1) AND (budget_share <= 100)))),
    CONSTRAINT assistant_turns_in_order CHECK (((history_turns_max >= 2) AND (history_turns_min <= history_turns_max))),
    CONSTRAINT conversations_assistant_budget_share_check CHECK ((budget_share >= 0)),
    CONSTRAINT conversations_assistant_file_tokens_check CHECK ((file_tokens >= 0)),
    CONSTRAINT conversations_assistant_hard_cap_tokens_check CHECK ((hard_cap_tokens >= 0)),
    CONSTRAINT conversations_assistant_history_tokens_high_check CHECK ((history_tokens_high >= 0)),
    CONSTRAINT conversations_assistant_history_tokens_low_check CHECK ((history_tokens_low >= 0)),
    CONSTRAINT conversations_assistant_history_turns_max_check CHECK ((history_turns_max >= 0)),
    CONSTRAINT conversations_assistant_history_turns_min_check CHECK ((history_turns_min >= 0)),
    CONSTRAINT conversations_assistant_last_conversation_tokens_check CHECK ((last_conversation_tokens >= 0)),
    CONSTRAINT conversations_assistant_max_output_tokens_check CHECK ((max_output_tokens >= 0)),
    CONSTRAINT conversations_assistant_memory_tokens_check CHECK ((memory_tokens >= 0)),
    CONSTRAINT conversations_assistant_open_threads_tokens_check CHECK ((open_threads_tokens >= 0)),
    CONSTRAINT conversations_assistant_order_check CHECK (("order" >= 0)),
    CONSTRAINT conversations_assistant_recall_tokens_check CHECK ((recall_tokens >= 0)),
    CONSTRAINT conversations_assistant_reply_minutes_check CHECK ((reply_minutes >= 0)),
    CONSTRAINT conversations_assistant_thinking_tokens_check CHECK ((thinking_tokens >= 0)),
    CONSTRAINT conversations_assistant_today_tokens_check CHECK ((today_tokens >= 0)),
    CONSTRAINT conversations_assistant_total_tokens_check CHECK ((total_tokens >= 0))
);
ALTER TABLE public.conversations_assistant ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.conversations_assistant_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.conversations_assistant_offered_models (
    id bigint NOT NULL,
    assistant_id bigint NOT NULL,
    model_id bigint NOT NULL
);
ALTER TABLE public.conversations_assistant_offered_models ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.conversations_assistant_offered_models_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.conversations_assistantversion (
    id bigint NOT NULL,
    number integer NOT NULL,
    content jsonb NOT NULL,
    note character varying(200) NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    published_at timestamp with time zone,
    assistant_id bigint NOT NULL,
    author_id integer,
    CONSTRAINT conversations_assistantversion_number_check CHECK ((number >= 0))
);
ALTER TABLE public.conversations_assistantversion ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.conversations_assistantversion_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.conversations_auditanchor (
    number bigint NOT NULL,
    digest bytea NOT NULL,
    at timestamp with time zone NOT NULL
);
CREATE TABLE public.conversations_auditdelivery (
    destination character varying(10) NOT NULL,
    number bigint NOT NULL,
    delivered_at timestamp with time zone,
    failures integer NOT NULL,
    failed_since timestamp with time zone,
    next_at timestamp with time zone,
    problem character varying(300) NOT NULL,
    CONSTRAINT conversations_auditdelivery_failures_check CHECK ((failures >= 0))
);
CREATE TABLE public.conversations_auditevent (
    id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    kind character varying(40) NOT NULL,
    outcome character varying(7) NOT NULL,
    actor_kind character varying(7) NOT NULL,
    actor_name character varying(150) NOT NULL,
    target_kind character varying(60) NOT NULL,
    target_id character varying(64) NOT NULL,
    address character varying(45) NOT NULL,
    request_id character varying(64) NOT NULL,
    details jsonb NOT NULL,
    number bigint,
    digest bytea,
    actor_id integer,
    CONSTRAINT audit_event_sealed_whole CHECK ((((digest IS NULL) AND (number IS NULL)) OR ((digest IS NOT NULL) AND (number IS NOT NULL))))
);
CREATE TABLE public.conversations_banner (
    id bigint NOT NULL,
    text character varying(300) NOT NULL,
    level character varying(11) NOT NULL,
    audience character varying(9) NOT NULL,
    starts_at timestamp with time zone NOT NULL,
    ends_at timestamp with time zone,
    is_dismissable boolean NOT NULL,
    version integer NOT NULL,
    CONSTRAINT banner_ends_after_it_starts CHECK (((ends_at IS NULL) OR (ends_at > starts_at))),
    CONSTRAINT conversations_banner_version_check CHECK ((version >= 0))
);
ALTER TABLE public.conversations_banner ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.conversations_banner_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.conversations_budget (
    id bigint NOT NULL,
    tokens_day bigint,
    tokens_month bigint,
    money_day numeric(12,2),
    money_month numeric(12,2),
    member_tokens_day bigint,
    member_tokens_month bigint,
    member_money_day numeric(12,2),
    member_money_month numeric(12,2),
    group_id integer,
    CONSTRAINT conversations_budget_member_tokens_day_check CHECK ((member_tokens_day >= 0)),
    CONSTRAINT conversations_budget_member_tokens_month_check CHECK ((member_tokens_month >= 0)),
    CONSTRAINT conversations_budget_tokens_day_check CHECK ((tokens_day >= 0)),
    CONSTRAINT conversations_budget_tokens_month_check CHECK ((tokens_month >= 0))
);
ALTER TABLE public.conversations_budget ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.conversations_budget_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.conversations_budgetcharge (
    id bigint NOT NULL,
    reply_id uuid,
    reservation_id bigint,
    provider character varying(40) NOT NULL,
    model character varying(80) NOT NULL,
    day date NOT NULL,
    reserved_tokens bigint NOT NULL,
    reserved_money bigint NOT NULL,
    spent_tokens bigint NOT NULL,
    spent_money bigint NOT NULL,
    is_open boolean NOT NULL,
    expires_at timestamp with time zone,
    budget_id bigint NOT NULL,
    user_id integer
);
ALTER TABLE public.conversations_budgetcharge ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.conversations_budgetcharge_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.conversations_budgetpool (
    id bigint NOT NULL,
    day date NOT NULL,
    month date NOT NULL,
    reserved_tokens bigint NOT NULL,
    reserved_money bigint NOT NULL,
    tokens_day bigint NOT NULL,
    tokens_month bigint NOT NULL,
    money_day bigint NOT NULL,
    money_month bigint NOT NULL,
    most_tokens_day bigint,
    most_tokens_month bigint,
    most_money_day bigint,
    most_money_month bigint,
    warned_day smallint DEFAULT 0 NOT NULL,
    warned_month smallint DEFAULT 0 NOT NULL,
    refused_day boolean DEFAULT false NOT NULL,
    refused_month boolean DEFAULT false NOT NULL,
    budget_id bigint NOT NULL,
    user_id integer,
    CONSTRAINT conversations_budgetpool_warned_day_check CHECK ((warned_day >= 0)),
    CONSTRAINT conversations_budgetpool_warned_month_check CHECK ((warned_month >= 0)),
    CONSTRAINT pool_money_day CHECK ((most_money_day >= (money_day + reserved_money))),
    CONSTRAINT pool_money_month CHECK ((most_money_month >= (money_month + reserved_money))),
    CONSTRAINT pool_price_known CHECK ((reserved_money >= 0)),
    CONSTRAINT pool_tokens_day CHECK ((most_tokens_day >= (tokens_day + reserved_tokens))),
    CONSTRAINT pool_tokens_month CHECK ((most_tokens_month >= (tokens_month + reserved_tokens)))
);
ALTER TABLE public.conversations_budgetpool ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.conversations_budgetpool_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.conversations_bytestoremove (
    place character varying(100) NOT NULL,
    due_at timestamp with time zone NOT NULL
);
CREATE TABLE public.conversations_cacheforecast (
    assistant_id bigint NOT NULL,
    made_at timestamp with time zone NOT NULL,
    requests bigint NOT NULL,
    costs jsonb NOT NULL,
    CONSTRAINT conversations_cacheforecast_requests_check CHECK ((requests >= 0))
);
CREATE TABLE public.conversations_case (
    id uuid NOT NULL,
    evidence text NOT NULL,
    contains text NOT NULL,
    patterns text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    request_id uuid NOT NULL,
    thread_id uuid NOT NULL,
    dataset_id bigint NOT NULL,
    answer text DEFAULT ''::text NOT NULL,
    answer_contains text DEFAULT ''::text NOT NULL,
    answer_patterns text DEFAULT ''::text NOT NULL,
    answer_schema text DEFAULT ''::text NOT NULL,
    criterion text DEFAULT ''::text NOT NULL
);
CREATE TABLE public.conversations_caseanswer (
    id uuid NOT NULL,
    version integer NOT NULL,
    model character varying(160) NOT NULL,
    attempts smallint NOT NULL,
    claimed_until timestamp with time zone NOT NULL,
    text text NOT NULL,
    reason text NOT NULL,
    problem character varying(300) NOT NULL,
    verdict_problem character varying(300) NOT NULL,
    stop_reason character varying(60) NOT NULL,
    scores jsonb NOT NULL,
    figures jsonb NOT NULL,
    answered_at timestamp with time zone,
    ended_at timestamp with time zone,
    case_id uuid NOT NULL,
    experiment_id uuid NOT NULL,
    request_id uuid,
    verdict_request_id uuid,
    CONSTRAINT conversations_caseanswer_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT conversations_caseanswer_version_check CHECK ((version >= 0))
);
CREATE TABLE public.conversations_caseresult (
    id uuid NOT NULL,
    problem character varying(300) NOT NULL,
    results jsonb NOT NULL,
    case_id uuid NOT NULL,
    experiment_id uuid NOT NULL
);
CREATE TABLE public.conversations_connection (
    id bigint NOT NULL,
    slug character varying(40) NOT NULL,
    label character varying(80) NOT NULL,
    kind character varying(20) NOT NULL,
    base_url character varying(300) NOT NULL,
    server character varying(40) NOT NULL,
    secrets bytea NOT NULL,
    connect_seconds double precision NOT NULL,
    proxy character varying(300) NOT NULL,
    is_active boolean NOT NULL,
    "order" smallint NOT NULL,
    tested_at timestamp with time zone,
    is_working boolean,
    test_result character varying(600) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    region character varying(40) NOT NULL,
    CONSTRAINT connection_slug_free CHECK (((NOT ((slug)::text = 'anthropic'::text)) AND (NOT ((slug)::text = 'bedrock'::text)) AND (NOT ((slug)::text = 'claude_cli'::text)) AND (NOT ((slug)::text = 'local'::text)) AND (NOT ((slug)::text = 'offline'::text)) AND (NOT ((slug)::text = 'openai'::text)) AND (NOT ((slug)::text = 'vertex'::text)))),
    CONSTRAINT conversations_connection_order_check CHECK (("order" >= 0))
);
ALTER TABLE public.conversations_connection ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.conversations_connection_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.conversations_contentaccess (
    id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    staff_name character varying(150) NOT NULL,
    action character varying(6) NOT NULL,
    what character varying(40) NOT NULL,
    object_id character varying(40) NOT NULL,
    thread_id uuid,
    reason character varying(300) NOT NULL,
    request_id character varying(64) NOT NULL,
    staff_id integer NOT NULL,
    user_id integer NOT NULL
)
PARTITION BY RANGE (id);
CREATE TABLE public.conversations_contentaccess_first (
    id uuid CONSTRAINT conversations_contentaccess_id_not_null NOT NULL,
    at timestamp with time zone CONSTRAINT conversations_contentaccess_at_not_null NOT NULL,
    staff_name character varying(150) CONSTRAINT conversations_contentaccess_staff_name_not_null NOT NULL,
    action character varying(6) CONSTRAINT conversations_contentaccess_action_not_null NOT NULL,
    what character varying(40) CONSTRAINT conversations_contentaccess_what_not_null NOT NULL,
    object_id character varying(40) CONSTRAINT conversations_contentaccess_object_id_not_null NOT NULL,
    thread_id uuid,
    reason character varying(300) CONSTRAINT conversations_contentaccess_reason_not_null NOT NULL,
    request_id character varying(64) CONSTRAINT conversations_contentaccess_request_id_not_null NOT NULL,
    staff_id integer CONSTRAINT conversations_contentaccess_staff_id_not_null NOT NULL,
    user_id integer CONSTRAINT conversations_contentaccess_user_id_not_null NOT NULL
);
CREATE TABLE public.conversations_contentaccess_rest (
    id uuid CONSTRAINT conversations_contentaccess_id_not_null NOT NULL,
    at timestamp with time zone CONSTRAINT conversations_contentaccess_at_not_null NOT NULL,
    staff_name character varying(150) CONSTRAINT conversations_contentaccess_staff_name_not_null NOT NULL,
    action character varying(6) CONSTRAINT conversations_contentaccess_action_not_null NOT NULL,
    what character varying(40) CONSTRAINT conversations_contentaccess_what_not_null NOT NULL,
    object_id character varying(40) CONSTRAINT conversations_contentaccess_object_id_not_null NOT NULL,
    thread_id uuid,
    reason character varying(300) CONSTRAINT conversations_contentaccess_reason_not_null NOT NULL,
    request_id character varying(64) CONSTRAINT conversations_contentaccess_request_id_not_null NOT NULL,
    staff_id integer CONSTRAINT conversations_contentaccess_staff_id_not_null NOT NULL,
    user_id integer CONSTRAINT conversations_contentaccess_user_id_not_null NOT NULL
);
CREATE TABLE public.conversations_contextblock (
    id bigint NOT NULL,
    sha256 bytea NOT NULL,
    text text NOT NULL,
    forgotten_at timestamp with time zone,
    thread_id uuid,
    user_id integer
);
ALTER TABLE public.conversations_contextblock ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.conversations_contextblock_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.conversations_contextsnapshot (
    id uuid NOT NULL,
    purpose character varying(13) NOT NULL,
    round smallint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    provider character varying(40) NOT NULL,
    model character varying(80) NOT NULL,
    max_tokens integer NOT NULL,
    thinking character varying(60) DEFAULT ''::character varying NOT NULL,
    fallback_for character varying(80) DEFAULT ''::character varying NOT NULL,
    digest bytea NOT NULL,
    budget integer NOT NULL,
    hard_cap integer NOT NULL,
    total_tokens integer NOT NULL,
    token_factor double precision DEFAULT 1.0 NOT NULL,
    message_history_count integer NOT NULL,
    message_history_tokens integer NOT NULL,
    today_summary_present boolean NOT NULL,
    open_threads_count smallint NOT NULL,
    last_conversation_present boolean CONSTRAINT conversations_contextsnapsho_last_conversation_present_not_null NOT NULL,
    sections text NOT NULL,
    runs text NOT NULL,
    additions text NOT NULL,
    cache text NOT NULL,
    timings_ms text NOT NULL,
    items bytea,
    rewriting character varying(10) NOT NULL,
    recalled jsonb,
    problems jsonb,
    status character varying(11) NOT NULL,
    stop_reason character varying(60) NOT NULL,
    provider_request_id character varying(100) NOT NULL,
    provider_message_id character varying(100) NOT NULL,
    diagnostics jsonb,
    usage jsonb NOT NULL,
    error jsonb,
    stop_details jsonb,
    thinking_ms integer,
    first_token_ms integer,
    ended_at timestamp with time zone,
    message_id uuid,
    reply_id uuid,
    thread_id uuid NOT NULL,
    fallback_cause character varying(40) DEFAULT ''::character varying NOT NULL,
    budget_origin character varying(100) DEFAULT ''::character varying NOT NULL,
    counts text DEFAULT ''::text NOT NULL,
    files jsonb,
    user_id integer NOT NULL,
    quoting smallint,
    scope jsonb,
    rules smallint,
    version_id bigint,
    CONSTRAINT conversations_contextsnapshot_budget_check CHECK ((budget >= 0)),
    CONSTRAINT conversations_contextsnapshot_first_token_ms_check CHECK ((first_token_ms >= 0)),
    CONSTRAINT conversations_contextsnapshot_hard_cap_check CHECK ((hard_cap >= 0)),
    CONSTRAINT conversations_contextsnapshot_max_tokens_check CHECK ((max_tokens >= 0)),
    CONSTRAINT conversations_contextsnapshot_message_history_count_check CHECK ((message_history_count >= 0)),
    CONSTRAINT conversations_contextsnapshot_message_history_tokens_check CHECK ((message_history_tokens >= 0)),
    CONSTRAINT conversations_contextsnapshot_open_threads_count_check CHECK ((open_threads_count >= 0)),
    CONSTRAINT conversations_contextsnapshot_quoting_check CHECK ((quoting >= 0)),
    CONSTRAINT conversations_contextsnapshot_round_check CHECK ((round >= 0)),
    CONSTRAINT conversations_contextsnapshot_rules_check CHECK ((rules >= 0)),
    CONSTRAINT conversations_contextsnapshot_thinking_ms_check CHECK ((thinking_ms >= 0)),
    CONSTRAINT conversations_contextsnapshot_total_tokens_check CHECK ((total_tokens >= 0)),
    CONSTRAINT snapshot_status_known CHECK ((status IN ('pending', 'completed', 'failed', 'stopped', 'interrupted')))
)
PARTITION BY RANGE (id);
CREATE TABLE public.conversations_contextsnapshot_first (
    id uuid CONSTRAINT conversations_contextsnapshot_id_not_null NOT NULL,
    purpose character varying(13) CONSTRAINT conversations_contextsnapshot_purpose_not_null NOT NULL,
    round smallint CONSTRAINT conversations_contextsnapshot_round_not_null NOT NULL,
    created_at timestamp with time zone CONSTRAINT conversations_contextsnapshot_created_at_not_null NOT NULL,
    provider character varying(40) CONSTRAINT conversations_contextsnapshot_provider_not_null NOT NULL,
    model character varying(80) CONSTRAINT conversations_contextsnapshot_model_not_null NOT NULL,
    max_tokens integer CONSTRAINT conversations_contextsnapshot_max_tokens_not_null NOT NULL,
    thinking character varying(60) DEFAULT ''::character varying CONSTRAINT conversations_contextsnapshot_thinking_not_null NOT NULL,
    fallback_for character varying(80) DEFAULT ''::character varying CONSTRAINT conversations_contextsnapshot_fallback_for_not_null NOT NULL,
    digest bytea CONSTRAINT conversations_contextsnapshot_digest_not_null NOT NULL,
    budget integer CONSTRAINT conversations_contextsnapshot_budget_not_null NOT NULL,
    hard_cap integer CONSTRAINT conversations_contextsnapshot_hard_cap_not_null NOT NULL,
    total_tokens integer CONSTRAINT conversations_contextsnapshot_total_tokens_not_null NOT NULL,
    token_factor double precision DEFAULT 1.0 CONSTRAINT conversations_contextsnapshot_token_factor_not_null NOT NULL,
    message_history_count integer CONSTRAINT conversations_contextsnapshot_message_history_count_not_null NOT NULL,
    message_history_tokens integer CONSTRAINT conversations_contextsnapshot_message_history_tokens_not_null NOT NULL,
    today_summary_present boolean CONSTRAINT conversations_contextsnapshot_today_summary_present_not_null NOT NULL,
    open_threads_count smallint CONSTRAINT conversations_contextsnapshot_open_threads_count_not_null NOT NULL,
    last_conversation_present boolean CONSTRAINT conversations_contextsnapsho_last_conversation_present_not_null NOT NULL,
    sections text CONSTRAINT conversations_contextsnapshot_sections_not_null NOT NULL,
    runs text CONSTRAINT conversations_contextsnapshot_runs_not_null NOT NULL,
    additions text CONSTRAINT conversations_contextsnapshot_additions_not_null NOT NULL,
    cache text CONSTRAINT conversations_contextsnapshot_cache_not_null NOT NULL,
    timings_ms text CONSTRAINT conversations_contextsnapshot_timings_ms_not_null NOT NULL,
    items bytea,
    rewriting character varying(10) CONSTRAINT conversations_contextsnapshot_rewriting_not_null NOT NULL,
    recalled jsonb,
    problems jsonb,
    status character varying(11) CONSTRAINT conversations_contextsnapshot_status_not_null NOT NULL,
    stop_reason character varying(60) CONSTRAINT conversations_contextsnapshot_stop_reason_not_null NOT NULL,
    provider_request_id character varying(100) CONSTRAINT conversations_contextsnapshot_provider_request_id_not_null NOT NULL,
    provider_message_id character varying(100) CONSTRAINT conversations_contextsnapshot_provider_message_id_not_null NOT NULL,
    diagnostics jsonb,
    usage jsonb CONSTRAINT conversations_contextsnapshot_usage_not_null NOT NULL,
    error jsonb,
    stop_details jsonb,
    thinking_ms integer,
    first_token_ms integer,
    ended_at timestamp with time zone,
    message_id uuid,
    reply_id uuid,
    thread_id uuid CONSTRAINT conversations_contextsnapshot_thread_id_not_null NOT NULL,
    fallback_cause character varying(40) DEFAULT ''::character varying CONSTRAINT conversations_contextsnapshot_fallback_cause_not_null NOT NULL,
    budget_origin character varying(100) DEFAULT ''::character varying CONSTRAINT conversations_contextsnapshot_budget_origin_not_null NOT NULL,
    counts text DEFAULT ''::text CONSTRAINT conversations_contextsnapshot_counts_not_null NOT NULL,
    files jsonb,
    user_id integer CONSTRAINT conversations_contextsnapshot_user_id_not_null NOT NULL,
    quoting smallint,
    scope jsonb,
    rules smallint,
    version_id bigint,
    CONSTRAINT conversations_contextsnapshot_budget_check CHECK ((budget >= 0)),
    CONSTRAINT conversations_contextsnapshot_first_token_ms_check CHECK ((first_token_ms >= 0)),
    CONSTRAINT conversations_contextsnapshot_hard_cap_check CHECK ((hard_cap >= 0)),
    CONSTRAINT conversations_contextsnapshot_max_tokens_check CHECK ((max_tokens >= 0)),
    CONSTRAINT conversations_contextsnapshot_message_history_count_check CHECK ((message_history_count >= 0)),
    CONSTRAINT conversations_contextsnapshot_message_history_tokens_check CHECK ((message_history_tokens >= 0)),
    CONSTRAINT conversations_contextsnapshot_open_threads_count_check CHECK ((open_threads_count >= 0)),
    CONSTRAINT conversations_contextsnapshot_quoting_check CHECK ((quoting >= 0)),
    CONSTRAINT conversations_contextsnapshot_round_check CHECK ((round >= 0)),
    CONSTRAINT conversations_contextsnapshot_rules_check CHECK ((rules >= 0)),
    CONSTRAINT conversations_contextsnapshot_thinking_ms_check CHECK ((thinking_ms >= 0)),
    CONSTRAINT conversations_contextsnapshot_total_tokens_check CHECK ((total_tokens >= 0)),
    CONSTRAINT snapshot_status_known CHECK ((status IN ('pending', 'completed', 'failed', 'stopped', 'interrupted')))
);
CREATE TABLE public.conversations_contextsnapshot_rest (
    id uuid CONSTRAINT conversations_contextsnapshot_id_not_null NOT NULL,
    purpose character varying(13) CONSTRAINT conversations_contextsnapshot_purpose_not_null NOT NULL,
    round smallint CONSTRAINT conversations_contextsnapshot_round_not_null NOT NULL,
    created_at timestamp with time zone CONSTRAINT conversations_contextsnapshot_created_at_not_null NOT NULL,
    provider character varying(40) CONSTRAINT conversations_contextsnapshot_provider_not_null NOT NULL,
    model character varying(80) CONSTRAINT conversations_contextsnapshot_model_not_null NOT NULL,
    max_tokens integer CONSTRAINT conversations_contextsnapshot_max_tokens_not_null NOT NULL,
    thinking character varying(60) DEFAULT ''::character varying CONSTRAINT conversations_contextsnapshot_thinking_not_null NOT NULL,
    fallback_for character varying(80) DEFAULT ''::character varying CONSTRAINT conversations_contextsnapshot_fallback_for_not_null NOT NULL,
    digest bytea CONSTRAINT conversations_contextsnapshot_digest_not_null NOT NULL,
    budget integer CONSTRAINT conversations_contextsnapshot_budget_not_null NOT NULL,
    hard_cap integer CONSTRAINT conversations_contextsnapshot_hard_cap_not_null NOT NULL,
    total_tokens integer CONSTRAINT conversations_contextsnapshot_total_tokens_not_null NOT NULL,
    token_factor double precision DEFAULT 1.0 CONSTRAINT conversations_contextsnapshot_token_factor_not_null NOT NULL,
    message_history_count integer CONSTRAINT conversations_contextsnapshot_message_history_count_not_null NOT NULL,
    message_history_tokens integer CONSTRAINT conversations_contextsnapshot_message_history_tokens_not_null NOT NULL,
    today_summary_present boolean CONSTRAINT conversations_contextsnapshot_today_summary_present_not_null NOT NULL,
    open_threads_count smallint CONSTRAINT conversations_contextsnapshot_open_threads_count_not_null NOT NULL,
    last_conversation_present boolean CONSTRAINT conversations_contextsnapsho_last_conversation_present_not_null NOT NULL,
    sections text CONSTRAINT conversations_contextsnapshot_sections_not_null NOT NULL,
    runs text CONSTRAINT conversations_contextsnapshot_runs_not_null NOT NULL,
    additions text CONSTRAINT conversations_contextsnapshot_additions_not_null NOT NULL,
    cache text CONSTRAINT conversations_contextsnapshot_cache_not_null NOT NULL,
    timings_ms text CONSTRAINT conversations_contextsnapshot_timings_ms_not_null NOT NULL,
    items bytea,
    rewriting character varying(10) CONSTRAINT conversations_contextsnapshot_rewriting_not_null NOT NULL,
    recalled jsonb,
    problems jsonb,
    status character varying(11) CONSTRAINT conversations_contextsnapshot_status_not_null NOT NULL,
    stop_reason character varying(60) CONSTRAINT conversations_contextsnapshot_stop_reason_not_null NOT NULL,
    provider_request_id character varying(100) CONSTRAINT conversations_contextsnapshot_provider_request_id_not_null NOT NULL,
    provider_message_id character varying(100) CONSTRAINT conversations_contextsnapshot_provider_message_id_not_null NOT NULL,
    diagnostics jsonb,
    usage jsonb CONSTRAINT conversations_contextsnapshot_usage_not_null NOT NULL,
    error jsonb,
    stop_details jsonb,
    thinking_ms integer,
    first_token_ms integer,
    ended_at timestamp with time zone,
    message_id uuid,
    reply_id uuid,
    thread_id uuid CONSTRAINT conversations_contextsnapshot_thread_id_not_null NOT NULL,
    fallback_cause character varying(40) DEFAULT ''::character varying CONSTRAINT conversations_contextsnapshot_fallback_cause_not_null NOT NULL,
    budget_origin character varying(100) DEFAULT ''::character varying CONSTRAINT conversations_contextsnapshot_budget_origin_not_null NOT NULL,
    counts text DEFAULT ''::text CONSTRAINT conversations_contextsnapshot_counts_not_null NOT NULL,
    files jsonb,
    user_id integer CONSTRAINT conversations_contextsnapshot_user_id_not_null NOT NULL,
    quoting smallint,
    scope jsonb,
    rules smallint,
    version_id bigint,
    CONSTRAINT conversations_contextsnapshot_budget_check CHECK ((budget >= 0)),
    CONSTRAINT conversations_contextsnapshot_first_token_ms_check CHECK ((first_token_ms >= 0)),
    CONSTRAINT conversations_contextsnapshot_hard_cap_check CHECK ((hard_cap >= 0)),
    CONSTRAINT conversations_contextsnapshot_max_tokens_check CHECK ((max_tokens >= 0)),
    CONSTRAINT conversations_contextsnapshot_message_history_count_check CHECK ((message_history_count >= 0)),
    CONSTRAINT conversations_contextsnapshot_message_history_tokens_check CHECK ((message_history_tokens >= 0)),
    CONSTRAINT conversations_contextsnapshot_open_threads_count_check CHECK ((open_threads_count >= 0)),
    CONSTRAINT conversations_contextsnapshot_quoting_check CHECK ((quoting >= 0)),
    CONSTRAINT conversations_contextsnapshot_round_check CHECK ((round >= 0)),
    CONSTRAINT conversations_contextsnapshot_rules_check CHECK ((rules >= 0)),
    CONSTRAINT conversations_contextsnapshot_thinking_ms_check CHECK ((thinking_ms >= 0)),
    CONSTRAINT conversations_contextsnapshot_total_tokens_check CHECK ((total_tokens >= 0)),
    CONSTRAINT snapshot_status_known CHECK ((status IN ('pending', 'completed', 'failed', 'stopped', 'interrupted')))
);
CREATE TABLE public.conversations_dataset (
    id bigint NOT NULL,
    name character varying(100) NOT NULL,
    note text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    author_id integer
);
ALTER TABLE public.conversations_dataset ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.conversations_dataset_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.conversations_directorygroup (
    group_id integer NOT NULL,
    external_id character varying(255) NOT NULL,
    changed_at timestamp with time zone NOT NULL
);
CREATE TABLE public.conversations_directoryuser (
    user_id integer NOT NULL,
    external_id character varying(255) NOT NULL,
    display_name character varying(255) NOT NULL,
    emails jsonb NOT NULL,
    changed_at timestamp with time zone NOT NULL
);
CREATE TABLE public.conversations_experiment (
    id uuid NOT NULL,
    state character varying(9) NOT NULL,
    last uuid,
    problem character varying(200) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    versions integer[] NOT NULL,
    cases integer NOT NULL,
    author_id integer,
    dataset_id bigint NOT NULL,
    judge character varying(160) DEFAULT ''::character varying NOT NULL,
    model_names character varying(160)[] DEFAULT '{}'::character varying(160)[] NOT NULL,
    most_cost numeric(9,2),
    CONSTRAINT conversations_experiment_cases_check CHECK ((cases >= 0)),
    CONSTRAINT experiment_state_known CHECK ((state IN ('running', 'done', 'cancelled', 'failed')))
);
CREATE TABLE public.conversations_fallback (
    id bigint NOT NULL,
    "order" smallint NOT NULL,
    provider character varying(40) NOT NULL,
    model character varying(80) NOT NULL,
    assistant_id bigint NOT NULL,
    CONSTRAINT conversations_fallback_order_check CHECK (("order" >= 0))
);
ALTER TABLE public.conversations_fallback ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.conversations_fallback_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.conversations_feedback (
    id uuid NOT NULL,
    value smallint NOT NULL,
    reason character varying(8) NOT NULL,
    text text NOT NULL,
    shown_since timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    provider character varying(40) NOT NULL,
    model character varying(200) NOT NULL,
    state character varying(7) NOT NULL,
    notes text NOT NULL,
    assignee_id integer,
    assistant_id bigint NOT NULL,
    message_id uuid NOT NULL,
    request_id uuid,
    thread_id uuid NOT NULL,
    user_id integer NOT NULL,
    CONSTRAINT feedback_value_known CHECK ((value = ANY (ARRAY[1, '-1'::integer])))
);
CREATE TABLE public.conversations_file (
    id uuid NOT NULL,
    name character varying(200) NOT NULL,
    kind character varying(10) NOT NULL,
    media_type character varying(100) NOT NULL,
    size bigint NOT NULL,
    sha256 bytea NOT NULL,
    place character varying(100) NOT NULL,
    state character varying(7) NOT NULL,
    error jsonb,
    title character varying(200) NOT NULL,
    pages_total integer,
    pages_read integer NOT NULL,
    parts_read integer NOT NULL,
    token_count integer NOT NULL,
    attempt smallint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    thread_id uuid,
    user_id integer NOT NULL,
    thumbnail character varying(100) DEFAULT ''::character varying NOT NULL,
    thumbnail_size integer DEFAULT 0 NOT NULL,
    picture_bytes bigint DEFAULT 0 NOT NULL,
    thumbnail_failures smallint DEFAULT 0 NOT NULL,
    left_out jsonb DEFAULT '[]'::jsonb NOT NULL,
    project_id uuid,
    CONSTRAINT conversations_file_attempt_check CHECK ((attempt >= 0)),
    CONSTRAINT conversations_file_pages_read_check CHECK ((pages_read >= 0)),
    CONSTRAINT conversations_file_pages_total_check CHECK ((pages_total >= 0)),
    CONSTRAINT conversations_file_parts_read_check CHECK ((parts_read >= 0)),
    CONSTRAINT conversations_file_picture_bytes_check CHECK ((picture_bytes >= 0)),
    CONSTRAINT conversations_file_size_check CHECK ((size >= 0)),
    CONSTRAINT conversations_file_thumbnail_failures_check CHECK ((thumbnail_failures >= 0)),
    CONSTRAINT conversations_file_thumbnail_size_check CHECK ((thumbnail_size >= 0)),
    CONSTRAINT conversations_file_token_count_check CHECK ((token_count >= 0)),
    CONSTRAINT file_state_known CHECK ((((state)::text = 'reading'::text) OR ((state)::text = 'ready'::text) OR ((state)::text = 'failed'::text)))
);
CREATE TABLE public.conversations_filepart (
    id bigint NOT NULL,
    number integer NOT NULL,
    label character varying(200) NOT NULL,
    heading character varying(200) NOT NULL,
    page integer,
    text text NOT NULL,
    token_count integer NOT NULL,
    picture character varying(100) NOT NULL,
    width integer,
    height integer,
    file_id uuid NOT NULL,
    terms integer[] NOT NULL,
    user_id integer NOT NULL,
    CONSTRAINT conversations_filepart_height_check CHECK ((height >= 0)),
    CONSTRAINT conversations_filepart_number_check CHECK ((number >= 0)),
    CONSTRAINT conversations_filepart_page_check CHECK ((page >= 0)),
    CONSTRAINT conversations_filepart_token_count_check CHECK ((token_count >= 0)),
    CONSTRAINT conversations_filepart_width_check CHECK ((width >= 0))
);
ALTER TABLE public.conversations_filepart ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.conversations_filepart_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.conversations_givenright (
    id bigint NOT NULL,
    group_id integer NOT NULL,
    permission_id integer NOT NULL
);
ALTER TABLE public.conversations_givenright ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.conversations_givenright_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.conversations_groupaccess (
    id bigint NOT NULL,
    assistants character varying(50)[] NOT NULL,
    models character varying(121)[] NOT NULL,
    connections character varying(40)[] NOT NULL,
    tools character varying(40)[] NOT NULL,
    group_id integer NOT NULL,
    export boolean DEFAULT true NOT NULL,
    sharing boolean DEFAULT true NOT NULL,
    temporary_chats boolean DEFAULT true NOT NULL,
    uploads boolean DEFAULT true NOT NULL
);
ALTER TABLE public.conversations_groupaccess ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.conversations_groupaccess_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.conversations_groupmanager (
    id bigint NOT NULL,
    group_id integer NOT NULL,
    user_id integer NOT NULL
);
ALTER TABLE public.conversations_groupmanager ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.conversations_groupmanager_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.conversations_groupsignin (
    group_id integer NOT NULL,
    requires_second_factor boolean NOT NULL,
    session_hours integer,
    session_idle_minutes integer,
    CONSTRAINT conversations_groupsignin_session_hours_check CHECK ((session_hours >= 0)),
    CONSTRAINT conversations_groupsignin_session_idle_minutes_check CHECK ((session_idle_minutes >= 0))
);
CREATE TABLE public.conversations_heldrow (
    id bigint NOT NULL,
    project_id uuid,
    thread_id uuid,
    kind character varying(60) NOT NULL,
    row_id character varying(40) NOT NULL,
    data jsonb NOT NULL,
    digest bytea NOT NULL,
    place character varying(100) NOT NULL,
    held_at timestamp with time zone NOT NULL,
    user_id integer NOT NULL
);
ALTER TABLE public.conversations_heldrow ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.conversations_heldrow_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.conversations_instructions (
    id uuid NOT NULL,
    about text NOT NULL,
    style text NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    user_id integer NOT NULL
);
CREATE TABLE public.conversations_invitation (
    id uuid NOT NULL,
    digest bytea NOT NULL,
    email character varying(254) NOT NULL,
    most_uses integer NOT NULL,
    uses integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    made_by_id integer NOT NULL,
    CONSTRAINT conversations_invitation_most_uses_check CHECK ((most_uses >= 0)),
    CONSTRAINT conversations_invitation_uses_check CHECK ((uses >= 0))
);
CREATE TABLE public.conversations_invitationgroup (
    id bigint NOT NULL,
    group_id integer NOT NULL,
    invitation_id uuid NOT NULL
);
ALTER TABLE public.conversations_invitationgroup ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.conversations_invitationgroup_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.conversations_invitationuse (
    id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    invitation_id uuid NOT NULL,
    user_id integer NOT NULL
);
ALTER TABLE public.conversations_invitationuse ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.conversations_invitationuse_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE UNLOGGED TABLE public.conversations_lease (
    name character varying(120) NOT NULL,
    holder uuid NOT NULL,
    lease_until timestamp with time zone NOT NULL
);
CREATE TABLE public.conversations_legalhold (
    id uuid NOT NULL,
    user_name character varying(150) NOT NULL,
    project_id uuid,
    subject character varying(100) NOT NULL,
    reason character varying(500) NOT NULL,
    tells_reason boolean NOT NULL,
    began_at timestamp with time zone NOT NULL,
    began_by character varying(150) NOT NULL,
    ended_at timestamp with time zone,
    ended_by character varying(150) NOT NULL,
    released_at timestamp with time zone,
    user_id integer NOT NULL,
    CONSTRAINT hold_ends_before_its_release CHECK (((released_at IS NULL) OR (ended_at IS NOT NULL)))
);
CREATE TABLE public.conversations_lintfinding (
    id uuid NOT NULL,
    rule character varying(40) NOT NULL,
    subject character varying(100) NOT NULL,
    state character varying(8) NOT NULL,
    reason character varying(300) NOT NULL,
    count bigint NOT NULL,
    tokens_month bigint NOT NULL,
    cost_month numeric(16,4),
    setting character varying(40) NOT NULL,
    details jsonb NOT NULL,
    first_seen_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    state_since timestamp with time zone NOT NULL,
    accepted_by_id integer,
    assistant_id bigint NOT NULL,
    example_id uuid,
    CONSTRAINT conversations_lintfinding_count_check CHECK ((count >= 0)),
    CONSTRAINT conversations_lintfinding_tokens_month_check CHECK ((tokens_month >= 0)),
    CONSTRAINT lint_finding_state_known CHECK ((state IN ('open', 'accepted', 'mended')))
);
CREATE TABLE public.conversations_maintenancerun (
    id uuid NOT NULL,
    kind character varying(7) NOT NULL,
    began_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    succeeded boolean,
    details jsonb NOT NULL,
    CONSTRAINT maintenance_ended_whole CHECK ((((ended_at IS NULL) AND (succeeded IS NULL)) OR ((ended_at IS NOT NULL) AND (succeeded IS NOT NULL))))
);
CREATE TABLE public.conversations_mcpcall (
    id uuid NOT NULL,
    call_id character varying(100) NOT NULL,
    tool_digest character varying(64) NOT NULL,
    input_digest character varying(64) NOT NULL,
    state character varying(8) NOT NULL,
    answer character varying(6) NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    ended_at timestamp with time zone,
    reply_id uuid NOT NULL,
    thread_id uuid NOT NULL,
    user_id integer NOT NULL,
    tool_id uuid NOT NULL
);
CREATE TABLE public.conversations_mcpserver (
    id uuid NOT NULL,
    name character varying(24) NOT NULL,
    url character varying(500) NOT NULL,
    for_all boolean NOT NULL,
    header character varying(60) NOT NULL,
    secret bytea NOT NULL,
    is_active boolean NOT NULL,
    fetched_at timestamp with time zone,
    problem character varying(200) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    user_id integer NOT NULL,
    signs_in boolean DEFAULT false NOT NULL
);
CREATE TABLE public.conversations_mcpsignin (
    id uuid NOT NULL,
    issuer character varying(500) NOT NULL,
    pending bytea NOT NULL,
    pending_at timestamp with time zone,
    "grant" bytea NOT NULL,
    expires_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    updated_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    server_id uuid NOT NULL,
    user_id integer NOT NULL,
    renewing_until timestamp with time zone
);
CREATE TABLE public.conversations_mcptool (
    id uuid NOT NULL,
    name character varying(64) NOT NULL,
    description character varying(2000) NOT NULL,
    schema jsonb NOT NULL,
    read_only boolean NOT NULL,
    digest character varying(64) NOT NULL,
    allowed character varying(64) NOT NULL,
    server_id uuid NOT NULL
);
CREATE TABLE public.conversations_message (
    id uuid NOT NULL,
    "position" integer NOT NULL,
    depth integer NOT NULL,
    role character varying(9) NOT NULL,
    content jsonb,
    text text NOT NULL,
    status character varying(11) NOT NULL,
    offline boolean DEFAULT false NOT NULL,
    token_count integer NOT NULL,
    token_total bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    forgotten_at timestamp with time zone,
    client_message_id character varying(100),
    is_active boolean NOT NULL,
    parent_id uuid,
    reply_id uuid,
    thread_id uuid NOT NULL,
    citations jsonb,
    user_id integer NOT NULL,
    model character varying(200) DEFAULT ''::character varying NOT NULL,
    CONSTRAINT conversations_message_depth_check CHECK ((depth >= 0)),
    CONSTRAINT conversations_message_position_check CHECK (("position" >= 0)),
    CONSTRAINT conversations_message_token_count_check CHECK ((token_count >= 0)),
    CONSTRAINT conversations_message_token_total_check CHECK ((token_total >= 0)),
    CONSTRAINT message_has_a_block CHECK ((((content -> 0) IS NOT NULL) OR ((content IS NULL) AND (NOT (text = ''::text))))),
    CONSTRAINT message_position_counts_from_one CHECK ((("position" >= 1) AND (depth >= 1) AND (depth <= "position"))),
    CONSTRAINT message_role_known CHECK ((role IN ('user', 'assistant'))),
    CONSTRAINT message_total_holds_count CHECK ((token_total >= token_count))
);
CREATE TABLE public.conversations_model (
    id bigint NOT NULL,
    provider character varying(40) NOT NULL,
    name character varying(80) NOT NULL,
    label character varying(80) NOT NULL,
    context_window integer NOT NULL,
    max_output integer NOT NULL,
    thinking character varying(8) NOT NULL,
    thinks_unasked boolean NOT NULL,
    thinking_off character varying(13) NOT NULL,
    efforts character varying(6)[] NOT NULL,
    default_effort character varying(6) NOT NULL,
    takes_tools boolean NOT NULL,
    takes_images boolean NOT NULL,
    cacheable_from integer,
    token_factor double precision NOT NULL,
    small_model character varying(80) NOT NULL,
    is_active boolean NOT NULL,
    "order" smallint NOT NULL,
    system_prompt text NOT NULL,
    uses_memory boolean NOT NULL,
    CONSTRAINT conversations_model_cacheable_from_check CHECK ((cacheable_from >= 0)),
    CONSTRAINT conversations_model_context_window_check CHECK ((context_window >= 0)),
    CONSTRAINT conversations_model_max_output_check CHECK ((max_output >= 0)),
    CONSTRAINT conversations_model_order_check CHECK (("order" >= 0)),
    CONSTRAINT model_factor_positive CHECK ((token_factor > (0.0)::double precision))
);
ALTER TABLE public.conversations_model ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.conversations_model_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.conversations_modelprice (
    id bigint NOT NULL,
    since date,
    above integer NOT NULL,
    input numeric(10,4) NOT NULL,
    output numeric(10,4) NOT NULL,
    cache_write numeric(10,4) NOT NULL,
    cache_write_hour numeric(10,4) NOT NULL,
    cache_read numeric(10,4) NOT NULL,
    model_id bigint NOT NULL,
    CONSTRAINT conversations_modelprice_above_check CHECK ((above >= 0))
);
ALTER TABLE public.conversations_modelprice ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.conversations_modelprice_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.conversations_moderationfinding (
    id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    stage character varying(7) NOT NULL,
    moderator character varying(80) NOT NULL,
    result character varying(7) NOT NULL,
    labels character varying(80)[] NOT NULL,
    problem character varying(200) NOT NULL,
    milliseconds integer NOT NULL,
    reply_id uuid NOT NULL,
    thread_id uuid NOT NULL,
    user_id integer NOT NULL,
    CONSTRAINT conversations_moderationfinding_milliseconds_check CHECK ((milliseconds >= 0))
);
CREATE TABLE public.conversations_moderator (
    id bigint NOT NULL,
    name character varying(80) NOT NULL,
    kind character varying(10) NOT NULL,
    is_active boolean NOT NULL,
    "order" smallint NOT NULL,
    examines_messages boolean NOT NULL,
    examines_replies boolean NOT NULL,
    action character varying(6) NOT NULL,
    words character varying(300) NOT NULL,
    when_failing character varying(6) NOT NULL,
    patterns text NOT NULL,
    provider character varying(40) NOT NULL,
    model character varying(80) NOT NULL,
    url character varying(300) NOT NULL,
    seconds double precision NOT NULL,
    sees_pictures boolean DEFAULT false NOT NULL,
    CONSTRAINT conversations_moderator_order_check CHECK (("order" >= 0))
);
ALTER TABLE public.conversations_moderator ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.conversations_moderator_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.conversations_notice (
    id bigint NOT NULL,
    title character varying(120) NOT NULL,
    text text NOT NULL,
    version integer,
    published_at timestamp with time zone,
    withdrawn_at timestamp with time zone,
    CONSTRAINT conversations_notice_version_check CHECK ((version >= 0)),
    CONSTRAINT notice_published_whole CHECK ((((published_at IS NULL) AND (version IS NULL) AND (withdrawn_at IS NULL)) OR ((published_at IS NOT NULL) AND (version IS NOT NULL))))
);
ALTER TABLE public.conversations_notice ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.conversations_notice_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.conversations_noticeacceptance (
    id bigint NOT NULL,
    version integer NOT NULL,
    at timestamp with time zone NOT NULL,
    user_id integer NOT NULL,
    CONSTRAINT conversations_noticeacceptance_version_check CHECK ((version >= 0))
);
ALTER TABLE public.conversations_noticeacceptance ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.conversations_noticeacceptance_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.conversations_outgoingmail (
    id uuid NOT NULL,
    kind character varying(40) NOT NULL,
    recipient character varying(254) NOT NULL,
    language character varying(10) NOT NULL,
    content bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone,
    attempts smallint NOT NULL,
    problem character varying(100) NOT NULL,
    user_id integer,
    CONSTRAINT conversations_outgoingmail_attempts_check CHECK ((attempts >= 0))
);
CREATE TABLE public.conversations_project (
    id uuid NOT NULL,
    name character varying(100) NOT NULL,
    colour character varying(6) NOT NULL,
    instructions text NOT NULL,
    model character varying(121) NOT NULL,
    presets character varying(50)[] NOT NULL,
    uses_outside_memory boolean NOT NULL,
    shares_memory boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    assistant_id bigint,
    user_id integer NOT NULL,
    CONSTRAINT project_has_a_name CHECK ((NOT ((name)::text = ''::text)))
);
CREATE TABLE public.conversations_prompt (
    id uuid NOT NULL,
    name character varying(100) NOT NULL,
    text text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    user_id integer NOT NULL,
    CONSTRAINT prompt_says_something CHECK (((NOT ((name)::text = ''::text)) AND (NOT (text = ''::text))))
);
CREATE TABLE public.conversations_quotation (
    id bigint NOT NULL,
    source uuid NOT NULL,
    reply_id uuid NOT NULL,
    user_id integer NOT NULL
);
ALTER TABLE public.conversations_quotation ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.conversations_quotation_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.conversations_replay (
    id uuid NOT NULL,
    since timestamp with time zone NOT NULL,
    sample integer,
    conditions character varying(80)[] NOT NULL,
    state character varying(9) NOT NULL,
    requests integer NOT NULL,
    figures jsonb NOT NULL,
    last uuid,
    problem character varying(200) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    assistant_id bigint NOT NULL,
    author_id integer,
    version_id bigint,
    rule character varying(20) DEFAULT ''::character varying NOT NULL,
    CONSTRAINT conversations_replay_requests_check CHECK ((requests >= 0)),
    CONSTRAINT conversations_replay_sample_check CHECK ((sample >= 0)),
    CONSTRAINT replay_state_known CHECK ((state IN ('running', 'done', 'cancelled', 'failed'))),
    CONSTRAINT replay_tries_one_thing CHECK ((((rule)::text = ''::text) OR (version_id IS NULL)))
);
CREATE TABLE public.conversations_reply (
    id uuid NOT NULL,
    preset character varying(50) NOT NULL,
    client_id character varying(100),
    request_id character varying(64),
    model character varying(80) DEFAULT ''::character varying NOT NULL,
    status character varying(11) NOT NULL,
    owner character varying(100) NOT NULL,
    lease_until timestamp with time zone NOT NULL,
    stop_requested_at timestamp with time zone,
    stop_reason character varying(60) NOT NULL,
    reserved integer NOT NULL,
    usage jsonb NOT NULL,
    error jsonb,
    created_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    continues_id uuid,
    token_id bigint,
    user_message_id uuid,
    thread_id uuid NOT NULL,
    user_id integer NOT NULL,
    suspected_at timestamp with time zone,
    spent bigint,
    CONSTRAINT conversations_reply_reserved_check CHECK ((reserved >= 0)),
    CONSTRAINT conversations_reply_spent_check CHECK ((spent >= 0)),
    CONSTRAINT reply_ended_or_running CHECK ((((ended_at IS NULL) AND ((status)::text = 'running'::text)) OR ((NOT ((status)::text = 'running'::text)) AND (ended_at IS NOT NULL)))),
    CONSTRAINT reply_status_known CHECK ((status IN ('running', 'completed', 'stopped', 'interrupted', 'failed'))),
    CONSTRAINT reply_to_turn_or_preset CHECK (((((preset)::text = ''::text) AND (user_message_id IS NOT NULL)) OR ((user_message_id IS NULL) AND (NOT ((preset)::text = ''::text)))))
);
CREATE TABLE public.conversations_replyevent (
    seq integer NOT NULL,
    type character varying(40) NOT NULL,
    data jsonb NOT NULL,
    at timestamp with time zone NOT NULL,
    reply_id uuid NOT NULL,
    user_id integer NOT NULL,
    CONSTRAINT conversations_replyevent_seq_check CHECK ((seq >= 0)),
    CONSTRAINT event_seq_counts_from_one CHECK ((seq >= 1))
)
PARTITION BY RANGE (reply_id);
CREATE TABLE public.conversations_replyevent_first (
    seq integer CONSTRAINT conversations_replyevent_seq_not_null NOT NULL,
    type character varying(40) CONSTRAINT conversations_replyevent_type_not_null NOT NULL,
    data jsonb CONSTRAINT conversations_replyevent_data_not_null NOT NULL,
    at timestamp with time zone CONSTRAINT conversations_replyevent_at_not_null NOT NULL,
    reply_id uuid CONSTRAINT conversations_replyevent_reply_id_not_null NOT NULL,
    user_id integer CONSTRAINT conversations_replyevent_user_id_not_null NOT NULL,
    CONSTRAINT conversations_replyevent_seq_check CHECK ((seq >= 0)),
    CONSTRAINT event_seq_counts_from_one CHECK ((seq >= 1))
);
CREATE TABLE public.conversations_replyevent_rest (
    seq integer CONSTRAINT conversations_replyevent_seq_not_null NOT NULL,
    type character varying(40) CONSTRAINT conversations_replyevent_type_not_null NOT NULL,
    data jsonb CONSTRAINT conversations_replyevent_data_not_null NOT NULL,
    at timestamp with time zone CONSTRAINT conversations_replyevent_at_not_null NOT NULL,
    reply_id uuid CONSTRAINT conversations_replyevent_reply_id_not_null NOT NULL,
    user_id integer CONSTRAINT conversations_replyevent_user_id_not_null NOT NULL,
    CONSTRAINT conversations_replyevent_seq_check CHECK ((seq >= 0)),
    CONSTRAINT event_seq_counts_from_one CHECK ((seq >= 1))
);
CREATE TABLE public.conversations_requesthour (
    id bigint NOT NULL,
    hour timestamp with time zone NOT NULL,
    provider character varying(40) NOT NULL,
    model character varying(80) NOT NULL,
    above integer NOT NULL,
    figures jsonb NOT NULL,
    assistant_id bigint NOT NULL,
    CONSTRAINT conversations_requesthour_above_check CHECK ((above >= 0))
);
ALTER TABLE public.conversations_requesthour ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.conversations_requesthour_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.conversations_retentionrule (
    id bigint NOT NULL,
    kind character varying(9) NOT NULL,
    days integer NOT NULL,
    note character varying(300) NOT NULL,
    group_id integer,
    project_id uuid,
    CONSTRAINT conversations_retentionrule_days_check CHECK ((days >= 0)),
    CONSTRAINT retention_rule_days CHECK ((days <= 99999)),
    CONSTRAINT retention_rule_for_one CHECK (((group_id IS NULL) OR (project_id IS NULL))),
    CONSTRAINT retention_rule_of_whole_tables CHECK (((NOT (kind IN ('accesses', 'events'))) OR ((group_id IS NULL) AND (project_id IS NULL))))
);
ALTER TABLE public.conversations_retentionrule ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.conversations_retentionrule_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.conversations_schedule (
    id uuid NOT NULL,
    assistant character varying(50) NOT NULL,
    content text NOT NULL,
    at timestamp with time zone,
    days smallint[] NOT NULL,
    "time" time without time zone,
    time_zone character varying(64) NOT NULL,
    next_at timestamp with time zone,
    rests_until timestamp with time zone,
    paused boolean NOT NULL,
    last_due_at timestamp with time zone,
    last_sent_at timestamp with time zone,
    last_reply uuid,
    last_error character varying(50) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    thread_id uuid,
    token_id bigint,
    user_id integer NOT NULL,
    CONSTRAINT schedule_once_or_on_days CHECK ((((at IS NOT NULL) AND (days = '{}'::smallint[]) AND ("time" IS NULL)) OR ((at IS NULL) AND (days <@ ARRAY[(1)::smallint, (2)::smallint, (3)::smallint, (4)::smallint, (5)::smallint, (6)::smallint, (7)::smallint]) AND (
CASE
    WHEN (days IS NULL) THEN NULL::integer
    ELSE COALESCE(array_length(days, 1), 0)
END > 0) AND ("time" IS NOT NULL)))),
    CONSTRAINT schedule_says_something CHECK ((NOT (content = ''::text)))
);
CREATE TABLE public.conversations_serviceaccount (
    user_id integer NOT NULL,
    purpose character varying(200) NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.conversations_share (
    id uuid NOT NULL,
    version integer,
    digest bytea NOT NULL,
    token bytea NOT NULL,
    shows_book boolean NOT NULL,
    shows_files boolean NOT NULL,
    shows_names boolean NOT NULL,
    shows_title boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    views integer NOT NULL,
    artifact_id uuid,
    message_id uuid,
    thread_id uuid NOT NULL,
    user_id integer NOT NULL,
    CONSTRAINT conversations_share_version_check CHECK ((version >= 0)),
    CONSTRAINT conversations_share_views_check CHECK ((views >= 0)),
    CONSTRAINT share_of_a_turn_or_an_artifact CHECK ((((artifact_id IS NULL) AND (message_id IS NOT NULL)) OR ((artifact_id IS NOT NULL) AND (message_id IS NULL)))),
    CONSTRAINT share_version_of_an_artifact CHECK (((version IS NULL) OR (artifact_id IS NOT NULL)))
);
CREATE TABLE public.conversations_sharedprompt (
    id uuid NOT NULL,
    name character varying(100) NOT NULL,
    text text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    is_active boolean NOT NULL,
    CONSTRAINT shared_prompt_says_something CHECK (((NOT ((name)::text = ''::text)) AND (NOT (text = ''::text))))
);
CREATE TABLE public.conversations_temporaryhour (
    id bigint NOT NULL,
    hour timestamp with time zone NOT NULL,
    provider character varying(40) NOT NULL,
    model character varying(80) NOT NULL,
    above integer NOT NULL,
    figures jsonb NOT NULL,
    assistant_id bigint NOT NULL,
    CONSTRAINT conversations_temporaryhour_above_check CHECK ((above >= 0))
);
ALTER TABLE public.conversations_temporaryhour ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.conversations_temporaryhour_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.conversations_thread (
    id uuid NOT NULL,
    title character varying(200) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    session_started_at timestamp with time zone,
    away_since timestamp with time zone,
    message_count integer NOT NULL,
    last_position integer NOT NULL,
    cleared_at timestamp with time zone,
    cleared_through integer DEFAULT 0 NOT NULL,
    remembers boolean NOT NULL,
    opened_by character varying(100),
    assistant_id bigint NOT NULL,
    user_id integer NOT NULL,
    model character varying(121) DEFAULT ''::character varying NOT NULL,
    instructions text DEFAULT ''::text NOT NULL,
    uses_account_instructions boolean DEFAULT true NOT NULL,
    project_id uuid,
    archived boolean DEFAULT false NOT NULL,
    pinned boolean DEFAULT false NOT NULL,
    tags character varying(40)[] DEFAULT '{}'::character varying(40)[] NOT NULL,
    path_version integer DEFAULT 0 NOT NULL,
    forked_from_id uuid,
    forked_at uuid,
    left_at timestamp with time zone,
    temporary boolean DEFAULT false NOT NULL,
    title_through integer,
    CONSTRAINT conversations_thread_cleared_through_check CHECK ((cleared_through >= 0)),
    CONSTRAINT conversations_thread_last_position_check CHECK ((last_position >= 0)),
    CONSTRAINT conversations_thread_message_count_check CHECK ((message_count >= 0)),
    CONSTRAINT conversations_thread_path_version_check CHECK ((path_version >= 0)),
    CONSTRAINT conversations_thread_title_through_check CHECK ((title_through >= 0)),
    CONSTRAINT thread_count_sane CHECK ((message_count <= last_position))
);
CREATE TABLE public.conversations_tokencount (
    id bigint NOT NULL,
    "position" integer NOT NULL,
    provider character varying(40) NOT NULL,
    model character varying(80) NOT NULL,
    tokens integer NOT NULL,
    thread_id uuid NOT NULL,
    user_id integer NOT NULL,
    CONSTRAINT conversations_tokencount_position_check CHECK (("position" >= 0)),
    CONSTRAINT conversations_tokencount_tokens_check CHECK ((tokens >= 0))
);
ALTER TABLE public.conversations_tokencount ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.conversations_tokencount_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.conversations_tokenfactor (
    id bigint NOT NULL,
    provider character varying(40) NOT NULL,
    model character varying(80) NOT NULL,
    value double precision NOT NULL,
    samples integer NOT NULL,
    learnt_at timestamp with time zone NOT NULL,
    CONSTRAINT conversations_tokenfactor_samples_check CHECK ((samples >= 0))
);
ALTER TABLE public.conversations_tokenfactor ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.conversations_tokenfactor_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.conversations_tokenreservation (
    id bigint NOT NULL,
    purpose character varying(10) NOT NULL,
    reserved bigint NOT NULL,
    spent bigint,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    user_id integer NOT NULL,
    CONSTRAINT conversations_tokenreservation_reserved_check CHECK ((reserved >= 0)),
    CONSTRAINT conversations_tokenreservation_spent_check CHECK ((spent >= 0))
);
ALTER TABLE public.conversations_tokenreservation ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.conversations_tokenreservation_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.conversations_turnfile (
    id bigint NOT NULL,
    "position" integer NOT NULL,
    place smallint NOT NULL,
    numbers integer[] NOT NULL,
    outlined boolean NOT NULL,
    file_id uuid NOT NULL,
    thread_id uuid NOT NULL,
    user_id integer NOT NULL,
    CONSTRAINT conversations_turnfile_place_check CHECK ((place >= 0)),
    CONSTRAINT conversations_turnfile_position_check CHECK (("position" >= 0))
);
ALTER TABLE public.conversations_turnfile ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.conversations_turnfile_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.conversations_userlimits (
    id bigint NOT NULL,
    requests_minute integer,
    running_replies integer,
    tokens_day bigint,
    user_id integer NOT NULL,
    files_mb integer,
    CONSTRAINT conversations_userlimits_files_mb_check CHECK ((files_mb >= 0)),
    CONSTRAINT conversations_userlimits_requests_minute_check CHECK ((requests_minute >= 0)),
    CONSTRAINT conversations_userlimits_running_replies_check CHECK ((running_replies >= 0)),
    CONSTRAINT conversations_userlimits_tokens_day_check CHECK ((tokens_day >= 0))
);
ALTER TABLE public.conversations_userlimits ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.conversations_userlimits_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.conversations_webhook (
    id uuid NOT NULL,
    name character varying(80) NOT NULL,
    url character varying(500) NOT NULL,
    events character varying(40)[] NOT NULL,
    for_all boolean NOT NULL,
    secret bytea NOT NULL,
    former_secret bytea NOT NULL,
    former_until timestamp with time zone,
    is_active boolean NOT NULL,
    disabled_because character varying(10) NOT NULL,
    failures integer NOT NULL,
    failing_since timestamp with time zone,
    rests_until timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    user_id integer NOT NULL,
    CONSTRAINT conversations_webhook_failures_check CHECK ((failures >= 0)),
    CONSTRAINT webhook_events_known CHECK (((events <@ ARRAY['reply.finished'::character varying(40), 'reply.failed'::character varying(40), 'artifact.created'::character varying(40), 'file.read'::character varying(40), 'feedback.given'::character varying(40), 'limit.reached'::character varying(40), 'memory.changed'::character varying(40), 'content.accessed'::character varying(40)]) AND (
CASE
    WHEN (events IS NULL) THEN NULL::integer
    ELSE COALESCE(array_length(events, 1), 0)
END > 0)))
);
CREATE TABLE public.conversations_webhookdelivery (
    id uuid NOT NULL,
    event character varying(40) NOT NULL,
    data jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    due_at timestamp with time zone,
    attempts smallint DEFAULT 0 NOT NULL,
    attempted_at timestamp with time zone,
    delivered_at timestamp with time zone,
    status_code smallint,
    answer character varying(500) DEFAULT ''::character varying NOT NULL,
    problem character varying(200) DEFAULT ''::character varying NOT NULL,
    milliseconds integer,
    user_id integer,
    webhook_id uuid NOT NULL,
    CONSTRAINT conversations_webhookdelivery_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT conversations_webhookdelivery_milliseconds_check CHECK ((milliseconds >= 0)),
    CONSTRAINT conversations_webhookdelivery_status_code_check CHECK ((status_code >= 0))
);
CREATE TABLE public.django_admin_log (
    id integer NOT NULL,
    action_time timestamp with time zone NOT NULL,
    object_id text,
    object_repr character varying(200) NOT NULL,
    action_flag smallint NOT NULL,
    change_message text NOT NULL,
    content_type_id integer,
    user_id integer NOT NULL,
    CONSTRAINT django_admin_log_action_flag_check CHECK ((action_flag >= 0))
);
ALTER TABLE public.django_admin_log ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.django_admin_log_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.django_content_type (
    id integer NOT NULL,
    app_label character varying(100) NOT NULL,
    model character varying(100) NOT NULL
);
ALTER TABLE public.django_content_type ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.django_content_type_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.django_migrations (
    id bigint NOT NULL,
    app character varying(255) NOT NULL,
    name character varying(255) NOT NULL,
    applied timestamp with time zone NOT NULL
);
ALTER TABLE public.django_migrations ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.django_migrations_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.django_session (
    session_key character varying(40) NOT NULL,
    session_data text NOT NULL,
    expire_date timestamp with time zone NOT NULL
);
CREATE TABLE public.django_tasks_database_dbtaskresult (
    id uuid NOT NULL,
    status character varying(10) NOT NULL,
    args_kwargs jsonb NOT NULL,
    priority integer NOT NULL,
    task_path text NOT NULL,
    queue_name character varying(32) NOT NULL,
    backend_name character varying(32) NOT NULL,
    run_after timestamp with time zone NOT NULL,
    enqueued_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    started_at timestamp with time zone,
    return_value jsonb,
    exception_class_path text CONSTRAINT django_tasks_database_dbtaskresul_exception_class_path_not_null NOT NULL,
    traceback text NOT NULL,
    worker_ids jsonb NOT NULL,
    CONSTRAINT priority_range CHECK (((priority >= '-100'::integer) AND (priority <= 100)))
);
CREATE TABLE public.memory_consolidation (
    user_id integer NOT NULL,
    through timestamp with time zone,
    wanted_at timestamp with time zone,
    not_before timestamp with time zone,
    failures smallint NOT NULL,
    error character varying(200) NOT NULL,
    started_at timestamp with time zone,
    ended_at timestamp with time zone,
    parts_done integer NOT NULL,
    parts_to_do integer NOT NULL,
    limited_at timestamp with time zone,
    parts_limited integer DEFAULT 0 NOT NULL,
    CONSTRAINT memory_consolidation_failures_check CHECK ((failures >= 0)),
    CONSTRAINT memory_consolidation_parts_done_check CHECK ((parts_done >= 0)),
    CONSTRAINT memory_consolidation_parts_limited_check CHECK ((parts_limited >= 0)),
    CONSTRAINT memory_consolidation_parts_to_do_check CHECK ((parts_to_do >= 0))
);
CREATE TABLE public.memory_dailysummary (
    id uuid NOT NULL,
    day date NOT NULL,
    text text NOT NULL,
    key_moments jsonb NOT NULL,
    parts uuid[] NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    user_id integer NOT NULL,
    project_id uuid
);
CREATE TABLE public.memory_indexedpassage (
    depth integer NOT NULL,
    number smallint NOT NULL,
    "position" integer NOT NULL,
    start integer NOT NULL,
    size integer NOT NULL,
    day date NOT NULL,
    speaker integer NOT NULL,
    asks boolean NOT NULL,
    length integer NOT NULL,
    terms integer[] NOT NULL,
    thread_id uuid NOT NULL,
    user_id integer NOT NULL,
    CONSTRAINT memory_indexedpassage_depth_check CHECK ((depth >= 0)),
    CONSTRAINT memory_indexedpassage_length_check CHECK ((length >= 0)),
    CONSTRAINT memory_indexedpassage_number_check CHECK ((number >= 0)),
    CONSTRAINT memory_indexedpassage_position_check CHECK (("position" >= 0)),
    CONSTRAINT memory_indexedpassage_size_check CHECK ((size >= 0)),
    CONSTRAINT memory_indexedpassage_start_check CHECK ((start >= 0))
);
CREATE TABLE public.memory_memory (
    id uuid NOT NULL,
    content text NOT NULL,
    tags jsonb NOT NULL,
    origin character varying(12) NOT NULL,
    sources uuid[] NOT NULL,
    created_at timestamp with time zone NOT NULL,
    valid_from timestamp with time zone,
    valid_until timestamp with time zone,
    ended_at timestamp with time zone,
    superseded_by_id uuid,
    user_id integer NOT NULL,
    confined_to character varying(100) GENERATED ALWAYS AS ("left"(
CASE
    WHEN jsonb_path_exists(tags, '$[*]?(@ starts with "user:")'::jsonpath) THEN ''::text
    ELSE COALESCE((jsonb_path_query_first(tags, '$[*]?(@ like_regex "^project:[0-9a-f-]{36}$")'::jsonpath) #>> '{}'::text[]), (jsonb_path_query_first(tags, '$[*]?(@ starts with "thread:")'::jsonpath) #>> '{}'::text[]), ''::text)
END, 100)) STORED,
    said_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    settled_at timestamp with time zone,
    CONSTRAINT memory_origin_known CHECK ((origin IN ('conversation', 'hand', 'program'))),
    CONSTRAINT memory_superseded_has_ended CHECK (((superseded_by_id IS NULL) OR (ended_at IS NOT NULL)))
);
CREATE TABLE public.memory_mirroredmemory (
    memory_id uuid NOT NULL,
    user_id bigint NOT NULL,
    version bigint
);
CREATE TABLE public.memory_preferences (
    user_id integer NOT NULL,
    time_zone character varying(64) NOT NULL,
    remembers boolean NOT NULL,
    language character varying(10) DEFAULT ''::character varying NOT NULL
);
CREATE TABLE public.memory_staleindex (
    user_id integer NOT NULL,
    thread uuid,
    file uuid
);
CREATE TABLE public.memory_threadsummary (
    id uuid NOT NULL,
    first_position integer NOT NULL,
    last_position integer NOT NULL,
    text text NOT NULL,
    key_moments jsonb NOT NULL,
    sources uuid[] NOT NULL,
    started_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone NOT NULL,
    made_by character varying(80) NOT NULL,
    made_at timestamp with time zone NOT NULL,
    stale_since timestamp with time zone,
    thread_id uuid NOT NULL,
    user_id integer NOT NULL,
    CONSTRAINT memory_threadsummary_first_position_check CHECK ((first_position >= 0)),
    CONSTRAINT memory_threadsummary_last_position_check CHECK ((last_position >= 0)),
    CONSTRAINT thread_summary_from_first_to_last CHECK (((first_position >= 1) AND (first_position <= last_position)))
);
CREATE TABLE public.memory_topic (
    id uuid NOT NULL,
    title character varying(200) NOT NULL,
    sources uuid[] NOT NULL,
    opened_at timestamp with time zone NOT NULL,
    resolved_at timestamp with time zone,
    thread_id uuid,
    user_id integer NOT NULL
);
CREATE TABLE public.memory_vocabulary (
    user_id integer NOT NULL,
    turns integer NOT NULL,
    length bigint NOT NULL,
    counted_turns integer NOT NULL,
    common integer[] NOT NULL,
    shares integer[] NOT NULL,
    names integer[] NOT NULL,
    indexed_until timestamp with time zone,
    CONSTRAINT memory_vocabulary_counted_turns_check CHECK ((counted_turns >= 0)),
    CONSTRAINT memory_vocabulary_length_check CHECK ((length >= 0)),
    CONSTRAINT memory_vocabulary_turns_check CHECK ((turns >= 0))
);
CREATE TABLE public.mfa_authenticator (
    id bigint NOT NULL,
    type character varying(20) NOT NULL,
    data jsonb NOT NULL,
    user_id integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone
);
ALTER TABLE public.mfa_authenticator ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.mfa_authenticator_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.socialaccount_socialaccount (
    id integer NOT NULL,
    provider character varying(200) NOT NULL,
    uid character varying(191) NOT NULL,
    last_login timestamp with time zone NOT NULL,
    date_joined timestamp with time zone NOT NULL,
    extra_data jsonb NOT NULL,
    user_id integer NOT NULL
);
ALTER TABLE public.socialaccount_socialaccount ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.socialaccount_socialaccount_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.socialaccount_socialapp (
    id integer NOT NULL,
    provider character varying(30) NOT NULL,
    name character varying(40) NOT NULL,
    client_id character varying(191) NOT NULL,
    secret character varying(191) NOT NULL,
    key character varying(191) NOT NULL,
    provider_id character varying(200) NOT NULL,
    settings jsonb NOT NULL
);
ALTER TABLE public.socialaccount_socialapp ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.socialaccount_socialapp_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.socialaccount_socialtoken (
    id integer NOT NULL,
    token text NOT NULL,
    token_secret text NOT NULL,
    expires_at timestamp with time zone,
    account_id integer NOT NULL,
    app_id integer
);
ALTER TABLE public.socialaccount_socialtoken ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.socialaccount_socialtoken_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.usersessions_usersession (
    id bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    ip inet NOT NULL,
    last_seen_at timestamp with time zone NOT NULL,
    session_key character varying(40) NOT NULL,
    user_agent character varying(200) NOT NULL,
    data jsonb NOT NULL,
    user_id integer NOT NULL
);
ALTER TABLE public.usersessions_usersession ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.usersessions_usersession_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
ALTER TABLE ONLY public.conversations_contentaccess ATTACH PARTITION public.conversations_contentaccess_first FOR VALUES FROM (MINVALUE) TO ('{end of conversations_contentaccess_first}');
ALTER TABLE ONLY public.conversations_contentaccess ATTACH PARTITION public.conversations_contentaccess_rest DEFAULT;
ALTER TABLE ONLY public.conversations_contextsnapshot ATTACH PARTITION public.conversations_contextsnapshot_first FOR VALUES FROM (MINVALUE) TO ('{end of conversations_contextsnapshot_first}');
ALTER TABLE ONLY public.conversations_contextsnapshot ATTACH PARTITION public.conversations_contextsnapshot_rest DEFAULT;
ALTER TABLE ONLY public.conversations_replyevent ATTACH PARTITION public.conversations_replyevent_first FOR VALUES FROM (MINVALUE) TO ('{end of conversations_replyevent_first}');
ALTER TABLE ONLY public.conversations_replyevent ATTACH PARTITION public.conversations_replyevent_rest DEFAULT;




INSERT INTO public.artifacts_preset (id, slug, name, description, prompt, kind, language, is_active, "order") VALUES
	(1, 'brd', 'Business requirements', 'What is needed, why, for whom, and what is still open.', 'Write a business requirements document of what this conversation is about.

Structure
1. Summary: the need, for whom, and what changes when it is met, in at most five sentences.
2. Background and problem: what is the case today and why that is not enough.
3. Goals and measures of success: each goal with how one will see that it is reached; say so where no measure was named.
4. Stakeholders: who is concerned, and what each of them needs.
5. Scope: what is included, and what is expressly not.
6. Functional requirements: a table with the columns ID (FR-1, FR-2 …), Requirement, Reason, Priority. One requirement a row, each such that one can test whether it is met. Priority only where the conversation tells it, else "not set".
7. Quality requirements: a table of the same form (QR-1 …) for security, speed, accessibility, law and the like, as far as they were spoken of.
8. Constraints and dependencies.
9. Risks: each with its effect and what was proposed against it.
10. Assumptions.
11. Open questions.

Rules
- The conversation above is your only source. Never invent names, figures, dates, requirements or decisions, and never fill a gap with what is usual elsewhere.
- What was corrected or decided later in the conversation replaces what was said before.
- Keep three things apart: what was said, what you assume (under "Assumptions", each with its reason) and what is still open (under "Open questions", each with who could answer it, where that is known).
- Where the conversation says nothing about a section, keep the heading and write one line that says so.
- Write everything, headings too, in the language of the conversation, in plain and exact sentences, as Markdown.', 'document', '', true, 1),
	(2, 'user-stories', 'User stories', 'Stories with acceptance criteria that can be tested.', 'Write the user stories that follow from this conversation, with acceptance criteria.

Structure
1. Overview: a table with the columns ID (US-1, US-2 …), Story, Role, Priority. Priority only where the conversation tells it, else "not set".
2. For each story a section with its ID and a short name as heading:
   - "As a <role>, I want <what>, so that <benefit>." in the language of the conversation. Only roles that occur in it. Where no benefit was said, leave it out and ask for it under "Open questions".
   - Acceptance criteria: two to six, each as Given / When / Then, each such that one can test it. Among them the case that goes wrong, where the conversation speaks of it.
   - Notes: rules, limits and examples from the conversation that belong to this story.
3. Assumptions.
4. Open questions.

A story is one thing that one role can do and that can be delivered by itself: split what is larger, and put together what says the same. Don''t write stories about technology unless the conversation asks for that.

Rules
- The conversation above is your only source. Never invent names, figures, dates, requirements or decisions, and never fill a gap with what is usual elsewhere.
- What was corrected or decided later in the conversation replaces what was said before.
- Keep three things apart: what was said, what you assume (under "Assumptions", each with its reason) and what is still open (under "Open questions", each with who could answer it, where that is known).
- Where the conversation says nothing about a section, keep the heading and write one line that says so.
- Write everything, headings too, in the language of the conversation, in plain and exact sentences, as Markdown.', 'document', '', true, 2),
	(3, 'meeting-summary', 'Meeting summary', 'Topics, decisions and actions for those who were not there.', 'Summarise this conversation as the minutes of a meeting, for somebody who was not there.

Structure
1. In short: what it was about and what came of it, in at most four sentences.
2. Date and participants, as far as they are named.
3. Topics: for each one what was said and, where views differed, who held which.
4. Decisions: each in one sentence, with its reason.
5. Actions: a table with the columns Action, Responsible, Due. "not named" where the conversation names nobody or no day.
6. Assumptions.
7. Open questions.

An idea is no decision and a wish is no action: list only what was agreed on, and leave the rest under its topic.

Rules
- The conversation above is your only source. Never invent names, figures, dates, requirements or decisions, and never fill a gap with what is usual elsewhere.
- What was corrected or decided later in the conversation replaces what was said before.
- Keep three things apart: what was said, what you assume (under "Assumptions", each with its reason) and what is still open (under "Open questions", each with who could answer it, where that is known).
- Where the conversation says nothing about a section, keep the heading and write one line that says so.
- Write everything, headings too, in the language of the conversation, in plain and exact sentences, as Markdown.', 'document', '', true, 3),
	(4, 'decision-record', 'Decision record', 'What was decided, why, and what was considered.', 'Write a decision record of the most important decision of this conversation. If several were made that hang together, record them as one; if none was made yet, record it with the status "proposed" and say in the decision what is missing for it.

Structure
1. Title: the decision in one line.
2. Status: proposed, accepted or replaced, and the date where it is known.
3. Context: the situation, the forces and the limits that made a decision necessary.
4. Options: each one that was considered with what speaks for it and against it, as a table with the columns Option, For, Against. Only options that occur in the conversation.
5. Decision: what is decided, in the present tense and the active voice.
6. Reasons: why this option, and why not the others.
7. Consequences: what becomes easier, what becomes harder, what has to be done now and by whom.
8. Assumptions.
9. Open questions: also what would be a reason to decide anew.

Rules
- The conversation above is your only source. Never invent names, figures, dates, requirements or decisions, and never fill a gap with what is usual elsewhere.
- What was corrected or decided later in the conversation replaces what was said before.
- Keep three things apart: what was said, what you assume (under "Assumptions", each with its reason) and what is still open (under "Open questions", each with who could answer it, where that is known).
- Where the conversation says nothing about a section, keep the heading and write one line that says so.
- Write everything, headings too, in the language of the conversation, in plain and exact sentences, as Markdown.', 'document', '', true, 4),
	(5, 'test-plan', 'Test plan', 'Test cases for every requirement, with the limits and the errors.', 'Write a test plan for what this conversation specifies.

Structure
1. Purpose and scope: what is tested, and what expressly is not.
2. Basis: the requirements and rules of the conversation that are tested, each with an ID (R-1, R-2 …).
3. Approach: kinds of tests, environments, test data and roles, as far as they follow from the conversation.
4. Test cases: a table with the columns ID (TC-1, TC-2 …), Requirement, Given, Steps, Expected result, Kind (normal, boundary, error). For every requirement at least one case; limits are tested at, just below and just above their value, and every error that was spoken of has a case. An expected result is what one can observe, never "works".
5. Coverage: a table with each requirement and its test cases. What can''t be tested as it was said stands there with the reason.
6. Entry and exit criteria.
7. Risks.
8. Assumptions.
9. Open questions.

Rules
- The conversation above is your only source. Never invent names, figures, dates, requirements or decisions, and never fill a gap with what is usual elsewhere.
- What was corrected or decided later in the conversation replaces what was said before.
- Keep three things apart: what was said, what you assume (under "Assumptions", each with its reason) and what is still open (under "Open questions", each with who could answer it, where that is known).
- Where the conversation says nothing about a section, keep the heading and write one line that says so.
- Write everything, headings too, in the language of the conversation, in plain and exact sentences, as Markdown.', 'document', '', true, 5);
INSERT INTO public.artifacts_preset_assistants (id, preset_id, assistant_id) VALUES
	(1, 1, 2),
	(2, 2, 2),
	(3, 3, 2),
	(4, 4, 2),
	(5, 5, 2);






INSERT INTO public.conversations_assistant (id, slug, name, description, system_prompt, provider, model, max_output_tokens, thinking_tokens, effort, show_thinking, reply_minutes, fallback_model, fallback_automatic, history_tokens_high, history_tokens_low, history_turns_min, history_turns_max, total_tokens, hard_cap_tokens, memory_tokens, today_tokens, open_threads_tokens, last_conversation_tokens, recall_tokens, uses_memory, tools, filters_artifacts, rewriting, rewriting_model, is_default, is_active, "order", budget_share, file_tokens, version_id, cache_lifetime, presets) VALUES
	(1, 'companion', 'Companion', 'A conversation partner that keeps the thread. Small, cheap context.', 'You are Companion, a warm and attentive conversation partner in Openbook.

- Answer the newest message. Read it in the light of the conversation so far: a short reply such as "yes", "why?" or "who are his children?" refers to what was said just before.
- What the conversation already contains is known to you. Don''t ask for it again, and don''t pretend to remember what is not there.
- If you don''t know, say so in a sentence. Never invent facts about the person you talk with.
- Write in the language of the person, plainly and briefly; use Markdown where it helps the reader.', '', '', 2048, 8192, '', 'off', 10, '', false, 3000, 1500, 30, 80, 4100, 6150, 500, 500, 400, 300, 2400, true, '{read_file,find_tools}', true, 'local', '', true, true, 1, NULL, 24000, 3, '', '{}'),
	(2, 'analyst', 'Analyst', 'Works through long material with you. Large context.', 'You are Analyst, a careful business analyst in Openbook. You help people to understand, structure and write down what they need.

- Answer the newest message in the light of the whole conversation; what was decided there holds until it is changed.
- Ask one good question when something decisive is missing; otherwise state your assumption and go on.
- Keep facts, assumptions and open questions apart. Never invent names, figures or requirements.
- Write precisely and in the language of the person; use Markdown headings, lists and tables where they help the reader.', '', '', 16384, 8192, '', 'off', 10, '', false, 150000, 75000, 30, 4000, 160000, 180000, 500, 500, 400, 300, 2400, true, '{save_artifact,read_artifact,search_messages,read_file,find_tools}', true, 'local', '', false, true, 2, NULL, 24000, 5, '', '{"brd": {"kind": "document", "name": "Business requirements", "prompt": "Write a business requirements document of what this conversation is about.\n\nStructure\n1. Summary: the need, for whom, and what changes when it is met, in at most five sentences.\n2. Background and problem: what is the case today and why that is not enough.\n3. Goals and measures of success: each goal with how one will see that it is reached; say so where no measure was named.\n4. Stakeholders: who is concerned, and what each of them needs.\n5. Scope: what is included, and what is expressly not.\n6. Functional requirements: a table with the columns ID (FR-1, FR-2 …), Requirement, Reason, Priority. One requirement a row, each such that one can test whether it is met. Priority only where the conversation tells it, else \"not set\".\n7. Quality requirements: a table of the same form (QR-1 …) for security, speed, accessibility, law and the like, as far as they were spoken of.\n8. Constraints and dependencies.\n9. Risks: each with its effect and what was proposed against it.\n10. Assumptions.\n11. Open questions.\n\nRules\n- The conversation above is your only source. Never invent names, figures, dates, requirements or decisions, and never fill a gap with what is usual elsewhere.\n- What was corrected or decided later in the conversation replaces what was said before.\n- Keep three things apart: what was said, what you assume (under \"Assumptions\", each with its reason) and what is still open (under \"Open questions\", each with who could answer it, where that is known).\n- Where the conversation says nothing about a section, keep the heading and write one line that says so.\n- Write everything, headings too, in the language of the conversation, in plain and exact sentences, as Markdown.", "language": ""}, "test-plan": {"kind": "document", "name": "Test plan", "prompt": "Write a test plan for what this conversation specifies.\n\nStructure\n1. Purpose and scope: what is tested, and what expressly is not.\n2. Basis: the requirements and rules of the conversation that are tested, each with an ID (R-1, R-2 …).\n3. Approach: kinds of tests, environments, test data and roles, as far as they follow from the conversation.\n4. Test cases: a table with the columns ID (TC-1, TC-2 …), Requirement, Given, Steps, Expected result, Kind (normal, boundary, error). For every requirement at least one case; limits are tested at, just below and just above their value, and every error that was spoken of has a case. An expected result is what one can observe, never \"works\".\n5. Coverage: a table with each requirement and its test cases. What can''t be tested as it was said stands there with the reason.\n6. Entry and exit criteria.\n7. Risks.\n8. Assumptions.\n9. Open questions.\n\nRules\n- The conversation above is your only source. Never invent names, figures, dates, requirements or decisions, and never fill a gap with what is usual elsewhere.\n- What was corrected or decided later in the conversation replaces what was said before.\n- Keep three things apart: what was said, what you assume (under \"Assumptions\", each with its reason) and what is still open (under \"Open questions\", each with who could answer it, where that is known).\n- Where the conversation says nothing about a section, keep the heading and write one line that says so.\n- Write everything, headings too, in the language of the conversation, in plain and exact sentences, as Markdown.", "language": ""}, "user-stories": {"kind": "document", "name": "User stories", "prompt": "Write the user stories that follow from this conversation, with acceptance criteria.\n\nStructure\n1. Overview: a table with the columns ID (US-1, US-2 …), Story, Role, Priority. Priority only where the conversation tells it, else \"not set\".\n2. For each story a section with its ID and a short name as heading:\n   - \"As a <role>, I want <what>, so that <benefit>.\" in the language of the conversation. Only roles that occur in it. Where no benefit was said, leave it out and ask for it under \"Open questions\".\n   - Acceptance criteria: two to six, each as Given / When / Then, each such that one can test it. Among them the case that goes wrong, where the conversation speaks of it.\n   - Notes: rules, limits and examples from the conversation that belong to this story.\n3. Assumptions.\n4. Open questions.\n\nA story is one thing that one role can do and that can be delivered by itself: split what is larger, and put together what says the same. Don''t write stories about technology unless the conversation asks for that.\n\nRules\n- The conversation above is your only source. Never invent names, figures, dates, requirements or decisions, and never fill a gap with what is usual elsewhere.\n- What was corrected or decided later in the conversation replaces what was said before.\n- Keep three things apart: what was said, what you assume (under \"Assumptions\", each with its reason) and what is still open (under \"Open questions\", each with who could answer it, where that is known).\n- Where the conversation says nothing about a section, keep the heading and write one line that says so.\n- Write everything, headings too, in the language of the conversation, in plain and exact sentences, as Markdown.", "language": ""}, "decision-record": {"kind": "document", "name": "Decision record", "prompt": "Write a decision record of the most important decision of this conversation. If several were made that hang together, record them as one; if none was made yet, record it with the status \"proposed\" and say in the decision what is missing for it.\n\nStructure\n1. Title: the decision in one line.\n2. Status: proposed, accepted or replaced, and the date where it is known.\n3. Context: the situation, the forces and the limits that made a decision necessary.\n4. Options: each one that was considered with what speaks for it and against it, as a table with the columns Option, For, Against. Only options that occur in the conversation.\n5. Decision: what is decided, in the present tense and the active voice.\n6. Reasons: why this option, and why not the others.\n7. Consequences: what becomes easier, what becomes harder, what has to be done now and by whom.\n8. Assumptions.\n9. Open questions: also what would be a reason to decide anew.\n\nRules\n- The conversation above is your only source. Never invent names, figures, dates, requirements or decisions, and never fill a gap with what is usual elsewhere.\n- What was corrected or decided later in the conversation replaces what was said before.\n- Keep three things apart: what was said, what you assume (under \"Assumptions\", each with its reason) and what is still open (under \"Open questions\", each with who could answer it, where that is known).\n- Where the conversation says nothing about a section, keep the heading and write one line that says so.\n- Write everything, headings too, in the language of the conversation, in plain and exact sentences, as Markdown.", "language": ""}, "meeting-summary": {"kind": "document", "name": "Meeting summary", "prompt": "Summarise this conversation as the minutes of a meeting, for somebody who was not there.\n\nStructure\n1. In short: what it was about and what came of it, in at most four sentences.\n2. Date and participants, as far as they are named.\n3. Topics: for each one what was said and, where views differed, who held which.\n4. Decisions: each in one sentence, with its reason.\n5. Actions: a table with the columns Action, Responsible, Due. \"not named\" where the conversation names nobody or no day.\n6. Assumptions.\n7. Open questions.\n\nAn idea is no decision and a wish is no action: list only what was agreed on, and leave the rest under its topic.\n\nRules\n- The conversation above is your only source. Never invent names, figures, dates, requirements or decisions, and never fill a gap with what is usual elsewhere.\n- What was corrected or decided later in the conversation replaces what was said before.\n- Keep three things apart: what was said, what you assume (under \"Assumptions\", each with its reason) and what is still open (under \"Open questions\", each with who could answer it, where that is known).\n- Where the conversation says nothing about a section, keep the heading and write one line that says so.\n- Write everything, headings too, in the language of the conversation, in plain and exact sentences, as Markdown.", "language": ""}}');

INSERT INTO public.conversations_assistantversion (id, number, content, note, created_at, published_at, assistant_id, author_id) VALUES
	(1, 1, '{"model": "", "tools": ["read_file"], "effort": "", "provider": "", "rewriting": "local", "file_tokens": 24000, "uses_memory": true, "budget_share": null, "today_tokens": 500, "total_tokens": 4100, "memory_tokens": 500, "recall_tokens": 2400, "reply_minutes": 10, "show_thinking": "off", "system_prompt": "You are Companion, a warm and attentive conversation partner in Openbook.\n\n- Answer the newest message. Read it in the light of the conversation so far: a short reply such as \"yes\", \"why?\" or \"who are his children?\" refers to what was said just before.\n- What the conversation already contains is known to you. Don''t ask for it again, and don''t pretend to remember what is not there.\n- If you don''t know, say so in a sentence. Never invent facts about the person you talk with.\n- Write in the language of the person, plainly and briefly; use Markdown where it helps the reader.", "fallback_model": "", "hard_cap_tokens": 6150, "rewriting_model": "", "thinking_tokens": 8192, "filters_artifacts": true, "history_turns_max": 80, "history_turns_min": 30, "max_output_tokens": 2048, "fallback_automatic": false, "history_tokens_low": 1500, "history_tokens_high": 3000, "open_threads_tokens": 400, "last_conversation_tokens": 300}', '', now(), now(), 1, NULL),
	(2, 1, '{"model": "", "tools": ["save_artifact", "read_artifact", "search_messages", "read_file"], "effort": "", "provider": "", "rewriting": "local", "file_tokens": 24000, "uses_memory": true, "budget_share": null, "today_tokens": 500, "total_tokens": 160000, "memory_tokens": 500, "recall_tokens": 2400, "reply_minutes": 10, "show_thinking": "off", "system_prompt": "You are Analyst, a careful business analyst in Openbook. You help people to understand, structure and write down what they need.\n\n- Answer the newest message in the light of the whole conversation; what was decided there holds until it is changed.\n- Ask one good question when something decisive is missing; otherwise state your assumption and go on.\n- Keep facts, assumptions and open questions apart. Never invent names, figures or requirements.\n- Write precisely and in the language of the person; use Markdown headings, lists and tables where they help the reader.", "fallback_model": "", "hard_cap_tokens": 180000, "rewriting_model": "", "thinking_tokens": 8192, "filters_artifacts": true, "history_turns_max": 4000, "history_turns_min": 30, "max_output_tokens": 16384, "fallback_automatic": false, "history_tokens_low": 75000, "history_tokens_high": 150000, "open_threads_tokens": 400, "last_conversation_tokens": 300}', '', now(), now(), 2, NULL),
	(3, 2, '{"model": "", "tools": ["read_file", "find_tools"], "effort": "", "provider": "", "rewriting": "local", "file_tokens": 24000, "uses_memory": true, "budget_share": null, "today_tokens": 500, "total_tokens": 4100, "memory_tokens": 500, "recall_tokens": 2400, "reply_minutes": 10, "show_thinking": "off", "system_prompt": "You are Companion, a warm and attentive conversation partner in Openbook.\n\n- Answer the newest message. Read it in the light of the conversation so far: a short reply such as \"yes\", \"why?\" or \"who are his children?\" refers to what was said just before.\n- What the conversation already contains is known to you. Don''t ask for it again, and don''t pretend to remember what is not there.\n- If you don''t know, say so in a sentence. Never invent facts about the person you talk with.\n- Write in the language of the person, plainly and briefly; use Markdown where it helps the reader.", "cache_lifetime": "", "fallback_model": "", "hard_cap_tokens": 6150, "rewriting_model": "", "thinking_tokens": 8192, "filters_artifacts": true, "history_turns_max": 80, "history_turns_min": 30, "max_output_tokens": 2048, "fallback_automatic": false, "history_tokens_low": 1500, "history_tokens_high": 3000, "open_threads_tokens": 400, "last_conversation_tokens": 300}', '', now(), now(), 1, NULL),
	(4, 2, '{"model": "", "tools": ["save_artifact", "read_artifact", "search_messages", "read_file", "find_tools"], "effort": "", "provider": "", "rewriting": "local", "file_tokens": 24000, "uses_memory": true, "budget_share": null, "today_tokens": 500, "total_tokens": 160000, "memory_tokens": 500, "recall_tokens": 2400, "reply_minutes": 10, "show_thinking": "off", "system_prompt": "You are Analyst, a careful business analyst in Openbook. You help people to understand, structure and write down what they need.\n\n- Answer the newest message in the light of the whole conversation; what was decided there holds until it is changed.\n- Ask one good question when something decisive is missing; otherwise state your assumption and go on.\n- Keep facts, assumptions and open questions apart. Never invent names, figures or requirements.\n- Write precisely and in the language of the person; use Markdown headings, lists and tables where they help the reader.", "cache_lifetime": "", "fallback_model": "", "hard_cap_tokens": 180000, "rewriting_model": "", "thinking_tokens": 8192, "filters_artifacts": true, "history_turns_max": 4000, "history_turns_min": 30, "max_output_tokens": 16384, "fallback_automatic": false, "history_tokens_low": 75000, "history_tokens_high": 150000, "open_threads_tokens": 400, "last_conversation_tokens": 300}', '', now(), now(), 2, NULL),
	(5, 3, '{"model": "", "tools": ["save_artifact", "read_artifact", "search_messages", "read_file", "find_tools"], "effort": "", "presets": {"brd": {"kind": "document", "name": "Business requirements", "prompt": "Write a business requirements document of what this conversation is about.\n\nStructure\n1. Summary: the need, for whom, and what changes when it is met, in at most five sentences.\n2. Background and problem: what is the case today and why that is not enough.\n3. Goals and measures of success: each goal with how one will see that it is reached; say so where no measure was named.\n4. Stakeholders: who is concerned, and what each of them needs.\n5. Scope: what is included, and what is expressly not.\n6. Functional requirements: a table with the columns ID (FR-1, FR-2 …), Requirement, Reason, Priority. One requirement a row, each such that one can test whether it is met. Priority only where the conversation tells it, else \"not set\".\n7. Quality requirements: a table of the same form (QR-1 …) for security, speed, accessibility, law and the like, as far as they were spoken of.\n8. Constraints and dependencies.\n9. Risks: each with its effect and what was proposed against it.\n10. Assumptions.\n11. Open questions.\n\nRules\n- The conversation above is your only source. Never invent names, figures, dates, requirements or decisions, and never fill a gap with what is usual elsewhere.\n- What was corrected or decided later in the conversation replaces what was said before.\n- Keep three things apart: what was said, what you assume (under \"Assumptions\", each with its reason) and what is still open (under \"Open questions\", each with who could answer it, where that is known).\n- Where the conversation says nothing about a section, keep the heading and write one line that says so.\n- Write everything, headings too, in the language of the conversation, in plain and exact sentences, as Markdown.", "language": ""}, "test-plan": {"kind": "document", "name": "Test plan", "prompt": "Write a test plan for what this conversation specifies.\n\nStructure\n1. Purpose and scope: what is tested, and what expressly is not.\n2. Basis: the requirements and rules of the conversation that are tested, each with an ID (R-1, R-2 …).\n3. Approach: kinds of tests, environments, test data and roles, as far as they follow from the conversation.\n4. Test cases: a table with the columns ID (TC-1, TC-2 …), Requirement, Given, Steps, Expected result, Kind (normal, boundary, error). For every requirement at least one case; limits are tested at, just below and just above their value, and every error that was spoken of has a case. An expected result is what one can observe, never \"works\".\n5. Coverage: a table with each requirement and its test cases. What can''t be tested as it was said stands there with the reason.\n6. Entry and exit criteria.\n7. Risks.\n8. Assumptions.\n9. Open questions.\n\nRules\n- The conversation above is your only source. Never invent names, figures, dates, requirements or decisions, and never fill a gap with what is usual elsewhere.\n- What was corrected or decided later in the conversation replaces what was said before.\n- Keep three things apart: what was said, what you assume (under \"Assumptions\", each with its reason) and what is still open (under \"Open questions\", each with who could answer it, where that is known).\n- Where the conversation says nothing about a section, keep the heading and write one line that says so.\n- Write everything, headings too, in the language of the conversation, in plain and exact sentences, as Markdown.", "language": ""}, "user-stories": {"kind": "document", "name": "User stories", "prompt": "Write the user stories that follow from this conversation, with acceptance criteria.\n\nStructure\n1. Overview: a table with the columns ID (US-1, US-2 …), Story, Role, Priority. Priority only where the conversation tells it, else \"not set\".\n2. For each story a section with its ID and a short name as heading:\n   - \"As a <role>, I want <what>, so that <benefit>.\" in the language of the conversation. Only roles that occur in it. Where no benefit was said, leave it out and ask for it under \"Open questions\".\n   - Acceptance criteria: two to six, each as Given / When / Then, each such that one can test it. Among them the case that goes wrong, where the conversation speaks of it.\n   - Notes: rules, limits and examples from the conversation that belong to this story.\n3. Assumptions.\n4. Open questions.\n\nA story is one thing that one role can do and that can be delivered by itself: split what is larger, and put together what says the same. Don''t write stories about technology unless the conversation asks for that.\n\nRules\n- The conversation above is your only source. Never invent names, figures, dates, requirements or decisions, and never fill a gap with what is usual elsewhere.\n- What was corrected or decided later in the conversation replaces what was said before.\n- Keep three things apart: what was said, what you assume (under \"Assumptions\", each with its reason) and what is still open (under \"Open questions\", each with who could answer it, where that is known).\n- Where the conversation says nothing about a section, keep the heading and write one line that says so.\n- Write everything, headings too, in the language of the conversation, in plain and exact sentences, as Markdown.", "language": ""}, "decision-record": {"kind": "document", "name": "Decision record", "prompt": "Write a decision record of the most important decision of this conversation. If several were made that hang together, record them as one; if none was made yet, record it with the status \"proposed\" and say in the decision what is missing for it.\n\nStructure\n1. Title: the decision in one line.\n2. Status: proposed, accepted or replaced, and the date where it is known.\n3. Context: the situation, the forces and the limits that made a decision necessary.\n4. Options: each one that was considered with what speaks for it and against it, as a table with the columns Option, For, Against. Only options that occur in the conversation.\n5. Decision: what is decided, in the present tense and the active voice.\n6. Reasons: why this option, and why not the others.\n7. Consequences: what becomes easier, what becomes harder, what has to be done now and by whom.\n8. Assumptions.\n9. Open questions: also what would be a reason to decide anew.\n\nRules\n- The conversation above is your only source. Never invent names, figures, dates, requirements or decisions, and never fill a gap with what is usual elsewhere.\n- What was corrected or decided later in the conversation replaces what was said before.\n- Keep three things apart: what was said, what you assume (under \"Assumptions\", each with its reason) and what is still open (under \"Open questions\", each with who could answer it, where that is known).\n- Where the conversation says nothing about a section, keep the heading and write one line that says so.\n- Write everything, headings too, in the language of the conversation, in plain and exact sentences, as Markdown.", "language": ""}, "meeting-summary": {"kind": "document", "name": "Meeting summary", "prompt": "Summarise this conversation as the minutes of a meeting, for somebody who was not there.\n\nStructure\n1. In short: what it was about and what came of it, in at most four sentences.\n2. Date and participants, as far as they are named.\n3. Topics: for each one what was said and, where views differed, who held which.\n4. Decisions: each in one sentence, with its reason.\n5. Actions: a table with the columns Action, Responsible, Due. \"not named\" where the conversation names nobody or no day.\n6. Assumptions.\n7. Open questions.\n\nAn idea is no decision and a wish is no action: list only what was agreed on, and leave the rest under its topic.\n\nRules\n- The conversation above is your only source. Never invent names, figures, dates, requirements or decisions, and never fill a gap with what is usual elsewhere.\n- What was corrected or decided later in the conversation replaces what was said before.\n- Keep three things apart: what was said, what you assume (under \"Assumptions\", each with its reason) and what is still open (under \"Open questions\", each with who could answer it, where that is known).\n- Where the conversation says nothing about a section, keep the heading and write one line that says so.\n- Write everything, headings too, in the language of the conversation, in plain and exact sentences, as Markdown.", "language": ""}}, "provider": "", "rewriting": "local", "file_tokens": 24000, "uses_memory": true, "budget_share": null, "today_tokens": 500, "total_tokens": 160000, "memory_tokens": 500, "recall_tokens": 2400, "reply_minutes": 10, "show_thinking": "off", "system_prompt": "You are Analyst, a careful business analyst in Openbook. You help people to understand, structure and write down what they need.\n\n- Answer the newest message in the light of the whole conversation; what was decided there holds until it is changed.\n- Ask one good question when something decisive is missing; otherwise state your assumption and go on.\n- Keep facts, assumptions and open questions apart. Never invent names, figures or requirements.\n- Write precisely and in the language of the person; use Markdown headings, lists and tables where they help the reader.", "cache_lifetime": "", "fallback_model": "", "hard_cap_tokens": 180000, "rewriting_model": "", "thinking_tokens": 8192, "filters_artifacts": true, "history_turns_max": 4000, "history_turns_min": 30, "max_output_tokens": 16384, "fallback_automatic": false, "history_tokens_low": 75000, "history_tokens_high": 150000, "open_threads_tokens": 400, "last_conversation_tokens": 300}', '', now(), now(), 2, NULL);















































INSERT INTO public.conversations_model (id, provider, name, label, context_window, max_output, thinking, thinks_unasked, thinking_off, efforts, default_effort, takes_tools, takes_images, cacheable_from, token_factor, small_model, is_active, "order", system_prompt, uses_memory) VALUES
	(1, 'anthropic', 'claude-sonnet-5-5', 'Claude Sonnet 5.5', 1000000, 128000, 'adaptive', true, 'between_tools', '{low,medium,high,xhigh,max}', 'high', true, true, 512, 1.3, 'claude-haiku-5-5', true, 1, '', true),
	(2, 'anthropic', 'claude-opus-5-5', 'Claude Opus 5.5', 1000000, 128000, 'adaptive', true, '', '{low,medium,high,xhigh,max}', 'medium', true, true, 512, 1.3, 'claude-haiku-5-5', true, 2, '', true),
	(3, 'anthropic', 'claude-haiku-5-5', 'Claude Haiku 5.5', 1000000, 128000, 'adaptive', true, 'disabled', '{low,medium,high,xhigh,max}', 'medium', true, true, 512, 1.3, '', true, 3, '', true),
	(4, 'anthropic', 'claude-fable-5-2', 'Claude Fable 5.2', 1000000, 128000, 'adaptive', true, '', '{low,medium,high,xhigh,max}', 'high', true, true, 512, 1.3, 'claude-haiku-5-5', true, 4, '', true),
	(5, 'anthropic', 'claude-mythos-5-2', 'Claude Mythos 5.2', 1000000, 128000, 'adaptive', true, '', '{low,medium,high,xhigh,max}', 'high', true, true, 512, 1.3, 'claude-haiku-5-5', false, 5, '', true),
	(6, 'anthropic', 'claude-fable-5-1', 'Claude Fable 5.1', 1000000, 128000, 'adaptive', true, '', '{low,medium,high,xhigh,max}', 'high', true, true, 512, 1.3, 'claude-haiku-5-5', true, 6, '', true),
	(7, 'anthropic', 'claude-mythos-5-1', 'Claude Mythos 5.1', 1000000, 128000, 'adaptive', true, '', '{low,medium,high,xhigh,max}', 'high', true, true, 512, 1.3, 'claude-haiku-5-5', false, 7, '', true),
	(8, 'anthropic', 'claude-fable-5', 'Claude Fable 5', 1000000, 128000, 'adaptive', true, '', '{low,medium,high,xhigh,max}', 'high', true, true, 512, 1.3, 'claude-haiku-5-5', true, 8, '', true),
	(9, 'anthropic', 'claude-mythos-5', 'Claude Mythos 5', 1000000, 128000, 'adaptive', true, '', '{low,medium,high,xhigh,max}', 'high', true, true, 512, 1.3, 'claude-haiku-5-5', false, 9, '', true),
	(10, 'anthropic', 'claude-opus-5', 'Claude Opus 5', 1000000, 128000, 'adaptive', true, 'disabled', '{low,medium,high,xhigh,max}', 'high', true, true, 512, 1.3, 'claude-haiku-5-5', true, 10, '', true),
	(11, 'anthropic', 'claude-opus-4-8', 'Claude Opus 4.8', 1000000, 128000, 'adaptive', false, 'disabled', '{low,medium,high,xhigh,max}', 'high', true, true, 1024, 1.3, 'claude-haiku-5-5', true, 11, '', true),
	(12, 'anthropic', 'claude-opus-4-7', 'Claude Opus 4.7', 1000000, 128000, 'adaptive', false, 'disabled', '{low,medium,high,xhigh,max}', 'high', true, true, 2048, 1.3, 'claude-haiku-5-5', true, 12, '', true),
	(13, 'anthropic', 'claude-opus-4-6', 'Claude Opus 4.6', 1000000, 128000, 'adaptive', false, 'disabled', '{low,medium,high,max}', 'high', true, true, 4096, 1, 'claude-haiku-5-5', true, 13, '', true),
	(14, 'anthropic', 'claude-opus-4-5', 'Claude Opus 4.5', 200000, 64000, 'budget', false, 'disabled', '{low,medium,high}', 'high', true, true, 4096, 1, 'claude-haiku-5-5', true, 14, '', true),
	(15, 'anthropic', 'claude-sonnet-5', 'Claude Sonnet 5', 1000000, 128000, 'adaptive', true, 'disabled', '{low,medium,high,xhigh,max}', 'high', true, true, 1024, 1.3, 'claude-haiku-5-5', true, 15, '', true),
	(16, 'anthropic', 'claude-sonnet-4-6', 'Claude Sonnet 4.6', 1000000, 128000, 'adaptive', false, 'disabled', '{low,medium,high,max}', 'high', true, true, 1024, 1, 'claude-haiku-5-5', true, 16, '', true),
	(17, 'anthropic', 'claude-sonnet-4-5', 'Claude Sonnet 4.5', 200000, 64000, 'budget', false, 'disabled', '{}', '', true, true, 1024, 1, 'claude-haiku-5-5', false, 17, '', true),
	(18, 'anthropic', 'claude-haiku-4-5', 'Claude Haiku 4.5', 200000, 64000, 'budget', false, 'disabled', '{}', '', true, true, 4096, 1, 'claude-haiku-5-5', true, 18, '', true),
	(19, 'offline', 'offline', 'Offline responder', 1000000, 128000, 'none', false, '', '{}', '', true, false, NULL, 1, '', true, 0, '', true),
	(20, 'local', 'smollm2-135m-instruct', 'SmolLM2 135M', 4608, 512, 'none', false, '', '{}', '', false, false, NULL, 1.05, '', true, 0, 'You are a helpful AI assistant named SmolLM, trained by Hugging Face. Answer in a few short sentences.', false);
INSERT INTO public.conversations_modelprice (id, since, above, input, output, cache_write, cache_write_hour, cache_read, model_id) VALUES
	(1, NULL, 0, 8.0000, 40.0000, 10.0000, 16.0000, 0.2000, 4),
	(2, NULL, 0, 8.0000, 40.0000, 10.0000, 16.0000, 0.2000, 5),
	(3, NULL, 0, 10.0000, 50.0000, 12.5000, 20.0000, 0.2500, 6),
	(4, NULL, 0, 10.0000, 50.0000, 12.5000, 20.0000, 0.2500, 7),
	(5, NULL, 0, 10.0000, 50.0000, 12.5000, 20.0000, 1.0000, 8),
	(6, NULL, 0, 10.0000, 50.0000, 12.5000, 20.0000, 1.0000, 9),
	(7, NULL, 0, 4.0000, 20.0000, 5.0000, 8.0000, 0.2000, 2),
	(8, NULL, 0, 5.0000, 25.0000, 6.2500, 10.0000, 0.5000, 10),
	(9, NULL, 0, 5.0000, 25.0000, 6.2500, 10.0000, 0.5000, 11),
	(10, NULL, 0, 5.0000, 25.0000, 6.2500, 10.0000, 0.5000, 12),
	(11, NULL, 0, 5.0000, 25.0000, 6.2500, 10.0000, 0.5000, 13),
	(12, NULL, 0, 5.0000, 25.0000, 6.2500, 10.0000, 0.5000, 14),
	(13, NULL, 0, 2.0000, 10.0000, 2.5000, 4.0000, 0.2000, 1),
	(14, '2026-10-07', 0, 2.0000, 10.0000, 2.5000, 4.0000, 0.1000, 1),
	(15, NULL, 0, 2.0000, 10.0000, 2.5000, 4.0000, 0.2000, 15),
	(16, NULL, 0, 3.0000, 15.0000, 3.7500, 6.0000, 0.3000, 16),
	(17, NULL, 0, 3.0000, 15.0000, 3.7500, 6.0000, 0.3000, 17),
	(18, NULL, 0, 0.1000, 0.5000, 0.1250, 0.2000, 0.0100, 3),
	(19, NULL, 100000, 0.5000, 2.5000, 0.6250, 1.0000, 0.0500, 3),
	(20, NULL, 0, 1.0000, 5.0000, 1.2500, 2.0000, 0.1000, 18);
































INSERT INTO public.django_migrations (id, app, name, applied) VALUES
	(1, 'contenttypes', '0001_initial', now()),
	(2, 'auth', '0001_initial', now()),
	(3, 'account', '0001_initial', now()),
	(4, 'account', '0002_email_max_length', now()),
	(5, 'account', '0003_alter_emailaddress_create_unique_verified_email', now()),
	(6, 'account', '0004_alter_emailaddress_drop_unique_email', now()),
	(7, 'account', '0005_emailaddress_idx_upper_email', now()),
	(8, 'account', '0006_emailaddress_lower', now()),
	(9, 'account', '0007_emailaddress_idx_email', now()),
	(10, 'account', '0008_emailaddress_unique_primary_email_fixup', now()),
	(11, 'account', '0009_emailaddress_unique_primary_email', now()),
	(12, 'admin', '0001_initial', now()),
	(13, 'admin', '0002_logentry_remove_auto_add', now()),
	(14, 'admin', '0003_logentry_add_action_flag_choices', now()),
	(15, 'contenttypes', '0002_remove_content_type_name', now()),
	(16, 'auth', '0002_alter_permission_name_max_length', now()),
	(17, 'auth', '0003_alter_user_email_max_length', now()),
	(18, 'auth', '0004_alter_user_username_opts', now()),
	(19, 'auth', '0005_alter_user_last_login_null', now()),
	(20, 'auth', '0006_require_contenttypes_0002', now()),
	(21, 'auth', '0007_alter_validators_add_error_messages', now()),
	(22, 'auth', '0008_alter_user_username_max_length', now()),
	(23, 'auth', '0009_alter_user_last_name_max_length', now()),
	(24, 'auth', '0010_alter_group_name_max_length', now()),
	(25, 'auth', '0011_update_proxy_permissions', now()),
	(26, 'auth', '0012_alter_user_first_name_max_length', now()),
	(27, 'conversations', '0001_initial', now()),
	(28, 'conversations', '0002_guards', now()),
	(29, 'conversations', '0003_shipped_assistants', now()),
	(30, 'conversations', '0004_shipped_models', now()),
	(31, 'conversations', '0005_local_model', now()),
	(32, 'conversations', '0006_connections', now()),
	(33, 'conversations', '0007_model_choices', now()),
	(34, 'conversations', '0008_conversation_alone', now()),
	(35, 'conversations', '0009_fallbacks', now()),
	(36, 'conversations', '0010_given_rights', now()),
	(37, 'conversations', '0011_thread_model', now()),
	(38, 'conversations', '0012_budgets', now()),
	(39, 'conversations', '0013_files', now()),
	(40, 'conversations', '0014_clouds', now()),
	(41, 'conversations', '0015_turn_files', now()),
	(42, 'conversations', '0016_citations', now()),
	(43, 'conversations', '0017_file_search', now()),
	(44, 'conversations', '0018_thumbnails', now()),
	(45, 'conversations', '0019_leases', now()),
	(46, 'conversations', '0020_picture_bytes', now()),
	(47, 'conversations', '0021_forgettings', now()),
	(48, 'conversations', '0022_read_file', now()),
	(49, 'conversations', '0023_user_of_rows', now()),
	(50, 'artifacts', '0001_initial', now()),
	(51, 'artifacts', '0002_shipped_presets', now()),
	(52, 'artifacts', '0003_guards', now()),
	(53, 'artifacts', '0004_user_of_rows', now()),
	(54, 'artifacts', '0005_users_of_earlier_rows', now()),
	(55, 'conversations', '0024_users_of_earlier_rows', now()),
	(56, 'conversations', '0025_logged_sequence', now()),
	(57, 'conversations', '0026_partitions', now()),
	(58, 'conversations', '0027_maintenance_runs', now()),
	(59, 'conversations', '0028_index_of_errors', now()),
	(60, 'conversations', '0029_suspected_replies', now()),
	(61, 'conversations', '0030_quotations', now()),
	(62, 'conversations', '0031_access_by_sign_in', now()),
	(63, 'conversations', '0032_quoting', now()),
	(64, 'conversations', '0033_token_reservations', now()),
	(65, 'conversations', '0034_turn_models', now()),
	(66, 'conversations', '0035_left_out', now()),
	(67, 'conversations', '0036_projects', now()),
	(68, 'conversations', '0037_project_indexes', now()),
	(69, 'conversations', '0038_thread_labels', now()),
	(70, 'conversations', '0039_feedback', now()),
	(71, 'conversations', '0040_branches', now()),
	(72, 'conversations', '0041_shares', now()),
	(73, 'conversations', '0042_temporary_threads', now()),
	(74, 'conversations', '0043_instructions_id', now()),
	(75, 'conversations', '0044_prompts', now()),
	(76, 'conversations', '0045_project_assistant', now()),
	(77, 'conversations', '0046_list_and_version_indexes', now()),
	(78, 'conversations', '0047_group_managers', now()),
	(79, 'conversations', '0048_audit', now()),
	(80, 'conversations', '0049_token_scopes', now()),
	(81, 'conversations', '0050_staff_scopes', now()),
	(82, 'conversations', '0051_moderation', now()),
	(83, 'conversations', '0052_keeping', now()),
	(84, 'conversations', '0053_sign_in', now()),
	(85, 'conversations', '0054_directory', now()),
	(86, 'conversations', '0055_group_budgets', now()),
	(87, 'conversations', '0056_hand_over_links', now()),
	(88, 'conversations', '0057_audit_delivery', now()),
	(89, 'conversations', '0058_outgoing_mail', now()),
	(90, 'conversations', '0059_sample_of_parts', now()),
	(91, 'conversations', '0060_moderation_of_files', now()),
	(92, 'conversations', '0061_invitations', now()),
	(93, 'conversations', '0062_session_times', now()),
	(94, 'conversations', '0063_switches', now()),
	(95, 'conversations', '0064_kinds_of_mail', now()),
	(96, 'conversations', '0065_assistant_versions', now()),
	(97, 'conversations', '0066_staff_assistants_scope', now()),
	(98, 'conversations', '0067_notices', now()),
	(99, 'conversations', '0068_webhooks', now()),
	(100, 'conversations', '0069_lint_findings', now()),
	(101, 'conversations', '0072_schedules', now()),
	(102, 'conversations', '0073_datasets', now()),
	(103, 'conversations', '0074_replays', now()),
	(104, 'conversations', '0076_experiments', now()),
	(105, 'conversations', '0079_mcp_servers', now()),
	(106, 'conversations', '0083_mcp_sign_ins', now()),
	(107, 'conversations', '0084_staff_scopes', now()),
	(108, 'conversations', '0085_embed', now()),
	(109, 'conversations', '0089_mcp_renewals', now()),
	(110, 'conversations', '0090_experiments_with_models', now()),
	(111, 'conversations', '0091_rule_of_replay', now()),
	(112, 'conversations', '0092_presets_of_versions', now()),
	(113, 'django_tasks_database', '0001_initial', now()),
	(114, 'django_tasks_database', '0002_alter_dbtaskresult_options', now()),
	(115, 'django_tasks_database', '0003_dbtaskresult_enqueued_at_dbtaskresult_finished_at', now()),
	(116, 'django_tasks_database', '0004_dbtaskresult_started_at', now()),
	(117, 'django_tasks_database', '0005_alter_dbtaskresult_priority_and_more', now()),
	(118, 'django_tasks_database', '0006_alter_dbtaskresult_args_kwargs_and_more', now()),
	(119, 'django_tasks_database', '0007_add_separate_results_fields', now()),
	(120, 'django_tasks_database', '0008_separate_results_field', now()),
	(121, 'django_tasks_database', '0009_remove_results_field', now()),
	(122, 'django_tasks_database', '0010_alter_dbtaskresult_status', now()),
	(123, 'django_tasks_database', '0011_rename_complete_status', now()),
	(124, 'django_tasks_database', '0012_add_separate_exception_fields', now()),
	(125, 'django_tasks_database', '0013_separate_exception_fields', now()),
	(126, 'django_tasks_database', '0014_remove_dbtaskresult_exception_data', now()),
	(127, 'django_tasks_database', '0015_correctly_order_run_after', now()),
	(128, 'django_tasks_database', '0016_remove_dbtaskresult_django_task_new_ordering_idx_and_more', now()),
	(129, 'django_tasks_database', '0017_dbtaskresult_metadata', now()),
	(130, 'django_tasks_database', '0018_rename_succeeded_status', now()),
	(131, 'django_tasks_database', '0019_rename_django_task_new_ordering_idx_tasks_db_new_ordering_idx_and_more', now()),
	(132, 'django_tasks_database', '0020_update_db_task_result_ordering', now()),
	(133, 'django_tasks_database', '0021_conditional_partial_index_ordering', now()),
	(134, 'memory', '0001_initial', now()),
	(135, 'memory', '0002_passages', now()),
	(136, 'memory', '0003_superseded', now()),
	(137, 'memory', '0004_limited_notes', now()),
	(138, 'memory', '0005_stale_indexes', now()),
	(139, 'memory', '0006_language', now()),
	(140, 'memory', '0007_project_scopes', now()),
	(141, 'memory', '0008_facts', now()),
	(142, 'mfa', '0001_initial', now()),
	(143, 'mfa', '0002_authenticator_timestamps', now()),
	(144, 'mfa', '0003_authenticator_type_uniq', now()),
	(145, 'sessions', '0001_initial', now()),
	(146, 'socialaccount', '0001_initial', now()),
	(147, 'socialaccount', '0002_token_max_lengths', now()),
	(148, 'socialaccount', '0003_extra_data_default_dict', now()),
	(149, 'socialaccount', '0004_app_provider_id_settings', now()),
	(150, 'socialaccount', '0005_socialtoken_nullable_app', now()),
	(151, 'socialaccount', '0006_alter_socialaccount_extra_data', now()),
	(152, 'usersessions', '0001_initial', now());

















SELECT pg_catalog.setval('public.artifacts_preset_assistants_id_seq', 5, true);
SELECT pg_catalog.setval('public.artifacts_preset_id_seq', 5, true);
SELECT pg_catalog.setval('public.conversations_assistant_id_seq', 2, true);
SELECT pg_catalog.setval('public.conversations_assistantversion_id_seq', 5, true);
SELECT pg_catalog.setval('public.conversations_model_id_seq', 20, true);
SELECT pg_catalog.setval('public.conversations_modelprice_id_seq', 20, true);
SELECT pg_catalog.setval('public.django_migrations_id_seq', 152, true);
ALTER TABLE ONLY public.account_emailaddress
    ADD CONSTRAINT account_emailaddress_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.account_emailaddress
    ADD CONSTRAINT account_emailaddress_user_id_email_987c8728_uniq UNIQUE (user_id, email);
ALTER TABLE ONLY public.account_emailconfirmation
    ADD CONSTRAINT account_emailconfirmation_key_key UNIQUE (key);
ALTER TABLE ONLY public.account_emailconfirmation
    ADD CONSTRAINT account_emailconfirmation_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_allowance
    ADD CONSTRAINT allowance_of_user_or_token UNIQUE NULLS NOT DISTINCT (user_id, token_id);
ALTER TABLE ONLY public.artifacts_artifactversion
    ADD CONSTRAINT artifact_version_once UNIQUE (artifact_id, number);
ALTER TABLE ONLY public.artifacts_artifact
    ADD CONSTRAINT artifacts_artifact_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.artifacts_artifactversion
    ADD CONSTRAINT artifacts_artifactversion_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.artifacts_preset_assistants
    ADD CONSTRAINT artifacts_preset_assista_preset_id_assistant_id_84b9e95c_uniq UNIQUE (preset_id, assistant_id);
ALTER TABLE ONLY public.artifacts_preset_assistants
    ADD CONSTRAINT artifacts_preset_assistants_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.artifacts_preset
    ADD CONSTRAINT artifacts_preset_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.artifacts_preset
    ADD CONSTRAINT artifacts_preset_slug_key UNIQUE (slug);
ALTER TABLE ONLY public.conversations_assistantversion
    ADD CONSTRAINT assistant_version_once UNIQUE (assistant_id, number);
ALTER TABLE ONLY public.conversations_auditevent
    ADD CONSTRAINT audit_event_number UNIQUE (number);
ALTER TABLE ONLY public.auth_group
    ADD CONSTRAINT auth_group_name_key UNIQUE (name);
ALTER TABLE ONLY public.auth_group_permissions
    ADD CONSTRAINT auth_group_permissions_group_id_permission_id_0cd325b0_uniq UNIQUE (group_id, permission_id);
ALTER TABLE ONLY public.auth_group_permissions
    ADD CONSTRAINT auth_group_permissions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.auth_group
    ADD CONSTRAINT auth_group_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.auth_permission
    ADD CONSTRAINT auth_permission_content_type_id_codename_01ab375a_uniq UNIQUE (content_type_id, codename);
ALTER TABLE ONLY public.auth_permission
    ADD CONSTRAINT auth_permission_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.auth_user_groups
    ADD CONSTRAINT auth_user_groups_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.auth_user_groups
    ADD CONSTRAINT auth_user_groups_user_id_group_id_94350c0c_uniq UNIQUE (user_id, group_id);
ALTER TABLE ONLY public.auth_user
    ADD CONSTRAINT auth_user_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.auth_user_user_permissions
    ADD CONSTRAINT auth_user_user_permissions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.auth_user_user_permissions
    ADD CONSTRAINT auth_user_user_permissions_user_id_permission_id_14a6b632_uniq UNIQUE (user_id, permission_id);
ALTER TABLE ONLY public.auth_user
    ADD CONSTRAINT auth_user_username_key UNIQUE (username);
ALTER TABLE ONLY public.conversations_budget
    ADD CONSTRAINT budget_once UNIQUE NULLS NOT DISTINCT (group_id);
ALTER TABLE ONLY public.conversations_caseanswer
    ADD CONSTRAINT case_answer_once UNIQUE (experiment_id, case_id, version, model);
ALTER TABLE ONLY public.conversations_case
    ADD CONSTRAINT case_once UNIQUE (dataset_id, request_id);
ALTER TABLE ONLY public.conversations_caseresult
    ADD CONSTRAINT case_result_once UNIQUE (experiment_id, case_id);
ALTER TABLE ONLY public.conversations_contextblock
    ADD CONSTRAINT context_block_once UNIQUE NULLS NOT DISTINCT (thread_id, sha256);
ALTER TABLE ONLY public.conversations_accountdeletion
    ADD CONSTRAINT conversations_accountdeletion_pkey PRIMARY KEY (user_id);
ALTER TABLE ONLY public.conversations_allowance
    ADD CONSTRAINT conversations_allowance_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_apitoken
    ADD CONSTRAINT conversations_apitoken_digest_key UNIQUE (digest);
ALTER TABLE ONLY public.conversations_apitoken
    ADD CONSTRAINT conversations_apitoken_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_assistant_offered_models
    ADD CONSTRAINT conversations_assistant__assistant_id_model_id_d2d71c6a_uniq UNIQUE (assistant_id, model_id);
ALTER TABLE ONLY public.conversations_assistant_offered_models
    ADD CONSTRAINT conversations_assistant_offered_models_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_assistant
    ADD CONSTRAINT conversations_assistant_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_assistant
    ADD CONSTRAINT conversations_assistant_slug_key UNIQUE (slug);
ALTER TABLE ONLY public.conversations_assistantversion
    ADD CONSTRAINT conversations_assistantversion_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_auditanchor
    ADD CONSTRAINT conversations_auditanchor_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.conversations_auditdelivery
    ADD CONSTRAINT conversations_auditdelivery_pkey PRIMARY KEY (destination);
ALTER TABLE ONLY public.conversations_auditevent
    ADD CONSTRAINT conversations_auditevent_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_banner
    ADD CONSTRAINT conversations_banner_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_budget
    ADD CONSTRAINT conversations_budget_group_id_key UNIQUE (group_id);
ALTER TABLE ONLY public.conversations_budget
    ADD CONSTRAINT conversations_budget_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_budgetcharge
    ADD CONSTRAINT conversations_budgetcharge_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_budgetpool
    ADD CONSTRAINT conversations_budgetpool_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_bytestoremove
    ADD CONSTRAINT conversations_bytestoremove_pkey PRIMARY KEY (place);
ALTER TABLE ONLY public.conversations_cacheforecast
    ADD CONSTRAINT conversations_cacheforecast_pkey PRIMARY KEY (assistant_id);
ALTER TABLE ONLY public.conversations_case
    ADD CONSTRAINT conversations_case_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_caseanswer
    ADD CONSTRAINT conversations_caseanswer_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_caseresult
    ADD CONSTRAINT conversations_caseresult_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_connection
    ADD CONSTRAINT conversations_connection_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_connection
    ADD CONSTRAINT conversations_connection_slug_key UNIQUE (slug);
ALTER TABLE ONLY public.conversations_contentaccess
    ADD CONSTRAINT conversations_contentaccess_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_contentaccess_first
    ADD CONSTRAINT conversations_contentaccess_pkey_first PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_contentaccess_rest
    ADD CONSTRAINT conversations_contentaccess_rest_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_contextblock
    ADD CONSTRAINT conversations_contextblock_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_contextsnapshot
    ADD CONSTRAINT conversations_contextsnapshot_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_contextsnapshot_first
    ADD CONSTRAINT conversations_contextsnapshot_pkey_first PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_contextsnapshot_rest
    ADD CONSTRAINT conversations_contextsnapshot_rest_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_contextsnapshot_rest
    ADD CONSTRAINT conversations_contextsnapshot_rest_reply_id_round_purpose_key UNIQUE (reply_id, round, purpose);
ALTER TABLE ONLY public.conversations_dataset
    ADD CONSTRAINT conversations_dataset_name_key UNIQUE (name);
ALTER TABLE ONLY public.conversations_dataset
    ADD CONSTRAINT conversations_dataset_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_directorygroup
    ADD CONSTRAINT conversations_directorygroup_pkey PRIMARY KEY (group_id);
ALTER TABLE ONLY public.conversations_directoryuser
    ADD CONSTRAINT conversations_directoryuser_pkey PRIMARY KEY (user_id);
ALTER TABLE ONLY public.conversations_experiment
    ADD CONSTRAINT conversations_experiment_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_fallback
    ADD CONSTRAINT conversations_fallback_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_feedback
    ADD CONSTRAINT conversations_feedback_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_file
    ADD CONSTRAINT conversations_file_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_filepart
    ADD CONSTRAINT conversations_filepart_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_givenright
    ADD CONSTRAINT conversations_givenright_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_groupaccess
    ADD CONSTRAINT conversations_groupaccess_group_id_key UNIQUE (group_id);
ALTER TABLE ONLY public.conversations_groupaccess
    ADD CONSTRAINT conversations_groupaccess_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_groupmanager
    ADD CONSTRAINT conversations_groupmanager_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_groupsignin
    ADD CONSTRAINT conversations_groupsignin_pkey PRIMARY KEY (group_id);
ALTER TABLE ONLY public.conversations_heldrow
    ADD CONSTRAINT conversations_heldrow_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_instructions
    ADD CONSTRAINT conversations_instructions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_instructions
    ADD CONSTRAINT conversations_instructions_user_id_key UNIQUE (user_id);
ALTER TABLE ONLY public.conversations_invitation
    ADD CONSTRAINT conversations_invitation_digest_key UNIQUE (digest);
ALTER TABLE ONLY public.conversations_invitation
    ADD CONSTRAINT conversations_invitation_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_invitationgroup
    ADD CONSTRAINT conversations_invitationgroup_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_invitationuse
    ADD CONSTRAINT conversations_invitationuse_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_lease
    ADD CONSTRAINT conversations_lease_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.conversations_legalhold
    ADD CONSTRAINT conversations_legalhold_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_lintfinding
    ADD CONSTRAINT conversations_lintfinding_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_maintenancerun
    ADD CONSTRAINT conversations_maintenancerun_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_mcpcall
    ADD CONSTRAINT conversations_mcpcall_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_mcpserver
    ADD CONSTRAINT conversations_mcpserver_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_mcpsignin
    ADD CONSTRAINT conversations_mcpsignin_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_mcptool
    ADD CONSTRAINT conversations_mcptool_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_message
    ADD CONSTRAINT conversations_message_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_model
    ADD CONSTRAINT conversations_model_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_modelprice
    ADD CONSTRAINT conversations_modelprice_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_moderationfinding
    ADD CONSTRAINT conversations_moderationfinding_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_moderator
    ADD CONSTRAINT conversations_moderator_name_key UNIQUE (name);
ALTER TABLE ONLY public.conversations_moderator
    ADD CONSTRAINT conversations_moderator_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_notice
    ADD CONSTRAINT conversations_notice_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_notice
    ADD CONSTRAINT conversations_notice_version_key UNIQUE (version);
ALTER TABLE ONLY public.conversations_noticeacceptance
    ADD CONSTRAINT conversations_noticeacceptance_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_outgoingmail
    ADD CONSTRAINT conversations_outgoingmail_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_project
    ADD CONSTRAINT conversations_project_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_prompt
    ADD CONSTRAINT conversations_prompt_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_quotation
    ADD CONSTRAINT conversations_quotation_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_replay
    ADD CONSTRAINT conversations_replay_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_reply
    ADD CONSTRAINT conversations_reply_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_replyevent
    ADD CONSTRAINT conversations_replyevent_pkey PRIMARY KEY (reply_id, seq);
ALTER TABLE ONLY public.conversations_replyevent_first
    ADD CONSTRAINT conversations_replyevent_pkey_first PRIMARY KEY (reply_id, seq);
ALTER TABLE ONLY public.conversations_replyevent_rest
    ADD CONSTRAINT conversations_replyevent_rest_pkey PRIMARY KEY (reply_id, seq);
ALTER TABLE ONLY public.conversations_requesthour
    ADD CONSTRAINT conversations_requesthour_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_retentionrule
    ADD CONSTRAINT conversations_retentionrule_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_schedule
    ADD CONSTRAINT conversations_schedule_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_serviceaccount
    ADD CONSTRAINT conversations_serviceaccount_pkey PRIMARY KEY (user_id);
ALTER TABLE ONLY public.conversations_share
    ADD CONSTRAINT conversations_share_digest_key UNIQUE (digest);
ALTER TABLE ONLY public.conversations_share
    ADD CONSTRAINT conversations_share_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_sharedprompt
    ADD CONSTRAINT conversations_sharedprompt_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_temporaryhour
    ADD CONSTRAINT conversations_temporaryhour_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_thread
    ADD CONSTRAINT conversations_thread_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_tokencount
    ADD CONSTRAINT conversations_tokencount_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_tokenfactor
    ADD CONSTRAINT conversations_tokenfactor_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_tokenreservation
    ADD CONSTRAINT conversations_tokenreservation_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_turnfile
    ADD CONSTRAINT conversations_turnfile_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_userlimits
    ADD CONSTRAINT conversations_userlimits_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_userlimits
    ADD CONSTRAINT conversations_userlimits_user_id_key UNIQUE (user_id);
ALTER TABLE ONLY public.conversations_webhook
    ADD CONSTRAINT conversations_webhook_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_webhookdelivery
    ADD CONSTRAINT conversations_webhookdelivery_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.django_admin_log
    ADD CONSTRAINT django_admin_log_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.django_content_type
    ADD CONSTRAINT django_content_type_app_label_model_76bd3d3b_uniq UNIQUE (app_label, model);
ALTER TABLE ONLY public.django_content_type
    ADD CONSTRAINT django_content_type_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.django_migrations
    ADD CONSTRAINT django_migrations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.django_session
    ADD CONSTRAINT django_session_pkey PRIMARY KEY (session_key);
ALTER TABLE ONLY public.django_tasks_database_dbtaskresult
    ADD CONSTRAINT django_tasks_database_dbtaskresult_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_fallback
    ADD CONSTRAINT fallback_once UNIQUE (assistant_id, provider, model);
ALTER TABLE ONLY public.conversations_feedback
    ADD CONSTRAINT feedback_once UNIQUE (message_id);
ALTER TABLE ONLY public.conversations_filepart
    ADD CONSTRAINT file_part_once UNIQUE (file_id, number);
ALTER TABLE ONLY public.conversations_groupmanager
    ADD CONSTRAINT group_manager_once UNIQUE (group_id, user_id);
ALTER TABLE ONLY public.conversations_heldrow
    ADD CONSTRAINT held_once UNIQUE (kind, row_id, digest);
ALTER TABLE ONLY public.conversations_invitationgroup
    ADD CONSTRAINT invitation_group_once UNIQUE (invitation_id, group_id);
ALTER TABLE ONLY public.conversations_invitationuse
    ADD CONSTRAINT invitation_used_once_by_a_person UNIQUE (invitation_id, user_id);
ALTER TABLE ONLY public.conversations_lintfinding
    ADD CONSTRAINT lint_finding_once UNIQUE (rule, assistant_id, subject);
ALTER TABLE ONLY public.conversations_mcpserver
    ADD CONSTRAINT mcp_server_name UNIQUE (user_id, name);
ALTER TABLE ONLY public.conversations_mcpsignin
    ADD CONSTRAINT mcp_sign_in_once UNIQUE (user_id, server_id);
ALTER TABLE ONLY public.conversations_mcptool
    ADD CONSTRAINT mcp_tool_name UNIQUE (server_id, name);
ALTER TABLE ONLY public.memory_consolidation
    ADD CONSTRAINT memory_consolidation_pkey PRIMARY KEY (user_id);
ALTER TABLE ONLY public.memory_dailysummary
    ADD CONSTRAINT memory_dailysummary_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.memory_indexedpassage
    ADD CONSTRAINT memory_indexedpassage_pkey PRIMARY KEY (thread_id, depth, number);
ALTER TABLE ONLY public.memory_memory
    ADD CONSTRAINT memory_memory_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.memory_mirroredmemory
    ADD CONSTRAINT memory_mirroredmemory_pkey PRIMARY KEY (memory_id);
ALTER TABLE ONLY public.memory_preferences
    ADD CONSTRAINT memory_preferences_pkey PRIMARY KEY (user_id);
ALTER TABLE ONLY public.memory_staleindex
    ADD CONSTRAINT memory_staleindex_pkey PRIMARY KEY (user_id);
ALTER TABLE ONLY public.memory_threadsummary
    ADD CONSTRAINT memory_threadsummary_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.memory_topic
    ADD CONSTRAINT memory_topic_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.memory_vocabulary
    ADD CONSTRAINT memory_vocabulary_pkey PRIMARY KEY (user_id);
ALTER TABLE ONLY public.mfa_authenticator
    ADD CONSTRAINT mfa_authenticator_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_model
    ADD CONSTRAINT model_once UNIQUE (provider, name);
ALTER TABLE ONLY public.conversations_noticeacceptance
    ADD CONSTRAINT notice_accepted_once UNIQUE (user_id, version);
ALTER TABLE ONLY public.conversations_contextsnapshot_first
    ADD CONSTRAINT one_snapshot_per_round_first UNIQUE (reply_id, round, purpose);
ALTER TABLE ONLY public.memory_dailysummary
    ADD CONSTRAINT one_summary_a_day_and_project UNIQUE NULLS NOT DISTINCT (user_id, day, project_id);
ALTER TABLE ONLY public.memory_threadsummary
    ADD CONSTRAINT one_summary_a_part UNIQUE (thread_id, first_position);
ALTER TABLE ONLY public.conversations_budgetpool
    ADD CONSTRAINT pool_once UNIQUE NULLS NOT DISTINCT (budget_id, user_id);
ALTER TABLE ONLY public.conversations_modelprice
    ADD CONSTRAINT price_once UNIQUE NULLS NOT DISTINCT (model_id, since, above);
ALTER TABLE ONLY public.conversations_quotation
    ADD CONSTRAINT quotation_once UNIQUE (reply_id, source);
ALTER TABLE ONLY public.conversations_requesthour
    ADD CONSTRAINT request_hour_once UNIQUE (hour, assistant_id, provider, model, above);
ALTER TABLE ONLY public.conversations_retentionrule
    ADD CONSTRAINT retention_rule_once UNIQUE NULLS NOT DISTINCT (kind, group_id, project_id);
ALTER TABLE ONLY public.conversations_givenright
    ADD CONSTRAINT right_given_once UNIQUE (group_id, permission_id);
ALTER TABLE ONLY public.socialaccount_socialaccount
    ADD CONSTRAINT socialaccount_socialaccount_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.socialaccount_socialaccount
    ADD CONSTRAINT socialaccount_socialaccount_provider_uid_fc810c6e_uniq UNIQUE (provider, uid);
ALTER TABLE ONLY public.socialaccount_socialapp
    ADD CONSTRAINT socialaccount_socialapp_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.socialaccount_socialtoken
    ADD CONSTRAINT socialaccount_socialtoken_app_id_account_id_fca4e0ac_uniq UNIQUE (app_id, account_id);
ALTER TABLE ONLY public.socialaccount_socialtoken
    ADD CONSTRAINT socialaccount_socialtoken_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations_tokenfactor
    ADD CONSTRAINT token_factor_once UNIQUE (provider, model);
ALTER TABLE ONLY public.conversations_turnfile
    ADD CONSTRAINT turn_file_once UNIQUE (thread_id, "position", file_id);
ALTER TABLE ONLY public.usersessions_usersession
    ADD CONSTRAINT usersessions_usersession_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.usersessions_usersession
    ADD CONSTRAINT usersessions_usersession_session_key_key UNIQUE (session_key);
CREATE INDEX access_by_user ON ONLY public.conversations_contentaccess USING btree (user_id, id);
CREATE INDEX access_by_user_first ON public.conversations_contentaccess_first USING btree (user_id, id);
CREATE INDEX account_emailaddress_email_03be32b2 ON public.account_emailaddress USING btree (email);
CREATE INDEX account_emailaddress_email_03be32b2_like ON public.account_emailaddress USING btree (email varchar_pattern_ops);
CREATE INDEX account_emailaddress_user_id_2c513194 ON public.account_emailaddress USING btree (user_id);
CREATE INDEX account_emailconfirmation_email_address_id_5b7f8c58 ON public.account_emailconfirmation USING btree (email_address_id);
CREATE INDEX account_emailconfirmation_key_f43612bd_like ON public.account_emailconfirmation USING btree (key varchar_pattern_ops);
CREATE INDEX allowance_of_token ON public.conversations_allowance USING btree (token_id) WHERE (token_id IS NOT NULL);
CREATE INDEX answer_request ON public.conversations_caseanswer USING btree (request_id);
CREATE INDEX answer_verdict ON public.conversations_caseanswer USING btree (verdict_request_id);
CREATE INDEX artifact_of_thread ON public.artifacts_artifact USING btree (thread_id, created_at);
CREATE INDEX artifacts_preset_assistants_assistant_id_4f3ecff2 ON public.artifacts_preset_assistants USING btree (assistant_id);
CREATE INDEX artifacts_preset_assistants_preset_id_37eccd2c ON public.artifacts_preset_assistants USING btree (preset_id);
CREATE INDEX artifacts_preset_slug_5a12d760_like ON public.artifacts_preset USING btree (slug varchar_pattern_ops);
CREATE INDEX audit_event_by_actor ON public.conversations_auditevent USING btree (actor_id, id);
CREATE INDEX audit_event_by_kind ON public.conversations_auditevent USING btree (kind, id);
CREATE INDEX audit_event_by_target ON public.conversations_auditevent USING btree (target_kind, target_id, id);
CREATE INDEX audit_event_unsealed ON public.conversations_auditevent USING btree (id) WHERE (number IS NULL);
CREATE INDEX auth_group_name_a6ea08ec_like ON public.auth_group USING btree (name varchar_pattern_ops);
CREATE INDEX auth_group_permissions_group_id_b120cbf9 ON public.auth_group_permissions USING btree (group_id);
CREATE INDEX auth_group_permissions_permission_id_84c5c92e ON public.auth_group_permissions USING btree (permission_id);
CREATE INDEX auth_permission_content_type_id_2f476e4b ON public.auth_permission USING btree (content_type_id);
CREATE INDEX auth_user_groups_group_id_97559544 ON public.auth_user_groups USING btree (group_id);
CREATE INDEX auth_user_groups_user_id_6a12ed8b ON public.auth_user_groups USING btree (user_id);
CREATE INDEX auth_user_user_permissions_permission_id_1fbb5f2c ON public.auth_user_user_permissions USING btree (permission_id);
CREATE INDEX auth_user_user_permissions_user_id_a95ead1b ON public.auth_user_user_permissions USING btree (user_id);
CREATE INDEX auth_user_username_6821ab7c_like ON public.auth_user USING btree (username varchar_pattern_ops);
CREATE INDEX case_request ON public.conversations_case USING btree (request_id);
CREATE INDEX charge_of_budget ON public.conversations_budgetcharge USING btree (budget_id, day);
CREATE INDEX charge_of_reply ON public.conversations_budgetcharge USING btree (reply_id) WHERE is_open;
CREATE INDEX charge_of_reservation ON public.conversations_budgetcharge USING btree (reservation_id) WHERE (reservation_id IS NOT NULL);
CREATE INDEX consolidation_wanted ON public.memory_consolidation USING btree (wanted_at) WHERE (wanted_at IS NOT NULL);
CREATE INDEX conversations_accountdeletion_due_at_ab7b91cc ON public.conversations_accountdeletion USING btree (due_at);
CREATE INDEX conversations_apitoken_user_id_d7d66e3c ON public.conversations_apitoken USING btree (user_id);
CREATE INDEX conversations_assistant_offered_models_assistant_id_30b3dd70 ON public.conversations_assistant_offered_models USING btree (assistant_id);
CREATE INDEX conversations_assistant_offered_models_model_id_d6034e16 ON public.conversations_assistant_offered_models USING btree (model_id);
CREATE INDEX conversations_assistant_slug_8f8f2dbf_like ON public.conversations_assistant USING btree (slug varchar_pattern_ops);
CREATE INDEX conversations_assistantversion_assistant_id_51228b80 ON public.conversations_assistantversion USING btree (assistant_id);
CREATE INDEX conversations_assistantversion_author_id_0ba69fcd ON public.conversations_assistantversion USING btree (author_id);
CREATE INDEX conversations_auditdelivery_destination_29d7e602_like ON public.conversations_auditdelivery USING btree (destination varchar_pattern_ops);
CREATE INDEX conversations_budgetcharge_user_id_c832ddca ON public.conversations_budgetcharge USING btree (user_id);
CREATE INDEX conversations_budgetpool_user_id_b2d46845 ON public.conversations_budgetpool USING btree (user_id);
CREATE INDEX conversations_bytestoremove_place_c0ecda29_like ON public.conversations_bytestoremove USING btree (place varchar_pattern_ops);
CREATE INDEX conversations_case_dataset_id_4b3f1a7a ON public.conversations_case USING btree (dataset_id);
CREATE INDEX conversations_case_thread_id_a3c45347 ON public.conversations_case USING btree (thread_id);
CREATE INDEX conversations_caseanswer_case_id_dab630af ON public.conversations_caseanswer USING btree (case_id);
CREATE INDEX conversations_caseanswer_experiment_id_23890fdf ON public.conversations_caseanswer USING btree (experiment_id);
CREATE INDEX conversations_caseresult_case_id_6fc96aea ON public.conversations_caseresult USING btree (case_id);
CREATE INDEX conversations_caseresult_experiment_id_c8ac8023 ON public.conversations_caseresult USING btree (experiment_id);
CREATE INDEX conversations_connection_slug_8a50ce92_like ON public.conversations_connection USING btree (slug varchar_pattern_ops);
CREATE INDEX conversations_contentaccess_rest_user_id_id_idx ON public.conversations_contentaccess_rest USING btree (user_id, id);
CREATE INDEX snapshot_of_error ON ONLY public.conversations_contextsnapshot USING btree (COALESCE((error ->> 'code'::text), ''::text), id) WHERE (error IS NOT NULL);
CREATE INDEX snapshot_of_fallback ON ONLY public.conversations_contextsnapshot USING btree (id) WHERE ((fallback_for)::text > ''::text);
CREATE INDEX snapshot_ended ON ONLY public.conversations_contextsnapshot USING brin (status text_bloom_ops (n_distinct_per_range='16'), COALESCE((error ->> 'code'::text), ''::text) text_bloom_ops (n_distinct_per_range='16'), (((error IS NOT NULL))::integer)) WITH (autosummarize='on', pages_per_range='16');
CREATE INDEX snapshot_by_thread ON ONLY public.conversations_contextsnapshot USING btree (thread_id, created_at);
CREATE INDEX conversations_contextsnapshot_first_of_error ON public.conversations_contextsnapshot_first USING btree (COALESCE((error ->> 'code'::text), ''::text), id) WHERE (error IS NOT NULL);
CREATE INDEX snapshot_made ON ONLY public.conversations_contextsnapshot USING brin (model text_bloom_ops (n_distinct_per_range='16'), purpose text_bloom_ops (n_distinct_per_range='16'), (((total_tokens > budget))::integer), ((((strpos((runs || ';'::text), ' over_budget;'::text) + strpos(runs, ' over_budget '::text)) > 0))::integer), ((((strpos((runs || ';'::text), ' turn_limit;'::text) + strpos(runs, ' turn_limit '::text)) > 0))::integer), ((((strpos((runs || ';'::text), ' superseded;'::text) + strpos(runs, ' superseded '::text)) > 0))::integer), ((((strpos((runs || ';'::text), ' fulfilled_artifact;'::text) + strpos(runs, ' fulfilled_artifact '::text)) > 0))::integer), ((((strpos((runs || ';'::text), ' orphan_tool;'::text) + strpos(runs, ' orphan_tool '::text)) > 0))::integer), ((((strpos((runs || ';'::text), ' recalled;'::text) + strpos(runs, ' recalled '::text)) > 0))::integer), ((((strpos((runs || ';'::text), ' outside_part;'::text) + strpos(runs, ' outside_part '::text)) > 0))::integer), ((((strpos((runs || ';'::text), ' refused;'::text) + strpos(runs, ' refused '::text)) > 0))::integer), ((((strpos((runs || ';'::text), ' failed;'::text) + strpos(runs, ' failed '::text)) > 0))::integer), ((((strpos((runs || ';'::text), ' offline;'::text) + strpos(runs, ' offline '::text)) > 0))::integer), ((((strpos((runs || ';'::text), ' shortened;'::text) + strpos(runs, ' shortened '::text)) > 0))::integer)) WITH (autosummarize='on', pages_per_range='16');
CREATE INDEX conversations_contextsnapshot_model_purpose_int4_int41_int4_idx ON public.conversations_contextsnapshot_rest USING brin (model text_bloom_ops (n_distinct_per_range='16'), purpose text_bloom_ops (n_distinct_per_range='16'), (((total_tokens > budget))::integer), ((((strpos((runs || ';'::text), ' over_budget;'::text) + strpos(runs, ' over_budget '::text)) > 0))::integer), ((((strpos((runs || ';'::text), ' turn_limit;'::text) + strpos(runs, ' turn_limit '::text)) > 0))::integer), ((((strpos((runs || ';'::text), ' superseded;'::text) + strpos(runs, ' superseded '::text)) > 0))::integer), ((((strpos((runs || ';'::text), ' fulfilled_artifact;'::text) + strpos(runs, ' fulfilled_artifact '::text)) > 0))::integer), ((((strpos((runs || ';'::text), ' orphan_tool;'::text) + strpos(runs, ' orphan_tool '::text)) > 0))::integer), ((((strpos((runs || ';'::text), ' recalled;'::text) + strpos(runs, ' recalled '::text)) > 0))::integer), ((((strpos((runs || ';'::text), ' outside_part;'::text) + strpos(runs, ' outside_part '::text)) > 0))::integer), ((((strpos((runs || ';'::text), ' refused;'::text) + strpos(runs, ' refused '::text)) > 0))::integer), ((((strpos((runs || ';'::text), ' failed;'::text) + strpos(runs, ' failed '::text)) > 0))::integer), ((((strpos((runs || ';'::text), ' offline;'::text) + strpos(runs, ' offline '::text)) > 0))::integer), ((((strpos((runs || ';'::text), ' shortened;'::text) + strpos(runs, ' shortened '::text)) > 0))::integer)) WITH (autosummarize='on', pages_per_range='16');
CREATE INDEX conversations_contextsnapshot_rest_id_idx ON public.conversations_contextsnapshot_rest USING btree (id) WHERE ((fallback_for)::text > ''::text);
CREATE INDEX conversations_contextsnapshot_rest_of_error ON public.conversations_contextsnapshot_rest USING btree (COALESCE((error ->> 'code'::text), ''::text), id) WHERE (error IS NOT NULL);
CREATE INDEX conversations_contextsnapshot_rest_status_coalesce_int4_idx ON public.conversations_contextsnapshot_rest USING brin (status text_bloom_ops (n_distinct_per_range='16'), COALESCE((error ->> 'code'::text), ''::text) text_bloom_ops (n_distinct_per_range='16'), (((error IS NOT NULL))::integer)) WITH (autosummarize='on', pages_per_range='16');
CREATE INDEX conversations_contextsnapshot_rest_thread_id_created_at_idx ON public.conversations_contextsnapshot_rest USING btree (thread_id, created_at);
CREATE INDEX conversations_dataset_author_id_950ea640 ON public.conversations_dataset USING btree (author_id);
CREATE INDEX conversations_dataset_name_d0453eb2_like ON public.conversations_dataset USING btree (name varchar_pattern_ops);
CREATE INDEX conversations_directoryuser_external_id_abd7bd87 ON public.conversations_directoryuser USING btree (external_id);
CREATE INDEX conversations_directoryuser_external_id_abd7bd87_like ON public.conversations_directoryuser USING btree (external_id varchar_pattern_ops);
CREATE INDEX conversations_experiment_author_id_93fae194 ON public.conversations_experiment USING btree (author_id);
CREATE INDEX conversations_experiment_dataset_id_4e83fcb3 ON public.conversations_experiment USING btree (dataset_id);
CREATE INDEX conversations_fallback_assistant_id_27c50825 ON public.conversations_fallback USING btree (assistant_id);
CREATE INDEX conversations_feedback_thread_id_e79046fe ON public.conversations_feedback USING btree (thread_id);
CREATE INDEX conversations_givenright_group_id_bf8d83c0 ON public.conversations_givenright USING btree (group_id);
CREATE INDEX conversations_givenright_permission_id_3cb4bd21 ON public.conversations_givenright USING btree (permission_id);
CREATE INDEX conversations_groupmanager_group_id_6ae7b53c ON public.conversations_groupmanager USING btree (group_id);
CREATE INDEX conversations_groupmanager_user_id_87613aeb ON public.conversations_groupmanager USING btree (user_id);
CREATE INDEX conversations_invitation_made_by_id_b2467003 ON public.conversations_invitation USING btree (made_by_id);
CREATE INDEX conversations_invitationgroup_group_id_87a6da5c ON public.conversations_invitationgroup USING btree (group_id);
CREATE INDEX conversations_invitationgroup_invitation_id_df399d26 ON public.conversations_invitationgroup USING btree (invitation_id);
CREATE INDEX conversations_invitationuse_invitation_id_6009ea35 ON public.conversations_invitationuse USING btree (invitation_id);
CREATE INDEX conversations_invitationuse_user_id_bd1e3fd4 ON public.conversations_invitationuse USING btree (user_id);
CREATE INDEX conversations_lease_name_d69832cd_like ON public.conversations_lease USING btree (name varchar_pattern_ops);
CREATE INDEX conversations_lintfinding_accepted_by_id_01bbecab ON public.conversations_lintfinding USING btree (accepted_by_id);
CREATE INDEX conversations_lintfinding_assistant_id_fe9b1c03 ON public.conversations_lintfinding USING btree (assistant_id);
CREATE INDEX conversations_mcpcall_thread_id_34565133 ON public.conversations_mcpcall USING btree (thread_id);
CREATE INDEX conversations_mcpcall_tool_id_8aa4f6d3 ON public.conversations_mcpcall USING btree (tool_id);
CREATE INDEX conversations_mcpsignin_server_id_be73cfb8 ON public.conversations_mcpsignin USING btree (server_id);
CREATE INDEX conversations_modelprice_model_id_040992f6 ON public.conversations_modelprice USING btree (model_id);
CREATE INDEX conversations_moderator_name_0c7a94fe_like ON public.conversations_moderator USING btree (name varchar_pattern_ops);
CREATE INDEX conversations_outgoingmail_user_id_807a15c1 ON public.conversations_outgoingmail USING btree (user_id);
CREATE INDEX conversations_project_assistant_id_6a79bad6 ON public.conversations_project USING btree (assistant_id);
CREATE INDEX conversations_quotation_source_ce62f4f4 ON public.conversations_quotation USING btree (source);
CREATE INDEX conversations_replay_assistant_id_052dc990 ON public.conversations_replay USING btree (assistant_id);
CREATE INDEX conversations_replay_author_id_f5825c2a ON public.conversations_replay USING btree (author_id);
CREATE INDEX conversations_replay_version_id_d1cad847 ON public.conversations_replay USING btree (version_id);
CREATE INDEX conversations_retentionrule_group_id_3815e9c9 ON public.conversations_retentionrule USING btree (group_id);
CREATE INDEX conversations_retentionrule_project_id_404f1db9 ON public.conversations_retentionrule USING btree (project_id);
CREATE INDEX conversations_schedule_thread_id_ee70329a ON public.conversations_schedule USING btree (thread_id);
CREATE INDEX conversations_share_thread_id_fdd8a399 ON public.conversations_share USING btree (thread_id);
CREATE INDEX conversations_temporaryhour_hour_0d0277ba ON public.conversations_temporaryhour USING btree (hour);
CREATE INDEX conversations_turnfile_file_id_b4c4f9e4 ON public.conversations_turnfile USING btree (file_id);
CREATE INDEX conversations_webhookdelivery_user_id_09d23316 ON public.conversations_webhookdelivery USING btree (user_id);
CREATE INDEX day_of_project ON public.memory_dailysummary USING btree (project_id) WHERE (project_id IS NOT NULL);
CREATE INDEX delivery_age ON public.conversations_webhookdelivery USING btree (created_at);
CREATE INDEX delivery_due ON public.conversations_webhookdelivery USING btree (webhook_id, due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX delivery_list ON public.conversations_webhookdelivery USING btree (webhook_id, created_at DESC, id);
CREATE INDEX django_admin_log_content_type_id_c4bce8eb ON public.django_admin_log USING btree (content_type_id);
CREATE INDEX django_admin_log_user_id_c564eba6 ON public.django_admin_log USING btree (user_id);
CREATE INDEX django_session_expire_date_a5c62663 ON public.django_session USING btree (expire_date);
CREATE INDEX django_session_session_key_c0390e0f_like ON public.django_session USING btree (session_key varchar_pattern_ops);
CREATE INDEX django_task_backend_071754_idx ON public.django_tasks_database_dbtaskresult USING btree (backend_name);
CREATE INDEX django_task_queue_n_99c321_idx ON public.django_tasks_database_dbtaskresult USING btree (queue_name);
CREATE INDEX feedback_queue ON public.conversations_feedback USING btree (state, id);
CREATE INDEX file_in_no_thread ON public.conversations_file USING btree (id) WHERE (thread_id IS NULL);
CREATE INDEX file_list ON public.conversations_file USING btree (user_id, id);
CREATE INDEX file_of_project ON public.conversations_file USING btree (project_id) WHERE (project_id IS NOT NULL);
CREATE INDEX file_of_thread ON public.conversations_file USING btree (thread_id) WHERE (thread_id IS NOT NULL);
CREATE INDEX file_part_sample ON public.conversations_filepart USING gin (terms) WITH (gin_pending_list_limit='1024') WHERE (mod(number, 8) = 1);
CREATE INDEX file_part_terms ON public.conversations_filepart USING gin (terms) WITH (gin_pending_list_limit='1024');
CREATE INDEX file_reading ON public.conversations_file USING btree (id) WHERE ((state)::text = 'reading'::text);
CREATE INDEX finding_of_reply ON public.conversations_moderationfinding USING btree (reply_id);
CREATE INDEX finding_of_thread ON public.conversations_moderationfinding USING btree (thread_id);
CREATE INDEX finding_worth_a_look ON public.conversations_moderationfinding USING btree (id) WHERE (NOT ((result)::text = 'allowed'::text));
CREATE INDEX held_bytes ON public.conversations_heldrow USING btree (place) WHERE (NOT ((place)::text = ''::text));
CREATE INDEX held_of_thread ON public.conversations_heldrow USING btree (thread_id) WHERE (thread_id IS NOT NULL);
CREATE INDEX held_of_user ON public.conversations_heldrow USING btree (user_id, id);
CREATE INDEX hold_in_force ON public.conversations_legalhold USING btree (user_id) WHERE (ended_at IS NULL);
CREATE INDEX hold_to_release ON public.conversations_legalhold USING btree (id) WHERE (released_at IS NULL);
CREATE INDEX indexed_passage_terms ON public.memory_indexedpassage USING gin (terms) WITH (gin_pending_list_limit='128');
CREATE INDEX maintenance_latest ON public.conversations_maintenancerun USING btree (kind, began_at DESC);
CREATE INDEX mcp_call_list ON public.conversations_mcpcall USING btree (user_id, created_at DESC, id DESC);
CREATE UNIQUE INDEX mcp_server_name_for_all ON public.conversations_mcpserver USING btree (name) WHERE for_all;
CREATE INDEX memory_lasting ON public.memory_memory USING btree (user_id, confined_to, created_at DESC, id DESC) WHERE ((ended_at IS NULL) AND (valid_until IS NULL));
CREATE INDEX memory_list ON public.memory_memory USING btree (user_id, created_at DESC, id DESC);
CREATE INDEX memory_memory_superseded_by_id_24bf332f ON public.memory_memory USING btree (superseded_by_id);
CREATE INDEX memory_mirroredmemory_user_id_20641f55 ON public.memory_mirroredmemory USING btree (user_id);
CREATE INDEX memory_passing ON public.memory_memory USING btree (user_id, confined_to, valid_until DESC, id DESC) WHERE ((ended_at IS NULL) AND (valid_until IS NOT NULL));
CREATE INDEX memory_superseded ON public.memory_memory USING btree (user_id) WHERE (superseded_by_id IS NOT NULL);
CREATE INDEX memory_threadsummary_thread_id_676e3505 ON public.memory_threadsummary USING btree (thread_id);
CREATE INDEX memory_topic_thread_id_e8ae5759 ON public.memory_topic USING btree (thread_id);
CREATE UNIQUE INDEX message_of_reply_once ON public.conversations_message USING btree (reply_id) WHERE (reply_id IS NOT NULL);
CREATE UNIQUE INDEX message_one_active_path ON public.conversations_message USING btree (thread_id, depth) INCLUDE ("position", token_total, token_count, user_id) WHERE is_active;
CREATE UNIQUE INDEX message_position_once ON public.conversations_message USING btree (thread_id, "position");
CREATE INDEX message_refused ON public.conversations_message USING btree (thread_id) WHERE ((status)::text = 'refused'::text);
CREATE UNIQUE INDEX message_sent_once ON public.conversations_message USING btree (thread_id, client_message_id) WHERE (client_message_id IS NOT NULL);
CREATE INDEX message_versions ON public.conversations_message USING btree (COALESCE(parent_id, thread_id)) WHERE (NOT is_active);
CREATE INDEX mfa_authenticator_user_id_0c3a50c0 ON public.mfa_authenticator USING btree (user_id);
CREATE UNIQUE INDEX one_default_assistant ON public.conversations_assistant USING btree (is_default) WHERE is_default;
CREATE UNIQUE INDEX one_running_reply_per_thread ON public.conversations_reply USING btree (thread_id) WHERE ((status)::text = 'running'::text);
CREATE INDEX outgoing_mail_due ON public.conversations_outgoingmail USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE UNIQUE INDEX preset_clicked_once ON public.conversations_reply USING btree (thread_id, client_id) WHERE (client_id IS NOT NULL);
CREATE INDEX project_list ON public.conversations_project USING btree (user_id, name, id);
CREATE INDEX prompt_list ON public.conversations_prompt USING btree (user_id, name, id);
CREATE INDEX reply_of_foreign_request ON public.conversations_reply USING btree (request_id) WHERE ((request_id)::text ~ '^(?![0-9a-f]{12}7[0-9a-f]{19}$)'::text);
CREATE INDEX reply_of_turn ON public.conversations_reply USING btree (thread_id, user_message_id);
CREATE INDEX reservation_of_user ON public.conversations_tokenreservation USING btree (user_id, created_at);
CREATE INDEX schedule_due ON public.conversations_schedule USING btree (next_at) WHERE ((next_at IS NOT NULL) AND (NOT paused));
CREATE INDEX schedule_of_user ON public.conversations_schedule USING btree (user_id, id);
CREATE INDEX share_of_user ON public.conversations_share USING btree (user_id, id);
CREATE INDEX snapshot_by_thread_first ON public.conversations_contextsnapshot_first USING btree (thread_id, created_at);
CREATE INDEX snapshot_ended_first ON public.conversations_contextsnapshot_first USING brin (status text_bloom_ops (n_distinct_per_range='16'), COALESCE((error ->> 'code'::text), ''::text) text_bloom_ops (n_distinct_per_range='16'), (((error IS NOT NULL))::integer)) WITH (autosummarize='on', pages_per_range='16');
CREATE INDEX snapshot_made_first ON public.conversations_contextsnapshot_first USING brin (model text_bloom_ops (n_distinct_per_range='16'), purpose text_bloom_ops (n_distinct_per_range='16'), (((total_tokens > budget))::integer), ((((strpos((runs || ';'::text), ' over_budget;'::text) + strpos(runs, ' over_budget '::text)) > 0))::integer), ((((strpos((runs || ';'::text), ' turn_limit;'::text) + strpos(runs, ' turn_limit '::text)) > 0))::integer), ((((strpos((runs || ';'::text), ' superseded;'::text) + strpos(runs, ' superseded '::text)) > 0))::integer), ((((strpos((runs || ';'::text), ' fulfilled_artifact;'::text) + strpos(runs, ' fulfilled_artifact '::text)) > 0))::integer), ((((strpos((runs || ';'::text), ' orphan_tool;'::text) + strpos(runs, ' orphan_tool '::text)) > 0))::integer), ((((strpos((runs || ';'::text), ' recalled;'::text) + strpos(runs, ' recalled '::text)) > 0))::integer), ((((strpos((runs || ';'::text), ' outside_part;'::text) + strpos(runs, ' outside_part '::text)) > 0))::integer), ((((strpos((runs || ';'::text), ' refused;'::text) + strpos(runs, ' refused '::text)) > 0))::integer), ((((strpos((runs || ';'::text), ' failed;'::text) + strpos(runs, ' failed '::text)) > 0))::integer), ((((strpos((runs || ';'::text), ' offline;'::text) + strpos(runs, ' offline '::text)) > 0))::integer), ((((strpos((runs || ';'::text), ' shortened;'::text) + strpos(runs, ' shortened '::text)) > 0))::integer)) WITH (autosummarize='on', pages_per_range='16');
CREATE INDEX snapshot_of_fallback_first ON public.conversations_contextsnapshot_first USING btree (id) WHERE ((fallback_for)::text > ''::text);
CREATE INDEX socialaccount_socialaccount_user_id_8146e70c ON public.socialaccount_socialaccount USING btree (user_id);
CREATE INDEX socialaccount_socialtoken_account_id_951f210e ON public.socialaccount_socialtoken USING btree (account_id);
CREATE INDEX socialaccount_socialtoken_app_id_636a42d7 ON public.socialaccount_socialtoken USING btree (app_id);
CREATE INDEX tasks_db_new_ordering_idx ON public.django_tasks_database_dbtaskresult USING btree (status, priority DESC, run_after, enqueued_at) WHERE ((status)::text = 'READY'::text);
CREATE INDEX thread_forks ON public.conversations_thread USING btree (forked_from_id) WHERE (forked_from_id IS NOT NULL);
CREATE INDEX thread_list ON public.conversations_thread USING btree (user_id, updated_at);
CREATE INDEX thread_newest ON public.conversations_thread USING btree (updated_at);
CREATE INDEX thread_of_project ON public.conversations_thread USING btree (project_id, updated_at) WHERE (project_id IS NOT NULL);
CREATE UNIQUE INDEX thread_opened_once ON public.conversations_thread USING btree (user_id, opened_by) WHERE (opened_by IS NOT NULL);
CREATE INDEX thread_outside ON public.conversations_thread USING btree (user_id, updated_at) WHERE ((NOT archived) AND (NOT pinned) AND (project_id IS NULL) AND (NOT temporary));
CREATE INDEX thread_pinned ON public.conversations_thread USING btree (user_id, updated_at) WHERE ((NOT archived) AND pinned AND (NOT temporary));
CREATE INDEX thread_summary_newest ON public.memory_threadsummary USING btree (user_id, ended_at DESC, id DESC);
CREATE INDEX thread_summary_stale ON public.memory_threadsummary USING btree (user_id) WHERE (stale_since IS NOT NULL);
CREATE INDEX thread_temporary ON public.conversations_thread USING btree (updated_at) WHERE temporary;
CREATE UNIQUE INDEX token_count_once ON public.conversations_tokencount USING btree (thread_id, provider, model, "position") INCLUDE (tokens);
CREATE INDEX topic_list ON public.memory_topic USING btree (user_id, opened_at DESC, id DESC);
CREATE INDEX topic_unresolved ON public.memory_topic USING btree (user_id, opened_at DESC, id DESC) WHERE (resolved_at IS NULL);
CREATE UNIQUE INDEX unique_authenticator_type ON public.mfa_authenticator USING btree (user_id, type) WHERE (type IN ('totp', 'recovery_codes'));
CREATE UNIQUE INDEX unique_primary_email ON public.account_emailaddress USING btree (user_id, "primary") WHERE "primary";
CREATE UNIQUE INDEX unique_verified_email ON public.account_emailaddress USING btree (email) WHERE verified;
CREATE INDEX usersessions_usersession_session_key_fd35de43_like ON public.usersessions_usersession USING btree (session_key varchar_pattern_ops);
CREATE INDEX usersessions_usersession_user_id_af5e0a6d ON public.usersessions_usersession USING btree (user_id);
CREATE INDEX version_of_thread ON public.artifacts_artifactversion USING btree (thread_id, created_at);
CREATE INDEX webhook_for_all ON public.conversations_webhook USING btree (id) WHERE (for_all AND is_active);
CREATE INDEX webhook_of_user ON public.conversations_webhook USING btree (user_id, id);
ALTER INDEX public.access_by_user ATTACH PARTITION public.access_by_user_first;
ALTER INDEX public.conversations_contentaccess_pkey ATTACH PARTITION public.conversations_contentaccess_pkey_first;
ALTER INDEX public.conversations_contentaccess_pkey ATTACH PARTITION public.conversations_contentaccess_rest_pkey;
ALTER INDEX public.access_by_user ATTACH PARTITION public.conversations_contentaccess_rest_user_id_id_idx;
ALTER INDEX public.snapshot_of_error ATTACH PARTITION public.conversations_contextsnapshot_first_of_error;
ALTER INDEX public.snapshot_made ATTACH PARTITION public.conversations_contextsnapshot_model_purpose_int4_int41_int4_idx;
ALTER INDEX public.conversations_contextsnapshot_pkey ATTACH PARTITION public.conversations_contextsnapshot_pkey_first;
ALTER INDEX public.snapshot_of_fallback ATTACH PARTITION public.conversations_contextsnapshot_rest_id_idx;
ALTER INDEX public.snapshot_of_error ATTACH PARTITION public.conversations_contextsnapshot_rest_of_error;
ALTER INDEX public.conversations_contextsnapshot_pkey ATTACH PARTITION public.conversations_contextsnapshot_rest_pkey;
ALTER INDEX public.snapshot_ended ATTACH PARTITION public.conversations_contextsnapshot_rest_status_coalesce_int4_idx;
ALTER INDEX public.snapshot_by_thread ATTACH PARTITION public.conversations_contextsnapshot_rest_thread_id_created_at_idx;
ALTER INDEX public.conversations_replyevent_pkey ATTACH PARTITION public.conversations_replyevent_pkey_first;
ALTER INDEX public.conversations_replyevent_pkey ATTACH PARTITION public.conversations_replyevent_rest_pkey;
ALTER INDEX public.snapshot_by_thread ATTACH PARTITION public.snapshot_by_thread_first;
ALTER INDEX public.snapshot_ended ATTACH PARTITION public.snapshot_ended_first;
ALTER INDEX public.snapshot_made ATTACH PARTITION public.snapshot_made_first;
ALTER INDEX public.snapshot_of_fallback ATTACH PARTITION public.snapshot_of_fallback_first;
CREATE TRIGGER keep_accesses BEFORE DELETE OR UPDATE ON public.conversations_contentaccess FOR EACH ROW EXECUTE FUNCTION public.openbook_refuse_always();
CREATE TRIGGER keep_all_accesses BEFORE TRUNCATE ON public.conversations_contentaccess FOR EACH STATEMENT EXECUTE FUNCTION public.openbook_refuse_always();
CREATE TRIGGER keep_all_accesses BEFORE TRUNCATE ON public.conversations_contentaccess_first FOR EACH STATEMENT EXECUTE FUNCTION public.openbook_refuse_always();
CREATE TRIGGER keep_all_accesses BEFORE TRUNCATE ON public.conversations_contentaccess_rest FOR EACH STATEMENT EXECUTE FUNCTION public.openbook_refuse_always();
CREATE TRIGGER keep_all_auditanchors BEFORE TRUNCATE ON public.conversations_auditanchor FOR EACH STATEMENT EXECUTE FUNCTION public.openbook_keep_audit();
CREATE TRIGGER keep_all_auditevents BEFORE TRUNCATE ON public.conversations_auditevent FOR EACH STATEMENT EXECUTE FUNCTION public.openbook_keep_audit();
CREATE TRIGGER keep_all_blocks BEFORE TRUNCATE ON public.conversations_contextblock FOR EACH STATEMENT EXECUTE FUNCTION public.openbook_refuse();
CREATE TRIGGER keep_all_replies BEFORE TRUNCATE ON public.conversations_reply FOR EACH STATEMENT EXECUTE FUNCTION public.openbook_refuse();
CREATE TRIGGER keep_all_snapshots BEFORE TRUNCATE ON public.conversations_contextsnapshot FOR EACH STATEMENT EXECUTE FUNCTION public.openbook_refuse();
CREATE TRIGGER keep_all_snapshots BEFORE TRUNCATE ON public.conversations_contextsnapshot_first FOR EACH STATEMENT EXECUTE FUNCTION public.openbook_refuse();
CREATE TRIGGER keep_all_snapshots BEFORE TRUNCATE ON public.conversations_contextsnapshot_rest FOR EACH STATEMENT EXECUTE FUNCTION public.openbook_refuse();
CREATE TRIGGER keep_all_turns BEFORE TRUNCATE ON public.conversations_message FOR EACH STATEMENT EXECUTE FUNCTION public.openbook_refuse();
CREATE TRIGGER keep_all_versions BEFORE TRUNCATE ON public.artifacts_artifactversion FOR EACH STATEMENT EXECUTE FUNCTION public.openbook_refuse();
CREATE TRIGGER keep_auditanchors BEFORE DELETE OR UPDATE ON public.conversations_auditanchor FOR EACH ROW EXECUTE FUNCTION public.openbook_keep_audit();
CREATE TRIGGER keep_auditevents BEFORE DELETE OR UPDATE ON public.conversations_auditevent FOR EACH ROW EXECUTE FUNCTION public.openbook_keep_audit();
CREATE TRIGGER keep_blocks BEFORE DELETE OR UPDATE ON public.conversations_contextblock FOR EACH ROW EXECUTE FUNCTION public.openbook_refuse();
CREATE TRIGGER keep_ended_replies BEFORE UPDATE ON public.conversations_reply FOR EACH ROW WHEN ((((old.status)::text <> 'running'::text) AND (NOT public.openbook_door_is_open()))) EXECUTE FUNCTION public.openbook_refuse_end();
CREATE TRIGGER keep_snapshots BEFORE DELETE ON public.conversations_contextsnapshot FOR EACH ROW EXECUTE FUNCTION public.openbook_refuse();
CREATE TRIGGER keep_snapshots_as_they_are BEFORE UPDATE ON public.conversations_contextsnapshot FOR EACH ROW EXECUTE FUNCTION public.openbook_refuse_change('status', 'stop_reason', 'provider_request_id', 'provider_message_id', 'diagnostics', 'usage', 'error', 'stop_details', 'thinking_ms', 'first_token_ms', 'ended_at');
CREATE TRIGGER keep_snapshots_once_ended BEFORE UPDATE ON public.conversations_contextsnapshot FOR EACH ROW WHEN ((((old.status)::text <> 'pending'::text) AND (NOT public.openbook_door_is_open()))) EXECUTE FUNCTION public.openbook_refuse_end();
CREATE TRIGGER keep_status_of_turns BEFORE UPDATE ON public.conversations_message FOR EACH ROW WHEN ((((old.status)::text <> (new.status)::text) AND (NOT public.openbook_door_is_open()) AND (NOT (((old.role)::text = 'user'::text) AND ((old.status)::text = ANY ((ARRAY['complete'::character varying, 'refused'::character varying])::text[])) AND ((new.status)::text = ANY ((ARRAY['complete'::character varying, 'refused'::character varying])::text[])))))) EXECUTE FUNCTION public.openbook_refuse();
CREATE TRIGGER keep_turns BEFORE DELETE ON public.conversations_message FOR EACH ROW EXECUTE FUNCTION public.openbook_refuse();
CREATE TRIGGER keep_turns_as_they_are BEFORE UPDATE ON public.conversations_message FOR EACH ROW EXECUTE FUNCTION public.openbook_refuse_change('is_active', 'status');
CREATE TRIGGER keep_versions BEFORE DELETE ON public.artifacts_artifactversion FOR EACH ROW EXECUTE FUNCTION public.openbook_refuse();
CREATE TRIGGER keep_versions_as_they_are BEFORE UPDATE ON public.artifacts_artifactversion FOR EACH ROW EXECUTE FUNCTION public.openbook_refuse_change('message_id', 'size');
CREATE TRIGGER keep_versions_as_they_are BEFORE UPDATE ON public.conversations_assistantversion FOR EACH ROW EXECUTE FUNCTION public.openbook_refuse_change('note', 'author_id', 'published_at');
CREATE TRIGGER note_bytes_of_all_files BEFORE TRUNCATE ON public.conversations_file FOR EACH STATEMENT EXECUTE FUNCTION public.openbook_note_all_bytes('place');
CREATE TRIGGER note_bytes_of_files AFTER DELETE ON public.conversations_file FOR EACH ROW EXECUTE FUNCTION public.openbook_note_bytes('place');
CREATE TRIGGER note_pictures_of_all_parts BEFORE TRUNCATE ON public.conversations_filepart FOR EACH STATEMENT EXECUTE FUNCTION public.openbook_note_all_bytes('picture');
CREATE TRIGGER note_pictures_of_parts AFTER DELETE ON public.conversations_filepart FOR EACH ROW WHEN (((old.picture)::text <> ''::text)) EXECUTE FUNCTION public.openbook_note_bytes('picture');
CREATE TRIGGER note_replaced_thumbnails AFTER UPDATE OF thumbnail ON public.conversations_file FOR EACH ROW WHEN ((((old.thumbnail)::text <> ''::text) AND ((old.thumbnail)::text <> (new.thumbnail)::text))) EXECUTE FUNCTION public.openbook_note_bytes('thumbnail');
CREATE TRIGGER note_thumbnails_of_all_files BEFORE TRUNCATE ON public.conversations_file FOR EACH STATEMENT EXECUTE FUNCTION public.openbook_note_all_bytes('thumbnail');
CREATE TRIGGER note_thumbnails_of_files AFTER DELETE ON public.conversations_file FOR EACH ROW WHEN (((old.thumbnail)::text <> ''::text)) EXECUTE FUNCTION public.openbook_note_bytes('thumbnail');
CREATE TRIGGER say_whose BEFORE INSERT ON public.artifacts_artifact FOR EACH ROW WHEN ((new.user_id IS NULL)) EXECUTE FUNCTION public.openbook_user_of_thread();
CREATE TRIGGER say_whose BEFORE INSERT ON public.artifacts_artifactversion FOR EACH ROW WHEN ((new.user_id IS NULL)) EXECUTE FUNCTION public.openbook_user_of_thread();
CREATE TRIGGER say_whose BEFORE INSERT ON public.conversations_contextblock FOR EACH ROW WHEN (((new.user_id IS NULL) AND (new.thread_id IS NOT NULL))) EXECUTE FUNCTION public.openbook_user_of_thread();
CREATE TRIGGER say_whose BEFORE INSERT ON public.conversations_contextsnapshot FOR EACH ROW WHEN ((new.user_id IS NULL)) EXECUTE FUNCTION public.openbook_user_of_thread();
CREATE TRIGGER say_whose BEFORE INSERT ON public.conversations_filepart FOR EACH ROW WHEN ((new.user_id IS NULL)) EXECUTE FUNCTION public.openbook_user_of_file();
CREATE TRIGGER say_whose BEFORE INSERT ON public.conversations_message FOR EACH ROW WHEN ((new.user_id IS NULL)) EXECUTE FUNCTION public.openbook_user_of_thread();
CREATE TRIGGER say_whose BEFORE INSERT ON public.conversations_reply FOR EACH ROW WHEN ((new.user_id IS NULL)) EXECUTE FUNCTION public.openbook_user_of_thread();
CREATE TRIGGER say_whose BEFORE INSERT ON public.conversations_replyevent FOR EACH ROW WHEN ((new.user_id IS NULL)) EXECUTE FUNCTION public.openbook_user_of_reply();
CREATE TRIGGER say_whose BEFORE INSERT ON public.conversations_tokencount FOR EACH ROW WHEN ((new.user_id IS NULL)) EXECUTE FUNCTION public.openbook_user_of_thread();
CREATE TRIGGER say_whose BEFORE INSERT ON public.conversations_turnfile FOR EACH ROW WHEN ((new.user_id IS NULL)) EXECUTE FUNCTION public.openbook_user_of_thread();
CREATE TRIGGER version_assistants BEFORE INSERT OR UPDATE ON public.conversations_assistant FOR EACH ROW EXECUTE FUNCTION public.openbook_version_assistant();
CREATE TRIGGER version_preset_links AFTER INSERT OR DELETE OR UPDATE ON public.artifacts_preset_assistants FOR EACH ROW EXECUTE FUNCTION public.openbook_version_preset_link();
CREATE TRIGGER version_presets AFTER UPDATE ON public.artifacts_preset FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.openbook_version_preset();
ALTER TABLE ONLY public.account_emailaddress
    ADD CONSTRAINT account_emailaddress_user_id_2c513194_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.account_emailconfirmation
    ADD CONSTRAINT account_emailconfirm_email_address_id_5b7f8c58_fk_account_e FOREIGN KEY (email_address_id) REFERENCES public.account_emailaddress(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.artifacts_artifact
    ADD CONSTRAINT artifacts_artifact_thread_id_1b562d6f_fk_conversat FOREIGN KEY (thread_id) REFERENCES public.conversations_thread(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.artifacts_artifactversion
    ADD CONSTRAINT artifacts_artifactve_artifact_id_02715c9b_fk_artifacts FOREIGN KEY (artifact_id) REFERENCES public.artifacts_artifact(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.artifacts_artifactversion
    ADD CONSTRAINT artifacts_artifactve_thread_id_aebb5c5c_fk_conversat FOREIGN KEY (thread_id) REFERENCES public.conversations_thread(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.artifacts_preset_assistants
    ADD CONSTRAINT artifacts_preset_ass_assistant_id_4f3ecff2_fk_conversat FOREIGN KEY (assistant_id) REFERENCES public.conversations_assistant(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.artifacts_preset_assistants
    ADD CONSTRAINT artifacts_preset_ass_preset_id_37eccd2c_fk_artifacts FOREIGN KEY (preset_id) REFERENCES public.artifacts_preset(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.auth_group_permissions
    ADD CONSTRAINT auth_group_permissio_permission_id_84c5c92e_fk_auth_perm FOREIGN KEY (permission_id) REFERENCES public.auth_permission(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.auth_group_permissions
    ADD CONSTRAINT auth_group_permissions_group_id_b120cbf9_fk_auth_group_id FOREIGN KEY (group_id) REFERENCES public.auth_group(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.auth_permission
    ADD CONSTRAINT auth_permission_content_type_id_2f476e4b_fk_django_co FOREIGN KEY (content_type_id) REFERENCES public.django_content_type(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.auth_user_groups
    ADD CONSTRAINT auth_user_groups_group_id_97559544_fk_auth_group_id FOREIGN KEY (group_id) REFERENCES public.auth_group(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.auth_user_groups
    ADD CONSTRAINT auth_user_groups_user_id_6a12ed8b_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.auth_user_user_permissions
    ADD CONSTRAINT auth_user_user_permi_permission_id_1fbb5f2c_fk_auth_perm FOREIGN KEY (permission_id) REFERENCES public.auth_permission(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.auth_user_user_permissions
    ADD CONSTRAINT auth_user_user_permissions_user_id_a95ead1b_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_accountdeletion
    ADD CONSTRAINT conversations_accountdeletion_user_id_28b1d927_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_allowance
    ADD CONSTRAINT conversations_allowa_token_id_30e44edd_fk_conversat FOREIGN KEY (token_id) REFERENCES public.conversations_apitoken(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_allowance
    ADD CONSTRAINT conversations_allowance_user_id_c1d24b4f_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_apitoken
    ADD CONSTRAINT conversations_apitoken_user_id_d7d66e3c_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_assistant_offered_models
    ADD CONSTRAINT conversations_assist_assistant_id_30b3dd70_fk_conversat FOREIGN KEY (assistant_id) REFERENCES public.conversations_assistant(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_assistantversion
    ADD CONSTRAINT conversations_assist_assistant_id_51228b80_fk_conversat FOREIGN KEY (assistant_id) REFERENCES public.conversations_assistant(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_assistantversion
    ADD CONSTRAINT conversations_assist_author_id_0ba69fcd_fk_auth_user FOREIGN KEY (author_id) REFERENCES public.auth_user(id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_assistant_offered_models
    ADD CONSTRAINT conversations_assist_model_id_d6034e16_fk_conversat FOREIGN KEY (model_id) REFERENCES public.conversations_model(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_budgetcharge
    ADD CONSTRAINT conversations_budget_budget_id_018a6105_fk_conversat FOREIGN KEY (budget_id) REFERENCES public.conversations_budget(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_budgetpool
    ADD CONSTRAINT conversations_budget_budget_id_ea054cd4_fk_conversat FOREIGN KEY (budget_id) REFERENCES public.conversations_budget(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_budget
    ADD CONSTRAINT conversations_budget_group_id_16a98a3d_fk_auth_group_id FOREIGN KEY (group_id) REFERENCES public.auth_group(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_budgetcharge
    ADD CONSTRAINT conversations_budgetcharge_user_id_c832ddca_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_budgetpool
    ADD CONSTRAINT conversations_budgetpool_user_id_b2d46845_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_cacheforecast
    ADD CONSTRAINT conversations_cachef_assistant_id_7e4d6b1d_fk_conversat FOREIGN KEY (assistant_id) REFERENCES public.conversations_assistant(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_case
    ADD CONSTRAINT conversations_case_dataset_id_4b3f1a7a_fk_conversat FOREIGN KEY (dataset_id) REFERENCES public.conversations_dataset(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_case
    ADD CONSTRAINT conversations_case_thread_id_a3c45347_fk_conversat FOREIGN KEY (thread_id) REFERENCES public.conversations_thread(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_caseanswer
    ADD CONSTRAINT conversations_casean_case_id_dab630af_fk_conversat FOREIGN KEY (case_id) REFERENCES public.conversations_case(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_caseanswer
    ADD CONSTRAINT conversations_casean_experiment_id_23890fdf_fk_conversat FOREIGN KEY (experiment_id) REFERENCES public.conversations_experiment(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_caseresult
    ADD CONSTRAINT conversations_casere_case_id_6fc96aea_fk_conversat FOREIGN KEY (case_id) REFERENCES public.conversations_case(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_caseresult
    ADD CONSTRAINT conversations_casere_experiment_id_c8ac8023_fk_conversat FOREIGN KEY (experiment_id) REFERENCES public.conversations_experiment(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE public.conversations_contextsnapshot
    ADD CONSTRAINT conversations_contex_thread_id_1cead4e2_fk_conversat FOREIGN KEY (thread_id) REFERENCES public.conversations_thread(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_contextblock
    ADD CONSTRAINT conversations_contex_thread_id_679eb2b7_fk_conversat FOREIGN KEY (thread_id) REFERENCES public.conversations_thread(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_dataset
    ADD CONSTRAINT conversations_dataset_author_id_950ea640_fk_auth_user_id FOREIGN KEY (author_id) REFERENCES public.auth_user(id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_directorygroup
    ADD CONSTRAINT conversations_directorygroup_group_id_4cd342d3_fk_auth_group_id FOREIGN KEY (group_id) REFERENCES public.auth_group(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_directoryuser
    ADD CONSTRAINT conversations_directoryuser_user_id_16a606ce_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_experiment
    ADD CONSTRAINT conversations_experi_dataset_id_4e83fcb3_fk_conversat FOREIGN KEY (dataset_id) REFERENCES public.conversations_dataset(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_experiment
    ADD CONSTRAINT conversations_experiment_author_id_93fae194_fk_auth_user_id FOREIGN KEY (author_id) REFERENCES public.auth_user(id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_fallback
    ADD CONSTRAINT conversations_fallba_assistant_id_27c50825_fk_conversat FOREIGN KEY (assistant_id) REFERENCES public.conversations_assistant(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_feedback
    ADD CONSTRAINT conversations_feedba_assistant_id_6011a0ad_fk_conversat FOREIGN KEY (assistant_id) REFERENCES public.conversations_assistant(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_feedback
    ADD CONSTRAINT conversations_feedba_thread_id_e79046fe_fk_conversat FOREIGN KEY (thread_id) REFERENCES public.conversations_thread(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_file
    ADD CONSTRAINT conversations_file_project_id_ac882b86_fk_conversat FOREIGN KEY (project_id) REFERENCES public.conversations_project(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_file
    ADD CONSTRAINT conversations_file_thread_id_9118ded0_fk_conversat FOREIGN KEY (thread_id) REFERENCES public.conversations_thread(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_file
    ADD CONSTRAINT conversations_file_user_id_a9cb44d4_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_filepart
    ADD CONSTRAINT conversations_filepa_file_id_d8e0da65_fk_conversat FOREIGN KEY (file_id) REFERENCES public.conversations_file(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_givenright
    ADD CONSTRAINT conversations_givenr_permission_id_3cb4bd21_fk_auth_perm FOREIGN KEY (permission_id) REFERENCES public.auth_permission(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_givenright
    ADD CONSTRAINT conversations_givenright_group_id_bf8d83c0_fk_auth_group_id FOREIGN KEY (group_id) REFERENCES public.auth_group(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_groupaccess
    ADD CONSTRAINT conversations_groupaccess_group_id_bce60190_fk_auth_group_id FOREIGN KEY (group_id) REFERENCES public.auth_group(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_groupmanager
    ADD CONSTRAINT conversations_groupmanager_group_id_6ae7b53c_fk_auth_group_id FOREIGN KEY (group_id) REFERENCES public.auth_group(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_groupmanager
    ADD CONSTRAINT conversations_groupmanager_user_id_87613aeb_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_groupsignin
    ADD CONSTRAINT conversations_groupsignin_group_id_449bf2a7_fk_auth_group_id FOREIGN KEY (group_id) REFERENCES public.auth_group(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_instructions
    ADD CONSTRAINT conversations_instructions_user_id_02cb02fa_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_invitationgroup
    ADD CONSTRAINT conversations_invita_group_id_87a6da5c_fk_auth_grou FOREIGN KEY (group_id) REFERENCES public.auth_group(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_invitationuse
    ADD CONSTRAINT conversations_invita_invitation_id_6009ea35_fk_conversat FOREIGN KEY (invitation_id) REFERENCES public.conversations_invitation(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_invitationgroup
    ADD CONSTRAINT conversations_invita_invitation_id_df399d26_fk_conversat FOREIGN KEY (invitation_id) REFERENCES public.conversations_invitation(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_invitation
    ADD CONSTRAINT conversations_invitation_made_by_id_b2467003_fk_auth_user_id FOREIGN KEY (made_by_id) REFERENCES public.auth_user(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_invitationuse
    ADD CONSTRAINT conversations_invitationuse_user_id_bd1e3fd4_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_lintfinding
    ADD CONSTRAINT conversations_lintfi_accepted_by_id_01bbecab_fk_auth_user FOREIGN KEY (accepted_by_id) REFERENCES public.auth_user(id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_lintfinding
    ADD CONSTRAINT conversations_lintfi_assistant_id_fe9b1c03_fk_conversat FOREIGN KEY (assistant_id) REFERENCES public.conversations_assistant(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_mcpcall
    ADD CONSTRAINT conversations_mcpcal_thread_id_34565133_fk_conversat FOREIGN KEY (thread_id) REFERENCES public.conversations_thread(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_mcpcall
    ADD CONSTRAINT conversations_mcpcal_tool_id_8aa4f6d3_fk_conversat FOREIGN KEY (tool_id) REFERENCES public.conversations_mcptool(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_mcpcall
    ADD CONSTRAINT conversations_mcpcall_user_id_ba60753a_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_mcpserver
    ADD CONSTRAINT conversations_mcpserver_user_id_418307d4_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_mcpsignin
    ADD CONSTRAINT conversations_mcpsig_server_id_be73cfb8_fk_conversat FOREIGN KEY (server_id) REFERENCES public.conversations_mcpserver(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_mcpsignin
    ADD CONSTRAINT conversations_mcpsignin_user_id_175a158c_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_mcptool
    ADD CONSTRAINT conversations_mcptoo_server_id_960cae33_fk_conversat FOREIGN KEY (server_id) REFERENCES public.conversations_mcpserver(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_message
    ADD CONSTRAINT conversations_messag_thread_id_2e6e7032_fk_conversat FOREIGN KEY (thread_id) REFERENCES public.conversations_thread(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_modelprice
    ADD CONSTRAINT conversations_modelp_model_id_040992f6_fk_conversat FOREIGN KEY (model_id) REFERENCES public.conversations_model(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_moderationfinding
    ADD CONSTRAINT conversations_modera_thread_id_9659a610_fk_conversat FOREIGN KEY (thread_id) REFERENCES public.conversations_thread(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_noticeacceptance
    ADD CONSTRAINT conversations_noticeacceptance_user_id_fedcd7ad_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_outgoingmail
    ADD CONSTRAINT conversations_outgoingmail_user_id_807a15c1_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_project
    ADD CONSTRAINT conversations_projec_assistant_id_6a79bad6_fk_conversat FOREIGN KEY (assistant_id) REFERENCES public.conversations_assistant(id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_project
    ADD CONSTRAINT conversations_project_user_id_82d90de7_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_prompt
    ADD CONSTRAINT conversations_prompt_user_id_15157f7b_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_quotation
    ADD CONSTRAINT conversations_quotat_reply_id_0d2988f4_fk_conversat FOREIGN KEY (reply_id) REFERENCES public.conversations_reply(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_replay
    ADD CONSTRAINT conversations_replay_assistant_id_052dc990_fk_conversat FOREIGN KEY (assistant_id) REFERENCES public.conversations_assistant(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_replay
    ADD CONSTRAINT conversations_replay_author_id_f5825c2a_fk_auth_user_id FOREIGN KEY (author_id) REFERENCES public.auth_user(id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_replay
    ADD CONSTRAINT conversations_replay_version_id_d1cad847_fk_conversat FOREIGN KEY (version_id) REFERENCES public.conversations_assistantversion(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_reply
    ADD CONSTRAINT conversations_reply_thread_id_c3b32aa0_fk_conversat FOREIGN KEY (thread_id) REFERENCES public.conversations_thread(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE public.conversations_replyevent
    ADD CONSTRAINT conversations_replye_reply_id_782a5b87_fk_conversat FOREIGN KEY (reply_id) REFERENCES public.conversations_reply(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_retentionrule
    ADD CONSTRAINT conversations_retent_project_id_404f1db9_fk_conversat FOREIGN KEY (project_id) REFERENCES public.conversations_project(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_retentionrule
    ADD CONSTRAINT conversations_retentionrule_group_id_3815e9c9_fk_auth_group_id FOREIGN KEY (group_id) REFERENCES public.auth_group(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_schedule
    ADD CONSTRAINT conversations_schedu_thread_id_ee70329a_fk_conversat FOREIGN KEY (thread_id) REFERENCES public.conversations_thread(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_schedule
    ADD CONSTRAINT conversations_schedule_user_id_6c32cbbc_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_serviceaccount
    ADD CONSTRAINT conversations_serviceaccount_user_id_dd2b959a_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_share
    ADD CONSTRAINT conversations_share_thread_id_fdd8a399_fk_conversat FOREIGN KEY (thread_id) REFERENCES public.conversations_thread(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_share
    ADD CONSTRAINT conversations_share_user_id_2378daf6_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_thread
    ADD CONSTRAINT conversations_thread_assistant_id_129cfb7e_fk_conversat FOREIGN KEY (assistant_id) REFERENCES public.conversations_assistant(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_thread
    ADD CONSTRAINT conversations_thread_project_id_37cc8da6_fk_conversat FOREIGN KEY (project_id) REFERENCES public.conversations_project(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_thread
    ADD CONSTRAINT conversations_thread_user_id_96319419_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_tokencount
    ADD CONSTRAINT conversations_tokenc_thread_id_bffa8c87_fk_conversat FOREIGN KEY (thread_id) REFERENCES public.conversations_thread(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_tokenreservation
    ADD CONSTRAINT conversations_tokenreservation_user_id_c8a41ca0_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_turnfile
    ADD CONSTRAINT conversations_turnfi_file_id_b4c4f9e4_fk_conversat FOREIGN KEY (file_id) REFERENCES public.conversations_file(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_turnfile
    ADD CONSTRAINT conversations_turnfi_thread_id_40d45633_fk_conversat FOREIGN KEY (thread_id) REFERENCES public.conversations_thread(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_userlimits
    ADD CONSTRAINT conversations_userlimits_user_id_445fcabb_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_webhookdelivery
    ADD CONSTRAINT conversations_webhoo_webhook_id_185b4d7b_fk_conversat FOREIGN KEY (webhook_id) REFERENCES public.conversations_webhook(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_webhook
    ADD CONSTRAINT conversations_webhook_user_id_bf71f06e_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.conversations_webhookdelivery
    ADD CONSTRAINT conversations_webhookdelivery_user_id_09d23316_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.django_admin_log
    ADD CONSTRAINT django_admin_log_content_type_id_c4bce8eb_fk_django_co FOREIGN KEY (content_type_id) REFERENCES public.django_content_type(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.django_admin_log
    ADD CONSTRAINT django_admin_log_user_id_c564eba6_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.memory_consolidation
    ADD CONSTRAINT memory_consolidation_user_id_d8896450_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.memory_dailysummary
    ADD CONSTRAINT memory_dailysummary_project_id_19ed35b9_fk_conversat FOREIGN KEY (project_id) REFERENCES public.conversations_project(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.memory_dailysummary
    ADD CONSTRAINT memory_dailysummary_user_id_d6d12873_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.memory_indexedpassage
    ADD CONSTRAINT memory_indexedpassag_thread_id_d187ef41_fk_conversat FOREIGN KEY (thread_id) REFERENCES public.conversations_thread(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.memory_memory
    ADD CONSTRAINT memory_memory_superseded_by_id_24bf332f_fk_memory_memory_id FOREIGN KEY (superseded_by_id) REFERENCES public.memory_memory(id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.memory_memory
    ADD CONSTRAINT memory_memory_user_id_1f05b3bb_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.memory_preferences
    ADD CONSTRAINT memory_preferences_user_id_7f62d4d9_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.memory_staleindex
    ADD CONSTRAINT memory_staleindex_user_id_348b530a_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.memory_threadsummary
    ADD CONSTRAINT memory_threadsummary_thread_id_676e3505_fk_conversat FOREIGN KEY (thread_id) REFERENCES public.conversations_thread(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.memory_threadsummary
    ADD CONSTRAINT memory_threadsummary_user_id_d038e278_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.memory_topic
    ADD CONSTRAINT memory_topic_thread_id_e8ae5759_fk_conversations_thread_id FOREIGN KEY (thread_id) REFERENCES public.conversations_thread(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.memory_topic
    ADD CONSTRAINT memory_topic_user_id_243b1cd4_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.memory_vocabulary
    ADD CONSTRAINT memory_vocabulary_user_id_6b26dde2_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.mfa_authenticator
    ADD CONSTRAINT mfa_authenticator_user_id_0c3a50c0_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.socialaccount_socialtoken
    ADD CONSTRAINT socialaccount_social_account_id_951f210e_fk_socialacc FOREIGN KEY (account_id) REFERENCES public.socialaccount_socialaccount(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.socialaccount_socialtoken
    ADD CONSTRAINT socialaccount_social_app_id_636a42d7_fk_socialacc FOREIGN KEY (app_id) REFERENCES public.socialaccount_socialapp(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.socialaccount_socialaccount
    ADD CONSTRAINT socialaccount_socialaccount_user_id_8146e70c_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.usersessions_usersession
    ADD CONSTRAINT usersessions_usersession_user_id_af5e0a6d_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) DEFERRABLE INITIALLY DEFERRED;
SET LOCAL search_path TO DEFAULT;
