-- A login for the edges, which may do no more than they must: read where pages are, add the views that they count to the
-- queue, and say that they live. Whoever breaks into an edge can change no page, no balance and no account, can give the
-- workers nothing to do but to count views, and reads no code, no hash and no job. What they can do is to count views that
-- nobody made, and to take ids in the queue that later jobs would have.
--
-- The rows of two tables have rules from then on. The login that made the tables, and superusers, are not bound by them; a
-- login of another that dumps the queue must be allowed to pass them by: ALTER ROLE backups BYPASSRLS.
--
-- Run it after `handbill migrate`, as the login that migrates (it owns the tables), or as a superuser. It creates a role, for
-- which owning the database is not enough: first, a superuser must run `ALTER ROLE <that login> CREATEROLE`, or create the
-- role with `CREATE ROLE handbill_edge LOGIN`. Otherwise the file changes nothing and reports what is missing. If the queue
-- has its own database, run the file in both: it grants what is needed in each. It may be run again at any time, beside edges that work,
-- and is to be with each release, which may read something new:
--
--   psql "$HANDBILL_DATABASE__URL" --set ON_ERROR_STOP=1 --file deploy/postgres/edge.sql
--
-- It gives no password. Once, and on each server:
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

-- From nothing, whatever an earlier edition of this file gave.
REVOKE ALL ON ALL TABLES IN SCHEMA public FROM handbill_edge;
ALTER DEFAULT PRIVILEGES IN SCHEMA public REVOKE ALL ON TABLES FROM handbill_edge;
GRANT USAGE ON SCHEMA public TO handbill_edge;

-- The data.
DO $$ BEGIN
    IF to_regclass('public.routes') IS NOT NULL THEN
        GRANT SELECT ON public.routes TO handbill_edge;
        -- How long the oldest version without a verdict has waited; nothing else of any version.
        GRANT SELECT (created_at, moderation_status) ON public.versions TO handbill_edge;
        -- Whether the schema is new enough, for the edge; whether the schedules keep time, for its `handbill doctor`.
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

    -- How many jobs there are and how old, for `handbill doctor`; never what is in them.
    GRANT SELECT (id, job_type, status, attempts, max_attempts, run_at, lock_at, lock_by, done_at) ON apalis.jobs
        TO handbill_edge;
    GRANT SELECT (id, job_id, at_ms, kind) ON public.handbill_job_events TO handbill_edge;
    GRANT SELECT ON public.handbill_pauses TO handbill_edge;

    -- Nothing but views, and nothing as any other process.
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
