-- The whole house. One text for SQLite and PostgreSQL: what differs between them is not used.
-- Ids are ULIDs as text; money is integer micro-dollars; times are milliseconds since 1970 in UTC.

CREATE TABLE accounts (
    id TEXT NOT NULL,
    handle TEXT NOT NULL,
    status TEXT NOT NULL,
    expires_at BIGINT,
    claim_code TEXT NOT NULL,
    balance_micro BIGINT NOT NULL,
    ledger_entries BIGINT NOT NULL,
    allow_agent_join BOOLEAN NOT NULL,
    provisional_publishes BIGINT NOT NULL,
    storage_bytes BIGINT NOT NULL,
    artifact_count BIGINT NOT NULL,
    has_real_payment BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    claimed_at BIGINT,
    CONSTRAINT accounts_pk PRIMARY KEY (id),
    CONSTRAINT accounts_handle_unique UNIQUE (handle),
    CONSTRAINT accounts_claim_code_unique UNIQUE (claim_code),
    CONSTRAINT accounts_status_known CHECK (status IN ('provisional', 'claimed')),
    CONSTRAINT accounts_expiry_fits_status CHECK ((status = 'provisional') = (expires_at IS NOT NULL)),
    CONSTRAINT accounts_counts_not_negative
        CHECK (ledger_entries >= 0 AND provisional_publishes >= 0 AND storage_bytes >= 0 AND artifact_count >= 0)
);
CREATE INDEX accounts_by_expiry ON accounts (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE users (
    id TEXT NOT NULL,
    username TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT users_pk PRIMARY KEY (id),
    CONSTRAINT users_username_unique UNIQUE (username)
);

CREATE TABLE sessions (
    secret_hash TEXT NOT NULL,
    user_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    CONSTRAINT sessions_pk PRIMARY KEY (secret_hash),
    CONSTRAINT sessions_user_fk FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX sessions_by_user ON sessions (user_id);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

CREATE TABLE memberships (
    account_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    role TEXT NOT NULL,
    joined_at BIGINT NOT NULL,
    CONSTRAINT memberships_pk PRIMARY KEY (account_id, user_id),
    CONSTRAINT memberships_account_fk FOREIGN KEY (account_id) REFERENCES accounts (id) ON DELETE CASCADE,
    CONSTRAINT memberships_user_fk FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT memberships_role_known CHECK (role IN ('member', 'admin', 'owner'))
);
CREATE UNIQUE INDEX memberships_one_owner ON memberships (account_id) WHERE role = 'owner';
CREATE INDEX memberships_by_user ON memberships (user_id);

CREATE TABLE invites (
    code TEXT NOT NULL,
    account_id TEXT NOT NULL,
    role TEXT NOT NULL,
    max_uses INTEGER NOT NULL,
    uses INTEGER NOT NULL,
    expires_at BIGINT NOT NULL,
    revoked_at BIGINT,
    created_by_user TEXT,
    created_by_token TEXT,
    created_at BIGINT NOT NULL,
    CONSTRAINT invites_pk PRIMARY KEY (code),
    CONSTRAINT invites_account_fk FOREIGN KEY (account_id) REFERENCES accounts (id) ON DELETE CASCADE,
    CONSTRAINT invites_role_known CHECK (role IN ('member', 'admin')),
    CONSTRAINT invites_uses_bounded CHECK (uses >= 0 AND uses <= max_uses)
);
CREATE INDEX invites_by_account ON invites (account_id, created_at);

CREATE TABLE tokens (
    id TEXT NOT NULL,
    secret_hash TEXT NOT NULL,
    account_id TEXT NOT NULL,
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    artifact_id TEXT,
    created_by_user TEXT,
    created_by_token TEXT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT,
    last_used_at BIGINT,
    CONSTRAINT tokens_pk PRIMARY KEY (id),
    CONSTRAINT tokens_secret_unique UNIQUE (secret_hash),
    CONSTRAINT tokens_account_fk FOREIGN KEY (account_id) REFERENCES accounts (id) ON DELETE CASCADE
);
CREATE INDEX tokens_by_account ON tokens (account_id, created_at);

CREATE TABLE artifacts (
    id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    slug TEXT NOT NULL,
    host TEXT NOT NULL,
    visibility TEXT NOT NULL,
    live_version_id TEXT,
    last_seq INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT,
    CONSTRAINT artifacts_pk PRIMARY KEY (id),
    CONSTRAINT artifacts_host_unique UNIQUE (host),
    CONSTRAINT artifacts_account_fk FOREIGN KEY (account_id) REFERENCES accounts (id) ON DELETE CASCADE,
    CONSTRAINT artifacts_visibility_known CHECK (visibility IN ('public', 'unlisted', 'private')),
    CONSTRAINT artifacts_last_seq_not_negative CHECK (last_seq >= 0)
);
-- A deleted slug is free again.
CREATE UNIQUE INDEX artifacts_slug_unique ON artifacts (account_id, slug) WHERE deleted_at IS NULL;

CREATE TABLE versions (
    id TEXT NOT NULL,
    artifact_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    manifest TEXT NOT NULL,
    total_bytes BIGINT NOT NULL,
    file_count INTEGER NOT NULL,
    created_via TEXT NOT NULL,
    created_by TEXT,
    message TEXT,
    moderation_status TEXT NOT NULL,
    moderated_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT versions_pk PRIMARY KEY (id),
    CONSTRAINT versions_seq_unique UNIQUE (artifact_id, seq),
    CONSTRAINT versions_artifact_fk FOREIGN KEY (artifact_id) REFERENCES artifacts (id) ON DELETE CASCADE,
    CONSTRAINT versions_seq_from_one CHECK (seq >= 1),
    CONSTRAINT versions_moderation_known CHECK (moderation_status IN ('pending', 'review', 'pass', 'blocked')),
    CONSTRAINT versions_moderated_by_known CHECK (moderated_by IN ('nobody', 'scan', 'report', 'moderator'))
);
-- What the sweep looks for: versions that wait for their scan.
CREATE INDEX versions_unscanned ON versions (created_at) WHERE moderated_by IN ('nobody', 'report');

CREATE TABLE blobs (
    hash TEXT NOT NULL,
    size_bytes BIGINT NOT NULL,
    variants TEXT NOT NULL,
    state TEXT NOT NULL,
    touched_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT blobs_pk PRIMARY KEY (hash),
    CONSTRAINT blobs_state_known CHECK (state IN ('present', 'deleting')),
    CONSTRAINT blobs_size_not_negative CHECK (size_bytes >= 0)
);
CREATE INDEX blobs_by_touch ON blobs (touched_at);

CREATE TABLE blob_refs (
    version_id TEXT NOT NULL,
    hash TEXT NOT NULL,
    account_id TEXT NOT NULL,
    CONSTRAINT blob_refs_pk PRIMARY KEY (version_id, hash),
    CONSTRAINT blob_refs_version_fk FOREIGN KEY (version_id) REFERENCES versions (id) ON DELETE CASCADE,
    CONSTRAINT blob_refs_blob_fk FOREIGN KEY (hash) REFERENCES blobs (hash)
);
CREATE INDEX blob_refs_by_blob ON blob_refs (hash, account_id);

CREATE TABLE routes (
    host TEXT NOT NULL,
    account_id TEXT NOT NULL,
    artifact_id TEXT NOT NULL,
    version_id TEXT NOT NULL,
    visibility TEXT NOT NULL,
    moderation_status TEXT NOT NULL,
    expires_at BIGINT,
    published_at BIGINT NOT NULL,
    manifest TEXT NOT NULL,
    updated_at BIGINT NOT NULL,
    CONSTRAINT routes_pk PRIMARY KEY (host),
    CONSTRAINT routes_artifact_unique UNIQUE (artifact_id),
    CONSTRAINT routes_version_fk FOREIGN KEY (version_id) REFERENCES versions (id) ON DELETE CASCADE
);
CREATE INDEX routes_by_account ON routes (account_id);

CREATE TABLE usage (
    account_id TEXT NOT NULL,
    month TEXT NOT NULL,
    publishes BIGINT NOT NULL,
    views BIGINT NOT NULL,
    CONSTRAINT usage_pk PRIMARY KEY (account_id, month),
    CONSTRAINT usage_account_fk FOREIGN KEY (account_id) REFERENCES accounts (id) ON DELETE CASCADE,
    CONSTRAINT usage_counts_not_negative CHECK (publishes >= 0 AND views >= 0)
);

CREATE TABLE ledger_entries (
    account_id TEXT NOT NULL,
    seq BIGINT NOT NULL,
    delta_micro BIGINT NOT NULL,
    reason TEXT NOT NULL,
    balance_after_micro BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT ledger_entries_pk PRIMARY KEY (account_id, seq),
    CONSTRAINT ledger_entries_reason_unique UNIQUE (account_id, reason),
    CONSTRAINT ledger_entries_account_fk FOREIGN KEY (account_id) REFERENCES accounts (id) ON DELETE CASCADE,
    CONSTRAINT ledger_entries_delta_moves CHECK (delta_micro <> 0)
);

CREATE TABLE reports (
    id TEXT NOT NULL,
    host TEXT NOT NULL,
    artifact_id TEXT NOT NULL,
    version_id TEXT,
    reason TEXT,
    created_at BIGINT NOT NULL,
    handled_at BIGINT,
    CONSTRAINT reports_pk PRIMARY KEY (id),
    CONSTRAINT reports_artifact_fk FOREIGN KEY (artifact_id) REFERENCES artifacts (id) ON DELETE CASCADE
);
CREATE INDEX reports_open ON reports (created_at) WHERE handled_at IS NULL;

CREATE TABLE moderation_decisions (
    id TEXT NOT NULL,
    version_id TEXT NOT NULL,
    artifact_id TEXT NOT NULL,
    status TEXT NOT NULL,
    source TEXT NOT NULL,
    evidence TEXT NOT NULL,
    scanner_version TEXT,
    decided_by TEXT,
    created_at BIGINT NOT NULL,
    CONSTRAINT moderation_decisions_pk PRIMARY KEY (id),
    CONSTRAINT moderation_decisions_version_fk FOREIGN KEY (version_id) REFERENCES versions (id) ON DELETE CASCADE,
    CONSTRAINT moderation_decisions_source_known CHECK (source IN ('scan', 'report', 'moderator'))
);
CREATE INDEX moderation_decisions_by_version ON moderation_decisions (version_id, created_at);

-- Kept when an account is purged: it has no foreign key.
CREATE TABLE audit (
    id TEXT NOT NULL,
    account_id TEXT,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    detail TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT audit_pk PRIMARY KEY (id)
);
CREATE INDEX audit_by_account ON audit (account_id, created_at);

CREATE TABLE idempotency_keys (
    account_id TEXT NOT NULL,
    key TEXT NOT NULL,
    request_hash TEXT NOT NULL,
    job_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    CONSTRAINT idempotency_keys_pk PRIMARY KEY (account_id, key),
    CONSTRAINT idempotency_keys_account_fk FOREIGN KEY (account_id) REFERENCES accounts (id) ON DELETE CASCADE
);
CREATE INDEX idempotency_keys_by_expiry ON idempotency_keys (expires_at);

CREATE TABLE job_outcomes (
    job_id TEXT NOT NULL,
    account_id TEXT,
    kind TEXT NOT NULL,
    outcome TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT job_outcomes_pk PRIMARY KEY (job_id)
);
CREATE INDEX job_outcomes_by_age ON job_outcomes (created_at);

CREATE TABLE schedules (
    name TEXT NOT NULL,
    last_slot_at BIGINT NOT NULL,
    CONSTRAINT schedules_pk PRIMARY KEY (name)
);
