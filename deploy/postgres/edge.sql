-- A login for the edges, which may read what there is and do no more than they must: add the views that they count to the
-- queue, and say that they live. Whoever breaks into an edge can change no page, no balance and no account.
--
-- Run it once after `handbill migrate`, as the login that migrates, in the database that holds both data and queue:
--
--   psql "$HANDBILL_DATABASE__URL" --file deploy/postgres/edge.sql      # with a password of your own below
CREATE ROLE handbill_edge LOGIN PASSWORD 'PASSWORD';
GRANT USAGE ON SCHEMA public, apalis TO handbill_edge;
GRANT SELECT ON ALL TABLES IN SCHEMA public, apalis TO handbill_edge;
GRANT INSERT ON apalis.jobs TO handbill_edge;
GRANT INSERT, UPDATE, DELETE ON public.handbill_processes TO handbill_edge;
-- What a later release adds is read as well.
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO handbill_edge;
