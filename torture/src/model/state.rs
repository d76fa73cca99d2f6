//! The states of a slug, and the effects of changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::files::FileSet;

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
    /// The change that created each version. The first has number 1.
    pub versions: Vec<OpId>,
    pub live: u32,
    pub visibility: Visibility,
}

impl Page {
    pub fn live_version(&self) -> OpId {
        self.versions[self.live as usize - 1]
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
    pub page: Option<Page>,
    /// Changes without a response that have happened.
    pub happened: BTreeMap<OpId, Effect>,
}

impl State {
    /// The state after a change, or `None` if it would be refused.
    pub fn after(&self, id: OpId, change: &Change) -> Option<State> {
        let (page, effect) = apply(self.page.as_ref(), id, change)?;
        let mut happened = self.happened.clone();
        happened.insert(id, effect);
        Some(State { page, happened })
    }
}

fn apply(page: Option<&Page>, id: OpId, change: &Change) -> Option<(Option<Page>, Effect)> {
    let Some(page) = page else {
        let Change::Publish(_) = change else { return None };
        let page = Page { made_by: id, versions: vec![id], live: 1, visibility: Visibility::Public };
        return Some((Some(page), Effect { made_by: id, seq: 1 }));
    };
    let mut page = page.clone();
    let mut effect = Effect { made_by: page.made_by, seq: 0 };
    match change {
        Change::Publish(_) | Change::AddVersion { .. } => {
            page.versions.push(id);
            effect.seq = u32::try_from(page.versions.len()).expect("few versions");
            if !matches!(change, Change::AddVersion { activates: false, .. }) {
                page.live = effect.seq;
            }
        }
        Change::Activate(seq) if (1..=page.versions.len()).contains(&(*seq as usize)) => page.live = *seq,
        Change::Activate(_) => return None,
        Change::Show(visibility) => page.visibility = *visibility,
        Change::Delete => return Some((None, effect)),
    }
    Some((Some(page), effect))
}
