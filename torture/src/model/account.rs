//! An account as its clients know it: its slugs, money and team, and whether it is claimed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use super::Micro;
use super::allowance::{Claim, ModelAllowance};
use super::site::{SiteModel, Use};
use super::team::Team;

/// Few, so that changes conflict.
pub const SITES_EACH: usize = 3;

#[derive(Debug)]
pub struct Account {
    /// The name in the history.
    pub name: String,
    pub handle: String,
    pub claim_url: String,
    /// Has all scopes, and is never revoked.
    pub owner_token: String,
    pub sites: Vec<Site>,
    pub expected_ledger: Mutex<ExpectedLedger>,
    pub team: Mutex<Team>,
    pub claim: Mutex<Option<Claim>>,
}

#[derive(Debug)]
pub struct Site {
    pub slug: String,
    /// The name in the history.
    pub name: String,
    pub model: Mutex<SiteModel>,
}

/// Payments, and the result of the last check.
#[derive(Debug, Default)]
pub struct ExpectedLedger {
    /// Receipts by id.
    pub receipts: BTreeMap<String, Micro>,
    /// Payments of this round without a response.
    pub unanswered: Vec<Micro>,
    /// Uses of the allowance since the last check.
    pub uses: Vec<Use>,
    pub standing: ModelAllowance,
    pub entries: Vec<Entry>,
    /// Artifacts that are known to have left public visibility.
    pub hidden: BTreeSet<String>,
}

/// A movement of money in the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub reason: String,
    pub delta: Micro,
}

impl Account {
    pub fn new(number: usize, handle: String, claim_url: String, owner_token: String) -> Self {
        let name = format!("account {number}");
        let site = |place: usize| Site {
            slug: format!("site-{place}"),
            name: format!("{name}, site-{place}"),
            model: Mutex::default(),
        };
        let mut team = Team::default();
        team.note_token(&owner_token, None);
        Self {
            sites: (0..SITES_EACH).map(site).collect(),
            name,
            handle,
            claim_url,
            owner_token,
            expected_ledger: Mutex::default(),
            team: Mutex::new(team),
            claim: Mutex::default(),
        }
    }

    pub fn is_surely_claimed(&self) -> bool {
        self.claim.lock().unwrap().is_some_and(|claim| claim.ended.is_some())
    }
}
