//! Everything that one slug of an account can be at a moment, given what was asked and what was answered. Changes may be
//! under way at the same time, and those without an answer may have happened, may happen yet, or never: every way in
//! which all answers are true is kept. When no way is left, somebody was told an untruth.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Moment;
use super::files::FileSet;
use super::state::{Change, Effect, OpId, Page, State, Visibility};

/// So many changes may be open on a slug, so that the ways stay few.
pub const OPEN_MAX: usize = 4;
const STATES_MAX: usize = 20_000;

/// What an artifact is called, once somebody was told.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Names {
    pub artifact_id: String,
    pub host: String,
}

#[derive(Clone, Debug)]
struct Open {
    change: Change,
    began: Moment,
}

/// A use of the allowance: a version that was made, or may have been.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    pub began: Moment,
    /// When it was answered; without an answer it may have happened at any time since.
    pub ended: Option<Moment>,
    pub is_sure: bool,
}

/// A look at a slug that is under way.
#[derive(Clone, Copy, Debug)]
pub struct LookId(u64);

#[derive(Debug)]
pub struct SiteModel {
    states: BTreeSet<State>,
    open: BTreeMap<OpId, Open>,
    contents: BTreeMap<OpId, Arc<FileSet>>,
    names: BTreeMap<OpId, Names>,
    looks: BTreeMap<u64, BTreeSet<Option<Page>>>,
    looks_begun: u64,
    /// Versions of this round that were acknowledged.
    uses: Vec<Use>,
    /// Artifacts of which it was acknowledged that they left the public.
    hidden: BTreeSet<OpId>,
    /// Versions of which somebody has seen every byte.
    seen: BTreeSet<OpId>,
    is_given_up: bool,
}

/// Why nothing of what was told can be true.
#[derive(Debug)]
pub struct Untrue(pub String);

impl Default for SiteModel {
    fn default() -> Self {
        Self {
            states: BTreeSet::from([State::default()]),
            open: BTreeMap::new(),
            contents: BTreeMap::new(),
            names: BTreeMap::new(),
            looks: BTreeMap::new(),
            looks_begun: 0,
            uses: Vec::new(),
            hidden: BTreeSet::new(),
            seen: BTreeSet::new(),
            is_given_up: false,
        }
    }
}

impl SiteModel {
    /// Whether one more change may be asked for.
    pub fn has_room(&self) -> bool {
        self.open.len() < OPEN_MAX && !self.is_given_up
    }

    /// Nothing can be said of it any more, since something untrue was told.
    pub fn give_up(&mut self) {
        self.is_given_up = true;
    }

    pub fn is_given_up(&self) -> bool {
        self.is_given_up
    }

    /// Somebody asks for a change: from now on it may happen.
    pub fn begin(&mut self, id: OpId, change: Change) {
        if let Some(files) = change.files() {
            self.contents.insert(id, files.clone());
        }
        self.open.insert(id, Open { change, began: Moment::now() });
        self.spread();
    }

    /// It was acknowledged. `seq` is the version's number, and `names` what the artifact is
    /// called, where the answer says so.
    pub fn acknowledge(&mut self, id: OpId, seq: Option<u32>, names: Option<&Names>) -> Result<(), Untrue> {
        let Some(open) = self.open.remove(&id) else { return Ok(()) };
        let told = names.cloned();
        let known = self.names.clone();
        self.keep("no order of events explains this acknowledgement", |state| {
            let Some(effect) = state.happened.get(&id) else { return false };
            let is_seq = seq.is_none_or(|seq| seq == effect.seq);
            let is_named = told.as_ref().is_none_or(|told| match known.get(&effect.made_by) {
                Some(known) => known == told,
                None => !known.values().any(|known| known == told),
            });
            is_seq && is_named
        })?;
        self.learn(id, told);
        if open.change.files().is_some() {
            self.uses.push(Use { began: open.began, ended: Some(Moment::now()), is_sure: true });
        }
        if let Change::Show(Visibility::Unlisted | Visibility::Private) = open.change
            && let Some(effect) = self.effect_in_all(id)
        {
            self.hidden.insert(effect.made_by);
        }
        self.forget(id);
        Ok(())
    }

    /// It was refused, and nothing of it is there.
    pub fn refuse(&mut self, id: OpId) -> Result<(), Untrue> {
        self.open.remove(&id);
        self.contents.remove(&id);
        self.keep("it was refused, and yet only its having happened explains the rest", |state| {
            !state.happened.contains_key(&id)
        })
    }

    /// Begins to look: whatever the slug is from now on until the look ends may be what is seen.
    pub fn begin_look(&mut self) -> LookId {
        self.looks_begun += 1;
        self.looks.insert(self.looks_begun, self.pages());
        LookId(self.looks_begun)
    }

    /// What may have been seen meanwhile.
    pub fn end_look(&mut self, look: LookId) -> BTreeSet<Option<Page>> {
        self.looks.remove(&look.0).unwrap_or_default()
    }

    pub fn pages(&self) -> BTreeSet<Option<Page>> {
        self.states.iter().map(|state| state.page.clone()).collect()
    }

    pub fn files_of(&self, version: OpId) -> &Arc<FileSet> {
        &self.contents[&version]
    }

    /// The version that has such a file.
    pub fn owner_of(&self, is_it: impl Fn(&str, &[u8]) -> bool) -> Option<OpId> {
        let has = |files: &FileSet| files.files.iter().any(|(path, content)| is_it(path, content));
        self.contents.iter().find(|(_, files)| has(files)).map(|(version, _)| *version)
    }

    /// Everything that was ever published here and not refused.
    pub fn contents(&self) -> impl Iterator<Item = &Arc<FileSet>> {
        self.contents.values()
    }

    /// Artifacts with their names, the gone ones too.
    pub fn named(&self) -> impl Iterator<Item = (OpId, &Names)> {
        self.names.iter().map(|(made_by, names)| (*made_by, names))
    }

    pub fn names_of(&self, made_by: OpId) -> Option<&Names> {
        self.names.get(&made_by)
    }

    /// The artifact ids of which it was acknowledged that they left the public.
    pub fn hidden(&self) -> impl Iterator<Item = &str> {
        self.hidden.iter().filter_map(|made_by| Some(self.names.get(made_by)?.artifact_id.as_str()))
    }

    /// Keeps only what agrees with what was seen when nothing was under way any more.
    pub fn see(&mut self, what: &str, agrees: impl Fn(Option<&Page>) -> bool) -> Result<(), Untrue> {
        self.keep(what, |state| agrees(state.page.as_ref()))
    }

    /// The checker has made a version live, when nobody else was about.
    pub fn made_live(&mut self, seq: u32) {
        let states = std::mem::take(&mut self.states);
        self.states = states
            .into_iter()
            .map(|mut state| {
                if let Some(page) = state.page.as_mut() {
                    page.live = seq;
                }
                state
            })
            .collect();
    }

    /// Every byte of a version was seen.
    pub fn mark_seen(&mut self, seq: u32) {
        let pages = self.pages();
        if let (1, Some(Some(page))) = (pages.len(), pages.first()) {
            self.seen.extend(page.versions.get(seq as usize - 1));
        }
    }

    pub fn is_seen(&self, version: OpId) -> bool {
        self.seen.contains(&version)
    }

    pub fn contents_by_version(&self) -> BTreeMap<OpId, Arc<FileSet>> {
        self.contents.clone()
    }

    /// The artifact that bears the slug is called so.
    pub fn name(&mut self, names: Names) {
        let makers: BTreeSet<_> =
            self.states.iter().filter_map(|state| Some(state.page.as_ref()?.made_by)).collect();
        if let (1, Some(maker)) = (makers.len(), makers.first()) {
            self.names.entry(*maker).or_insert(names);
        }
    }

    /// The end of a round: nothing that was open can happen any more, so whatever is still possible was so. Gives what
    /// was used of the allowance.
    pub fn settle(&mut self) -> Vec<Use> {
        let mut uses = std::mem::take(&mut self.uses);
        for (id, open) in std::mem::take(&mut self.open) {
            let count = self.states.iter().filter(|state| state.happened.contains_key(&id)).count();
            if open.change.files().is_some() && count > 0 {
                uses.push(Use { began: open.began, ended: None, is_sure: count == self.states.len() });
            }
            if count == 0 {
                self.contents.remove(&id);
            }
        }
        self.states =
            self.pages().into_iter().map(|page| State { page, happened: BTreeMap::new() }).collect();
        uses
    }

    fn keep(&mut self, what: &str, is_true: impl Fn(&State) -> bool) -> Result<(), Untrue> {
        let kept: BTreeSet<_> = self.states.iter().filter(|state| is_true(state)).cloned().collect();
        if kept.is_empty() {
            return Err(Untrue(format!("{what}; before, it could be: {}", self.told())));
        }
        self.states = kept;
        self.note_for_looks();
        Ok(())
    }

    /// Every state that is reached by what is open.
    fn spread(&mut self) {
        let mut fresh: Vec<_> = self.states.iter().cloned().collect();
        while let Some(state) = fresh.pop() {
            for (id, open) in &self.open {
                if state.happened.contains_key(id) {
                    continue;
                }
                let Some(next) = state.after(*id, &open.change) else { continue };
                if self.states.insert(next.clone()) {
                    fresh.push(next);
                }
            }
            assert!(self.states.len() < STATES_MAX, "too many ways to follow");
        }
        self.note_for_looks();
    }

    fn note_for_looks(&mut self) {
        if self.looks.is_empty() {
            return;
        }
        let pages = self.pages();
        self.looks.values_mut().for_each(|seen| seen.extend(pages.iter().cloned()));
    }

    /// The names belong to the artifact that the change was about, where that is the same in every way.
    fn learn(&mut self, id: OpId, told: Option<Names>) {
        if let (Some(told), Some(effect)) = (told, self.effect_in_all(id)) {
            self.names.entry(effect.made_by).or_insert(told);
        }
    }

    fn effect_in_all(&self, id: OpId) -> Option<Effect> {
        let makers: BTreeSet<_> =
            self.states.iter().filter_map(|state| state.happened.get(&id)).map(|one| one.made_by).collect();
        let effect = self.states.first()?.happened.get(&id)?;
        (makers.len() == 1).then_some(*effect)
    }

    /// It has happened in every way, so it need not be told apart any more.
    fn forget(&mut self, id: OpId) {
        let states = std::mem::take(&mut self.states);
        self.states = states
            .into_iter()
            .map(|mut state| {
                state.happened.remove(&id);
                state
            })
            .collect();
    }

    fn told(&self) -> String {
        const TOLD_MAX: usize = 6;
        let told: Vec<_> = self.pages().iter().take(TOLD_MAX).map(|page| told_page(page.as_ref())).collect();
        told.join(" or ")
    }
}

pub fn told_page(page: Option<&Page>) -> String {
    let Some(page) = page else { return "nothing".to_owned() };
    let versions: Vec<_> = page.versions.iter().map(|id| format!("#{}", id.0)).collect();
    format!("{} with versions [{}], {} live", page.visibility.name(), versions.join(" "), page.live)
}

#[cfg(test)]
mod tests;
