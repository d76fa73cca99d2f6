//! The API responses, as far as commands show them. Unknown fields of newer servers are ignored. `--json`
//! prints responses without using these types.

use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize)]
pub struct Account {
    pub handle: String,
    pub status: String,
    pub expires_at: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct SignUp {
    pub account: Account,
    pub token: String,
    pub claim_url: String,
    pub limits: Limits,
}

#[derive(Debug, Deserialize)]
pub struct Limits {
    pub free_publishes: u64,
}

#[derive(Debug, Deserialize)]
pub struct Suspension {
    pub at: String,
    pub reason: String,
}

#[derive(Debug, Deserialize)]
pub struct AccountDetail {
    pub account: Account,
    pub suspended: Option<Suspension>,
    pub limits: Limits,
    pub credits_usd: f64,
    pub free_publishes_left: u64,
    pub usage: UsageSummary,
    pub allow_agent_join: bool,
    pub claim_url: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct UsageSummary {
    pub month: String,
    pub storage_bytes: u64,
    pub views: u64,
}

#[derive(Debug, Deserialize)]
pub struct Artifact {
    pub slug: String,
    pub host: String,
    pub url: String,
    pub visibility: String,
    pub moderation_status: String,
    pub version: Option<u32>,
    pub signed_url: Option<String>,
    pub receipt: Option<Receipt>,
    /// Older servers do not send the rest, and no server sends it with a single artifact.
    pub title: Option<String>,
    pub updated_at: Option<String>,
    pub views_month: Option<u64>,
}

impl Artifact {
    /// The link that opens it. A private page needs its signed link.
    pub fn link(&self) -> &str {
        self.signed_url.as_deref().unwrap_or(&self.url)
    }
}

#[derive(Debug, Deserialize)]
pub struct ArtifactDetail {
    #[serde(flatten)]
    pub artifact: Artifact,
    pub id: String,
    pub created_at: String,
    pub updated_at: String,
    pub versions: Vec<Version>,
}

#[derive(Debug, Deserialize)]
pub struct Version {
    pub seq: u32,
    pub total_bytes: u64,
    pub file_count: u32,
    pub created_via: String,
    pub created_at: String,
    pub moderation_status: String,
    pub live: bool,
    pub message: Option<String>,
    /// Older servers do not send it.
    pub url: Option<String>,
    pub signed_url: Option<String>,
}

impl Version {
    /// The link that opens this version, even when the page is private.
    pub fn link(&self) -> String {
        self.signed_url.clone().or_else(|| self.url.clone()).unwrap_or_default()
    }
}

#[derive(Debug, Deserialize)]
pub struct Deleted {
    pub slug: String,
    /// Says which versions a purge has kept.
    #[serde(default)]
    pub message: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct Published {
    pub url: String,
    /// The file to open first, for a site without a front page.
    pub entry_url: Option<String>,
    pub signed_url: Option<String>,
    pub host: String,
    pub version: u32,
    /// Older servers do not send it.
    pub version_url: Option<String>,
    pub signed_version_url: Option<String>,
    pub account: AccountStanding,
    pub receipt: Option<Receipt>,
    /// Older servers do not send it.
    #[serde(default)]
    pub warnings: Vec<Warning>,
    /// Only if the publish waited for the verdict.
    pub moderation_status: Option<String>,
    pub reason: Option<String>,
}

/// What a publish would do.
#[derive(Debug, Deserialize)]
pub struct Rehearsed {
    pub price_usd: f64,
    pub warnings: Vec<Warning>,
    pub added: Vec<String>,
    pub changed: Vec<String>,
    pub removed: Vec<String>,
    pub unchanged: u64,
}

#[derive(Debug, Deserialize, Serialize)]
pub struct Warning {
    pub code: String,
    pub path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    pub message: String,
    pub hint: String,
}

impl Warning {
    /// One line for people, as compilers print it.
    pub fn text(&self) -> String {
        let line = self.line.map(|line| format!(":{line}")).unwrap_or_default();
        let target = self.target.as_ref().map(|target| format!(" {target}:")).unwrap_or_default();
        format!("{}{line}:{target} {}; {}", self.path, self.message, self.hint)
    }
}

impl From<domain::Warning> for Warning {
    fn from(warning: domain::Warning) -> Self {
        Self {
            code: warning.code.as_str().to_owned(),
            path: warning.path.to_string(),
            line: warning.line,
            target: warning.target,
            message: warning.message,
            hint: warning.hint,
        }
    }
}

impl Published {
    /// The link that opens the new version, whichever is live.
    pub fn version_link(&self) -> Option<&str> {
        self.signed_version_url.as_deref().or(self.version_url.as_deref())
    }

    /// The link that opens it, even when the page is private.
    pub fn link(&self) -> &str {
        self.signed_url.as_deref().unwrap_or(&self.url)
    }
}

#[derive(Debug, Deserialize)]
pub struct AccountStanding {
    pub free_publishes_left: u64,
    pub credits_usd: f64,
    pub expires_at: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct Receipt {
    pub rail: String,
    pub amount_usd: f64,
    pub id: String,
}

#[derive(Debug, Deserialize)]
pub struct CreditBought {
    pub credits_usd: f64,
    pub receipt: Receipt,
}

#[derive(Debug, Deserialize)]
pub struct Challenge {
    pub reason: String,
    pub amount_usd: f64,
    pub accepts: Vec<Accept>,
    pub message: String,
}

#[derive(Debug, Deserialize)]
pub struct Accept {
    pub instructions: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct Usage {
    pub month: String,
    pub publishes: PublishUsage,
    pub storage: StorageUsage,
    pub traffic: TrafficUsage,
    pub private_artifacts: PrivateArtifacts,
    pub credits_usd: f64,
    pub status: String,
}

#[derive(Debug, Deserialize)]
pub struct PublishUsage {
    pub used: u64,
    pub free_limit: u64,
    pub free_left: u64,
}

#[derive(Debug, Deserialize)]
pub struct StorageUsage {
    pub bytes: u64,
    pub est_monthly_cost_usd: f64,
}

#[derive(Debug, Deserialize)]
pub struct TrafficUsage {
    pub views: u64,
    pub free_limit: u64,
    pub overage_views: u64,
}

#[derive(Debug, Deserialize)]
pub struct PrivateArtifacts {
    pub count: u64,
    pub monthly_cost_usd: f64,
}

#[derive(Debug, Deserialize)]
pub struct ClaimLink {
    pub claim_url: String,
    pub expires_at: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct Token {
    pub id: String,
    pub name: String,
    pub scopes: String,
    pub artifact_id: Option<String>,
    pub created_at: String,
    pub expires_at: Option<String>,
    pub last_used_at: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct MintedToken {
    #[serde(flatten)]
    pub minted: Token,
    pub token: String,
}

/// The counts are present if everything that the token created was to be revoked.
#[derive(Debug, Deserialize)]
pub struct RevokedToken {
    pub id: String,
    pub minted_revoked: Option<u64>,
    pub invites_revoked: Option<u64>,
}

#[derive(Debug, Deserialize)]
pub struct RevokedInvite {
    pub code: String,
}

#[derive(Debug, Deserialize)]
pub struct Invite {
    pub code: String,
    pub invite_url: String,
    pub role: String,
    pub max_uses: u32,
    #[serde(default)]
    pub uses: u32,
    pub expires_at: String,
    pub revoked_at: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct Team {
    pub members: Vec<Member>,
    pub tokens: Vec<TeamToken>,
}

#[derive(Debug, Deserialize)]
pub struct Member {
    pub user_id: String,
    pub username: String,
    pub role: String,
    pub joined_at: String,
}

#[derive(Debug, Deserialize)]
pub struct TeamToken {
    pub id: String,
    pub name: String,
    pub scopes: String,
    pub last_used_at: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct RemovedMember {
    pub user_id: String,
    pub tokens_revoked: u64,
}

#[derive(Debug, Deserialize)]
pub struct Joined {
    pub token: String,
    pub account: JoinedAccount,
    pub scopes: String,
}

#[derive(Debug, Deserialize)]
pub struct JoinedAccount {
    pub handle: String,
}
