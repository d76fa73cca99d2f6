//! Claiming: a person makes a provisional account permanent and becomes its owner. Once a claim returns, no
//! edge shows the badge or the expiry.

use std::collections::HashMap;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use domain::{
    Account, AccountStatus, Artifact, Missing, ModerationStatus, Origin, Page, Paged, Refusal, Slug, Time,
    Token, TokenId, TokenName, Visibility, has_expired,
};
use store::{Claimed, Claimer, Reach, TokenFate};

use crate::{Failure, PageGlance, Person, Service, ServiceResult};

/// Pages of the account on the claim page, newest first.
const PAGES_SHOWN_MAX: u32 = 100;
/// Active tokens of the account on the claim page, newest first.
const TOKENS_SHOWN_MAX: u32 = 20;

/// What a claim code gives access to.
#[derive(Clone, Debug)]
pub struct Claimable {
    pub account: Account,
    /// The newest pages, with the total.
    pub artifacts: Paged<Artifact>,
    /// The newest page that has a live version.
    pub newest: Option<PageGlance>,
    /// The newest active tokens, with the total. They keep working after the claim, unless the claimer
    /// revokes them.
    pub tokens: Paged<Token>,
    /// The names of the tokens that minted these.
    pub minters: HashMap<TokenId, TokenName>,
    pub time_left: Duration,
}

/// One page of an account that can be claimed.
#[derive(Clone, Debug)]
pub struct ClaimablePage {
    pub account: Account,
    pub page: PageGlance,
    pub claim_url: String,
    pub time_left: Duration,
}

/// One page of an account that was claimed, for a holder of the old code.
#[derive(Clone, Debug)]
pub struct ClaimedPage {
    pub account: Account,
    /// The URL of a page that is public, has a live version and is not blocked. `None` for other pages: the
    /// code does not give access to them.
    pub public_url: Option<String>,
}

impl Service {
    /// Refuses a code that cannot be claimed now.
    pub async fn check_claim(&self, code: &str) -> ServiceResult<()> {
        self.claimable_account(code).await.map(drop)
    }

    /// The account behind a code, for the claim page. Refused as the claim itself would be.
    pub async fn claimable(&self, code: &str) -> ServiceResult<Claimable> {
        let account = self.claimable_account(code).await?;
        let now = self.0.clock.now();
        let newest = Page::first(PAGES_SHOWN_MAX).counted();
        let artifacts = self.0.store.artifacts().list(account.id, None, &newest).await?;
        let live = artifacts.rows.iter().find(|artifact| artifact.live.is_some());
        let newest_page = match live {
            // A version that is deleted meanwhile is no reason to refuse the claim.
            Some(artifact) => match self.glance(artifact.clone()).await {
                Ok(page) => Some(page),
                Err(Failure::Refused(refusal)) if matches!(*refusal, Refusal::NotFound(_)) => None,
                Err(failure) => return Err(failure),
            },
            None => None,
        };
        self.flush_token_uses().await;
        let newest = Page::first(TOKENS_SHOWN_MAX).counted();
        let tokens = self.0.store.tokens().list(account.id, Reach::All, now, &newest).await?;
        let minters = self.0.store.tokens().list_minters(account.id, &tokens.rows).await?;
        let time_left = time_left(&account, now);
        Ok(Claimable { account, artifacts, newest: newest_page, tokens, minters, time_left })
    }

    /// One page of the account behind a code. Refused as the claim itself would be.
    pub async fn claimable_page(&self, code: &str, slug: &Slug) -> ServiceResult<ClaimablePage> {
        let account = self.claimable_account(code).await?;
        let artifact = self.0.store.artifacts().find(account.id, slug).await?;
        let page = self.glance(artifact.ok_or(Refusal::NotFound(Missing::Artifact))?).await?;
        let claim_url = self.addresses().claim(&account.claim_code);
        let time_left = time_left(&account, self.0.clock.now());
        Ok(ClaimablePage { account, page, claim_url, time_left })
    }

    /// One page of the account behind a code that somebody has used.
    pub async fn claimed_page(&self, code: &str, slug: &Slug) -> ServiceResult<ClaimedPage> {
        must_be_code(code)?;
        let found = self.0.store.accounts().find_by_claim_code(code).await?;
        let account = found.ok_or(Refusal::NotFound(Missing::ClaimLink))?;
        let artifact = self.0.store.artifacts().find(account.id, slug).await?;
        let is_served = |one: &Artifact| {
            let is_up = one.live.is_some_and(|live| live.moderation != ModerationStatus::Blocked);
            one.visibility == Visibility::Public && is_up
        };
        let public_url = match artifact.filter(is_served) {
            Some(artifact) => Some(self.glance(artifact).await?.url),
            None => None,
        };
        Ok(ClaimedPage { account, public_url })
    }

    /// Whether a text is an active token of the account.
    pub async fn is_token_of(&self, account: &Account, token: &str, origin: Origin) -> bool {
        let caller = self.authenticate(Some(token), origin).await;
        caller.is_ok_and(|caller| caller.account == account.id)
    }

    async fn claimable_account(&self, code: &str) -> ServiceResult<Account> {
        must_be_code(code)?;
        let found = self.0.store.accounts().find_by_claim_code(code).await?;
        let account = found.ok_or(Refusal::NotFound(Missing::ClaimLink))?;
        let now = self.0.clock.now();
        if account.suspension.is_some() {
            return Err(Refusal::AccountSuspended.into());
        }
        if account.status == AccountStatus::Claimed {
            return Err(Refusal::AlreadyClaimed.into());
        }
        if has_expired(account.expires_at, now) {
            return Err(Refusal::ClaimExpired.into());
        }
        Ok(account)
    }

    /// Makes the claimer the owner of the account (spec 3.1), and revokes its tokens on request. Of two
    /// concurrent claims, one succeeds. A refused claim does not count against the limits.
    pub async fn claim(
        &self,
        code: &str,
        claimer: &Person,
        tokens: TokenFate,
        from: IpAddr,
    ) -> ServiceResult<Account> {
        must_be_code(code)?;
        let limits = self.claim_limits(from);
        self.take_each(&limits).await?;
        let accounts_max = self.0.rules.claims_per_person;
        let who = Claimer {
            user: claimer.user,
            origin: claimer.origin,
            accounts_max: NonZeroU32::new(accounts_max),
            tokens,
        };
        let claimed = self.0.store.accounts().claim(code, &who, self.0.clock.now(), &self.0.chance).await;
        if !matches!(claimed, Ok(Claimed::Now { .. })) {
            self.give_back_each(&limits).await;
        }
        match claimed? {
            Claimed::Now { account, hosts, tokens_revoked } => {
                if !hosts.is_empty() {
                    self.0.bus.notify_edges(&hosts).await;
                }
                tracing::info!(
                    account.handle = %account.handle,
                    user.id = %claimer.user,
                    tokens.revoked = tokens_revoked,
                    "account claimed"
                );
                Ok(*account)
            }
            Claimed::NoSuchCode => Err(Refusal::NotFound(Missing::ClaimLink).into()),
            Claimed::Expired => Err(Refusal::ClaimExpired.into()),
            Claimed::Already => Err(Refusal::AlreadyClaimed.into()),
            Claimed::TooMany { limit } => Err(Refusal::TooManyAccounts { limit }.into()),
        }
    }
}

fn time_left(account: &Account, now: Time) -> Duration {
    account.expires_at.map_or(Duration::ZERO, |end| end.since(now))
}

/// Refuses a malformed code without a database query.
fn must_be_code(code: &str) -> Result<(), Refusal> {
    if Account::is_claim_code(code) { Ok(()) } else { Err(Refusal::NotFound(Missing::ClaimLink)) }
}
