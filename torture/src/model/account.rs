//! An account as its clients know it: its slugs, its money, its team, and whether somebody claimed it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use super::Micro;
use super::allowance::{Claim, ModelAllowance};
use super::site::{SiteModel, Use};
use super::team::Team;

/// Few, so that changes meet each other.
pub const SITES_EACH: usize = 3;

#[derive(Debug)]
pub struct Account {
    /// What stories call it.
    pub name: String,
    pub handle: String,
    pub claim_url: String,
    /// May do everything, and is never revoked.
    pub owner_token: String,
    pub sites: Vec<Site>,
    pub books: Mutex<Books>,
    pub team: Mutex<Team>,
    pub claim: Mutex<Option<Claim>>,
}

#[derive(Debug)]
pub struct Site {
    pub slug: String,
    /// What stories call it.
    pub name: String,
    pub model: Mutex<SiteModel>,
}

/// What was paid, and what the last look has shown.
#[derive(Debug, Default)]
pub struct Books {
    /// Receipts that were given, by their id.
    pub receipts: BTreeMap<String, Micro>,
    /// Payments of this round that were not answered.
    pub unanswered: Vec<Micro>,
    /// Uses of the allowance since the last look.
    pub uses: Vec<Use>,
    pub standing: ModelAllowance,
    pub entries: Vec<Entry>,
    /// Artifacts that left the public, by acknowledgement.
    pub hidden: BTreeSet<String>,
}

/// A movement of money, as the ledger shows it.
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
            books: Mutex::default(),
            team: Mutex::new(team),
            claim: Mutex::default(),
        }
    }

    pub fn is_surely_claimed(&self) -> bool {
        self.claim.lock().unwrap().is_some_and(|claim| claim.ended.is_some())
    }
}
