//! Views by page and month, so that a list ordered by views need not sum the days of every page.
//!
//! Triggers add to it whatever is written to `daily_views`, so that the sums are also correct while processes
//! of the previous release write only the days.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DbBackend;

use crate::{IN_ONE_GO, wait_briefly};

#[derive(DeriveMigrationName)]
pub struct Migration;

/// No index has the views and pages of the table have free space, so that updates are HOT. The trigger's lock
/// lets nobody write to `daily_views` until the existing rows are summed. That may take longer than the
/// pool's statement timeout; jobs that add views are retried meanwhile.
const POSTGRES: &str = "
SET LOCAL statement_timeout = 0;
CREATE TABLE monthly_views (
    account_id TEXT NOT NULL,
    month TEXT NOT NULL,
    host TEXT NOT NULL,
    views BIGINT NOT NULL,
    CONSTRAINT monthly_views_pk PRIMARY KEY (account_id, month, host),
    CONSTRAINT monthly_views_account_fk FOREIGN KEY (account_id) REFERENCES accounts (id) ON DELETE CASCADE
) WITH (fillfactor = 70);
CREATE FUNCTION add_to_monthly_views() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO monthly_views (account_id, month, host, views) VALUES (
        NEW.account_id,
        to_char(DATE '1970-01-01' + CAST(NEW.day AS INTEGER), 'YYYY-MM'),
        NEW.host,
        NEW.views - COALESCE(OLD.views, 0)
    ) ON CONFLICT (account_id, month, host) DO UPDATE SET views = monthly_views.views + excluded.views;
    RETURN NULL;
END $$;
CREATE TRIGGER daily_views_added AFTER INSERT OR UPDATE OF views ON daily_views
    FOR EACH ROW EXECUTE FUNCTION add_to_monthly_views();
INSERT INTO monthly_views (account_id, month, host, views)
    SELECT account_id, to_char(DATE '1970-01-01' + CAST(day AS INTEGER), 'YYYY-MM'), host,
        CAST(SUM(views) AS BIGINT)
    FROM daily_views GROUP BY 1, 2, 3;";

const SQLITE: &str = "
CREATE TABLE monthly_views (
    account_id TEXT NOT NULL,
    month TEXT NOT NULL,
    host TEXT NOT NULL,
    views BIGINT NOT NULL,
    CONSTRAINT monthly_views_pk PRIMARY KEY (account_id, month, host),
    CONSTRAINT monthly_views_account_fk FOREIGN KEY (account_id) REFERENCES accounts (id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE TRIGGER daily_views_inserted AFTER INSERT ON daily_views BEGIN
    INSERT INTO monthly_views (account_id, month, host, views)
    VALUES (NEW.account_id, strftime('%Y-%m', NEW.day * 86400, 'unixepoch'), NEW.host, NEW.views)
    ON CONFLICT (account_id, month, host) DO UPDATE SET views = views + excluded.views;
END;
CREATE TRIGGER daily_views_updated AFTER UPDATE OF views ON daily_views BEGIN
    INSERT INTO monthly_views (account_id, month, host, views)
    VALUES (NEW.account_id, strftime('%Y-%m', NEW.day * 86400, 'unixepoch'), NEW.host, NEW.views - OLD.views)
    ON CONFLICT (account_id, month, host) DO UPDATE SET views = views + excluded.views;
END;
INSERT INTO monthly_views (account_id, month, host, views)
    SELECT account_id, strftime('%Y-%m', day * 86400, 'unixepoch'), host, SUM(views)
    FROM daily_views GROUP BY 1, 2, 3;";

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        IN_ONE_GO
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        wait_briefly(manager).await?;
        let sql = match manager.get_database_backend() {
            DbBackend::Postgres => POSTGRES,
            _ => SQLITE,
        };
        manager.get_connection().execute_unprepared(sql).await?;
        Ok(())
    }
}
