//! Grants to OAuth clients. A grant belongs to a token, whose secret its client renews, so that every way to
//! revoke the token ends the grant.
//!
//! Processes of the previous release do not list a token between two renewals. They refuse it by `expires_at`
//! as they should.

use sea_orm_migration::prelude::*;

use crate::{IN_ONE_GO, wait_briefly};

#[derive(DeriveMigrationName)]
pub struct Migration;

const SQL: &str = "
ALTER TABLE tokens ADD COLUMN renewable_until BIGINT;
CREATE TABLE oauth_grants (
    token_id TEXT NOT NULL,
    client_hash TEXT NOT NULL,
    resource TEXT,
    code_hash TEXT NOT NULL,
    code_expires_at BIGINT NOT NULL,
    redirect_uri TEXT,
    challenge TEXT,
    exchanged_at BIGINT,
    family_hash TEXT,
    refresh_hash TEXT,
    ends_at BIGINT NOT NULL,
    CONSTRAINT oauth_grants_pk PRIMARY KEY (token_id),
    CONSTRAINT oauth_grants_code_unique UNIQUE (code_hash),
    CONSTRAINT oauth_grants_family_unique UNIQUE (family_hash),
    CONSTRAINT oauth_grants_token_fk FOREIGN KEY (token_id) REFERENCES tokens (id) ON DELETE CASCADE
);
CREATE INDEX oauth_grants_by_end ON oauth_grants (ends_at);
CREATE TABLE oauth_devices (
    device_hash TEXT NOT NULL,
    user_code_hash TEXT NOT NULL,
    client_hash TEXT NOT NULL,
    client_name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    resource TEXT,
    expires_at BIGINT NOT NULL,
    polled_at BIGINT,
    decision TEXT,
    CONSTRAINT oauth_devices_pk PRIMARY KEY (device_hash),
    CONSTRAINT oauth_devices_user_code_unique UNIQUE (user_code_hash),
    CONSTRAINT oauth_devices_decision_known CHECK (decision IN ('allowed', 'denied'))
);
CREATE INDEX oauth_devices_by_expiry ON oauth_devices (expires_at);";

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        IN_ONE_GO
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        wait_briefly(manager).await?;
        manager.get_connection().execute_unprepared(SQL).await?;
        Ok(())
    }
}
