-- A database user for the edges with minimal privileges: it reads where pages are, adds counted views to the queue,
-- and writes heartbeats. An attacker who takes over an edge cannot change pages, balances and accounts, cannot queue
-- any job except for views, and cannot read codes, hashes and jobs. The attacker can count views that nobody made,
-- and use ids in the queue that later jobs would have.
--
-- It enables row-level security on two tables. The owner of the tables and superusers are exempt. Any other user that
-- dumps the queue needs an exemption: ALTER ROLE backups BYPASSRLS.
--
-- Run it after `handbill migrate`, as the user that migrates (it owns the tables) or as a superuser. It creates a
-- role, for which owning the database is not sufficient. A superuser must first run `ALTER ROLE <that user>
-- CREATEROLE`, or create the role with `CREATE ROLE handbill_edge LOGIN`. Otherwise the file changes nothing and
-- reports what is missing. If the queue has its own database, run the file in both. It grants what is needed in each.
-- It can be run again at any time while edges are running. Run it with each release, because a new release may need
-- to read more:
--
--   psql "$HANDBILL_DATABASE__URL" --set ON_ERROR_STOP=1 --file deploy/postgres/edge.sql
--
-- It sets no password. Set it once on each server:
--
--   psql "$HANDBILL_DATABASE__URL" --command '\password handbill_edge'
BEGIN;
-- DDL that waits for a table lock blocks every later query on that table. After a `lock timeout`, run the file again.
SET LOCAL lock_timeout = '3s';

DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'handbill_edge') THEN
        RETURN;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = current_user AND (rolsuper OR rolcreaterole)) THEN
        RAISE EXCEPTION '% may not create roles', current_user USING HINT = format(
            'As a superuser run ALTER ROLE %I CREATEROLE, or CREATE ROLE handbill_edge LOGIN; then run this file again.',
            current_user);
    END IF;
    CREATE ROLE handbill_edge LOGIN;
END $$;

-- Start without privileges, because an earlier version of this file may have granted others.
REVOKE ALL ON ALL TABLES IN SCHEMA public FROM handbill_edge;
ALTER DEFAULT PRIVILEGES IN SCHEMA public REVOKE ALL ON TABLES FROM handbill_edge;
GRANT USAGE ON SCHEMA public TO handbill_edge;

-- The data.
DO $$ BEGIN
    IF to_regclass('public.routes') IS NOT NULL THEN
        -- The log says which routes have changed, and nothing else.
        GRANT SELECT ON public.routes, public.route_log, public.route_changes TO handbill_edge;
        -- To serve scripts, styles and fonts of versions that were live until recently.
        GRANT SELECT ON public.former_versions TO handbill_edge;
        -- To find a content that was moved since its version was published.
        GRANT SELECT (hash, bundle, bundle_offset) ON public.blobs TO handbill_edge;
        -- To serve a version at its own address, and to see how long the oldest one without a verdict has waited.
        GRANT SELECT (id, artifact_id, seq, manifest, moderation_status, moderated_by, scanned_by, created_at)
            ON public.versions TO handbill_edge;
        -- The same for a page of which no version is live yet, and which therefore has no route.
        GRANT SELECT (id, account_id, host, visibility, link_generation, live_version_id, updated_at, deleted_at)
            ON public.artifacts TO handbill_edge;
        GRANT SELECT (id, expires_at, suspended_at) ON public.accounts TO handbill_edge;
        -- Not to serve a version with a content that was blocked after the version was published.
        GRANT SELECT (hash) ON public.blocked_contents TO handbill_edge;
        -- To check the schema's version, and for `handbill doctor` whether schedules fire in time.
        GRANT SELECT ON public.seaql_migrations, public.schedules TO handbill_edge;
    END IF;
END $$;

-- The queue.
DO $$ BEGIN
    IF to_regclass('apalis.jobs') IS NULL THEN
        RETURN;
    END IF;
    REVOKE ALL ON ALL TABLES IN SCHEMA apalis FROM handbill_edge;
    GRANT USAGE ON SCHEMA apalis TO handbill_edge;
    GRANT SELECT ON apalis._sqlx_migrations TO handbill_edge;

    -- For `handbill doctor`: the number and age of jobs, but never their contents.
    GRANT SELECT (id, job_type, status, attempts, max_attempts, run_at, lock_at, lock_by, done_at) ON apalis.jobs
        TO handbill_edge;
    GRANT SELECT (id, job_id, at_ms, kind) ON public.handbill_job_events TO handbill_edge;
    GRANT SELECT ON public.handbill_pauses TO handbill_edge;

    -- Only jobs of the queue `views`, and only heartbeats of edges.
    GRANT INSERT (id, job_type, job, max_attempts, run_at) ON apalis.jobs TO handbill_edge;
    GRANT SELECT, INSERT, UPDATE, DELETE ON public.handbill_processes TO handbill_edge;
    DROP POLICY IF EXISTS handbill_everybody ON apalis.jobs;
    CREATE POLICY handbill_everybody ON apalis.jobs USING (true) WITH CHECK (true);
    DROP POLICY IF EXISTS handbill_edge_adds_views ON apalis.jobs;
    CREATE POLICY handbill_edge_adds_views ON apalis.jobs AS RESTRICTIVE FOR INSERT TO handbill_edge
        WITH CHECK (job_type = 'views');
    ALTER TABLE apalis.jobs ENABLE ROW LEVEL SECURITY;

    DROP POLICY IF EXISTS handbill_everybody ON public.handbill_processes;
    CREATE POLICY handbill_everybody ON public.handbill_processes USING (true) WITH CHECK (true);
    DROP POLICY IF EXISTS handbill_edge_adds_itself ON public.handbill_processes;
    CREATE POLICY handbill_edge_adds_itself ON public.handbill_processes AS RESTRICTIVE FOR INSERT TO handbill_edge
        WITH CHECK (role = 'edge');
    DROP POLICY IF EXISTS handbill_edge_stays_itself ON public.handbill_processes;
    CREATE POLICY handbill_edge_stays_itself ON public.handbill_processes AS RESTRICTIVE FOR UPDATE TO handbill_edge
        USING (role = 'edge') WITH CHECK (role = 'edge');
    DROP POLICY IF EXISTS handbill_edge_leaves ON public.handbill_processes;
    CREATE POLICY handbill_edge_leaves ON public.handbill_processes AS RESTRICTIVE FOR DELETE TO handbill_edge
        USING (role = 'edge');
    ALTER TABLE public.handbill_processes ENABLE ROW LEVEL SECURITY;
END $$;
COMMIT;
