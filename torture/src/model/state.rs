//! The states of a slug, and the effects of changes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::files::FileSet;

/// How many artifacts of a slug are deleted within the difference of two clocks, at most.
const LAST_DELETED_MAX: usize = 3;

/// One requested change with all its attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OpId(pub u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Visibility {
    Public,
    Unlisted,
    Private,
}

impl Visibility {
    pub const ALL: [Visibility; 3] = [Visibility::Public, Visibility::Unlisted, Visibility::Private];

    pub fn name(self) -> &'static str {
        match self {
            Visibility::Public => "public",
            Visibility::Unlisted => "unlisted",
            Visibility::Private => "private",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }
}

#[derive(Clone, Debug)]
pub enum Change {
    /// A version of the slug's current artifact, or of a new one.
    Publish(Arc<FileSet>),
    AddVersion {
        files: Arc<FileSet>,
        activates: bool,
    },
    Activate(u32),
    Show(Visibility),
    Delete,
    /// Deletes the slug's artifact for good, or a deleted one.
    Purge,
    /// Brings a deleted artifact back.
    Restore,
    DeleteVersion(u32),
}

impl Change {
    pub fn files(&self) -> Option<&Arc<FileSet>> {
        match self {
            Change::Publish(files) | Change::AddVersion { files, .. } => Some(files),
            _ => None,
        }
    }
}

/// The state of an artifact. It is identified by the change that created it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Page {
    pub made_by: OpId,
    /// The change that created each version, by number.
    pub versions: BTreeMap<u32, OpId>,
    /// The versions that a scan blocks, once it has run.
    pub abusive: BTreeSet<u32>,
    /// The highest number that a version has had. No number is used again.
    pub newest: u32,
    pub live: u32,
    pub visibility: Visibility,
}

impl Page {
    fn new(made_by: OpId) -> Self {
        Self {
            made_by,
            versions: BTreeMap::new(),
            abusive: BTreeSet::new(),
            newest: 0,
            live: 0,
            visibility: Visibility::Public,
        }
    }

    pub fn live_version(&self) -> OpId {
        self.versions[&self.live]
    }

    pub fn has(&self, version: OpId) -> bool {
        self.versions.values().any(|one| *one == version)
    }

    /// What may be kept as evidence when it is purged. `None` if there is nothing.
    fn evidence(&self) -> Option<Self> {
        let mut kept = self.clone();
        kept.versions.retain(|seq, _| self.abusive.contains(seq));
        (!kept.versions.is_empty()).then_some(kept)
    }

    /// Returns the number of the version that the change creates, or 0.
    fn apply(&mut self, id: OpId, change: &Change) -> u32 {
        match change {
            Change::Publish(files) | Change::AddVersion { files, .. } => {
                self.newest += 1;
                self.versions.insert(self.newest, id);
                if files.is_abusive {
                    self.abusive.insert(self.newest);
                }
                if !matches!(change, Change::AddVersion { activates: false, .. }) {
                    self.live = self.newest;
                }
                return self.newest;
            }
            Change::Activate(seq) => self.live = *seq,
            Change::DeleteVersion(seq) => {
                self.versions.remove(seq);
                self.abusive.remove(seq);
            }
            Change::Show(visibility) => self.visibility = *visibility,
            Change::Delete | Change::Purge | Change::Restore => {}
        }
        0
    }
}

/// The artifacts that have or had a slug.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Artifacts {
    pub page: Option<Page>,
    /// Those that can be restored. Clocks differ, so any of the last `LAST_DELETED_MAX` may count as the one
    /// that was deleted last.
    pub deleted: Vec<Page>,
    /// Purged ones, with the versions that may be kept as evidence.
    evidence: Vec<Page>,
    /// Whether one was purged. If it was deleted last, no other one is purged.
    is_any_purged: bool,
}

impl Artifacts {
    /// Whether the change may be refused now with this code.
    pub fn may_refuse(&self, change: &Change, code: &str) -> bool {
        let is_missing = code == "not_found";
        match (change, &self.page) {
            (Change::Publish(_), _) => false,
            (Change::Restore, Some(_)) if !self.deleted.is_empty() => code == "slug_taken",
            (Change::Restore, Some(_)) => is_missing,
            (Change::Restore, None) => is_missing && self.deleted.is_empty(),
            (Change::Purge, None) => is_missing && (self.deleted.is_empty() || self.is_any_purged),
            (_, None) => is_missing,
            (Change::Activate(seq) | Change::DeleteVersion(seq), Some(page))
                if !page.versions.contains_key(seq) =>
            {
                is_missing
            }
            (Change::DeleteVersion(seq), Some(page)) if page.live == *seq => code == "version_live",
            (Change::DeleteVersion(seq), Some(page)) => code == "version_held" && page.abusive.contains(seq),
            _ => false,
        }
    }

    /// Every version that can be read or restored.
    pub fn versions(&self) -> impl Iterator<Item = OpId> {
        self.page.iter().chain(&self.deleted).flat_map(|page| page.versions.values().copied())
    }

    /// Every version whose contents may be kept only as evidence.
    pub fn kept(&self) -> impl Iterator<Item = OpId> {
        self.evidence.iter().flat_map(|page| page.versions.values().copied())
    }

    /// What the change may lead to. Empty if it would be refused.
    fn after(&self, id: OpId, change: &Change) -> Vec<(Self, Effect)> {
        let unchanged = |page: &Page| (self.clone(), Effect { made_by: page.made_by, seq: 0 });
        let deleted = self.deleted.len().saturating_sub(LAST_DELETED_MAX)..self.deleted.len();
        match (change, &self.page) {
            (Change::Restore, Some(_)) => vec![],
            (Change::Restore, None) => deleted.map(|place| self.restored(place)).collect(),
            (Change::Purge, None) => {
                let purged = deleted.map(|place| {
                    let mut next = self.clone();
                    let page = next.deleted.remove(place);
                    next.purged(&page)
                });
                purged.chain(self.evidence.iter().map(unchanged)).collect()
            }
            (Change::Purge, Some(page)) => vec![Self { page: None, ..self.clone() }.purged(page)],
            (Change::Delete, Some(page)) => {
                let mut next = Self { page: None, ..self.clone() };
                next.deleted.push(page.clone());
                vec![(next, Effect { made_by: page.made_by, seq: 0 })]
            }
            (Change::Publish(_), None) => vec![self.with(Page::new(id), id, change)],
            (_, None) => vec![],
            (Change::Activate(seq) | Change::DeleteVersion(seq), Some(page))
                if !page.versions.contains_key(seq) =>
            {
                vec![]
            }
            (Change::DeleteVersion(seq), Some(page)) if page.live == *seq => vec![],
            (_, Some(page)) => vec![self.with(page.clone(), id, change)],
        }
    }

    fn with(&self, mut page: Page, id: OpId, change: &Change) -> (Self, Effect) {
        let effect = Effect { made_by: page.made_by, seq: page.apply(id, change) };
        (Self { page: Some(page), ..self.clone() }, effect)
    }

    fn restored(&self, place: usize) -> (Self, Effect) {
        let mut next = self.clone();
        let page = next.deleted.remove(place);
        let effect = Effect { made_by: page.made_by, seq: 0 };
        next.page = Some(page);
        (next, effect)
    }

    /// The artifacts after a purge of one that is no longer among them.
    fn purged(mut self, page: &Page) -> (Self, Effect) {
        self.evidence.extend(page.evidence());
        self.is_any_purged = true;
        (self, Effect { made_by: page.made_by, seq: 0 })
    }
}

/// The effect of a change that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Effect {
    pub made_by: OpId,
    /// The number of the version that it created, or 0.
    pub seq: u32,
}

/// One state in which all responses can be true.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct State {
    pub artifacts: Artifacts,
    /// Changes without a response that have happened.
    pub happened: BTreeMap<OpId, Effect>,
}

impl State {
    /// The states after a change. None if it would be refused.
    pub fn after(&self, id: OpId, change: &Change) -> Vec<State> {
        let next = |(artifacts, effect): (Artifacts, Effect)| {
            let mut happened = self.happened.clone();
            happened.insert(id, effect);
            State { artifacts, happened }
        };
        self.artifacts.after(id, change).into_iter().map(next).collect()
    }
}
