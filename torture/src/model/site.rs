//! All possible states of one slug of an account, given the requests and the responses. Changes may be
//! concurrent. Those without a response may have happened, may happen later, or never. The model keeps every
//! state in which all responses are true. If none is left, a response was false.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Moment;
use super::addresses::Addresses;
use super::files::FileSet;
use super::state::{Artifacts, Change, Effect, OpId, Page, State, Visibility};

/// The limit of concurrent changes on a slug, which keeps the number of states small.
pub const OPEN_MAX: usize = 4;
const STATES_MAX: usize = 20_000;

/// The names of an artifact, once a response contained them.
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

/// A use of the allowance: a version that was created, or may have been.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    pub began: Moment,
    /// The time of the response. Without one it may have happened at any time since.
    pub ended: Option<Moment>,
    pub is_sure: bool,
}

/// A read of a slug that is in flight.
#[derive(Clone, Copy, Debug)]
pub struct ReadId(u64);

#[derive(Debug)]
pub struct SiteModel {
    states: BTreeSet<State>,
    open: BTreeMap<OpId, Open>,
    contents: BTreeMap<OpId, Arc<FileSet>>,
    /// Publishes of earlier rounds that may never have happened.
    unsure: BTreeSet<OpId>,
    names: BTreeMap<OpId, Names>,
    pub addresses: Addresses,
    reads: BTreeMap<u64, BTreeSet<Artifacts>>,
    reads_begun: u64,
    /// Acknowledged versions of this round.
    uses: Vec<Use>,
    /// Artifacts whose change from public visibility was acknowledged.
    hidden: BTreeSet<OpId>,
    /// Versions of which every byte was read.
    seen: BTreeSet<OpId>,
    is_given_up: bool,
}

/// Why the responses contradict each other.
#[derive(Debug)]
pub struct Untrue(pub String);

impl Default for SiteModel {
    fn default() -> Self {
        Self {
            states: BTreeSet::from([State::default()]),
            open: BTreeMap::new(),
            contents: BTreeMap::new(),
            unsure: BTreeSet::new(),
            names: BTreeMap::new(),
            addresses: Addresses::default(),
            reads: BTreeMap::new(),
            reads_begun: 0,
            uses: Vec::new(),
            hidden: BTreeSet::new(),
            seen: BTreeSet::new(),
            is_given_up: false,
        }
    }
}

impl SiteModel {
    /// Whether another change may be requested.
    pub fn may_begin(&self) -> bool {
        self.open.len() < OPEN_MAX && !self.is_given_up
    }

    /// Abandons the model after a false response.
    pub fn give_up(&mut self) {
        self.is_given_up = true;
    }

    pub fn is_given_up(&self) -> bool {
        self.is_given_up
    }

    /// Records a requested change, which may happen from now on.
    pub fn begin(&mut self, id: OpId, change: Change) {
        if let Some(files) = change.files() {
            self.contents.insert(id, files.clone());
        }
        self.open.insert(id, Open { change, began: Moment::now() });
        self.spread();
    }

    /// Records an acknowledgement. `seq` is the version's number, and `names` are the artifact's names, if
    /// the response contains them. Returns the effect of the change, if it is the same in all states.
    pub fn acknowledge(
        &mut self,
        id: OpId,
        seq: Option<u32>,
        names: Option<&Names>,
    ) -> Result<Option<Effect>, Untrue> {
        let Some(open) = self.open.remove(&id) else { return Ok(None) };
        let reported = names.cloned();
        let known = self.names.clone();
        self.keep("no order of events explains this acknowledgement", |state| {
            let Some(effect) = state.happened.get(&id) else { return false };
            let is_seq = seq.is_none_or(|seq| seq == effect.seq);
            let is_named = reported.as_ref().is_none_or(|reported| match known.get(&effect.made_by) {
                Some(known) => known == reported,
                None => !known.values().any(|known| known == reported),
            });
            is_seq && is_named
        })?;
        let effect = self.effect_in_all(id);
        if let (Some(reported), Some(effect)) = (reported, effect) {
            self.names.entry(effect.made_by).or_insert(reported);
        }
        if open.change.files().is_some() {
            self.uses.push(Use { began: open.began, ended: Some(Moment::now()), is_sure: true });
        }
        if let Change::Show(Visibility::Unlisted | Visibility::Private) = open.change
            && let Some(effect) = effect
        {
            self.hidden.insert(effect.made_by);
        }
        self.forget(id);
        Ok(effect)
    }

    /// Records a refusal: the change did not happen.
    pub fn refuse(&mut self, id: OpId) -> Result<(), Untrue> {
        self.open.remove(&id);
        self.contents.remove(&id);
        self.keep("it was refused, and yet only its having happened explains the rest", |state| {
            !state.happened.contains_key(&id)
        })
    }

    /// Begins a read. Every state from now until its end may be the result.
    pub fn begin_read(&mut self) -> ReadId {
        self.reads_begun += 1;
        self.reads.insert(self.reads_begun, self.artifacts());
        ReadId(self.reads_begun)
    }

    /// Ends a read. Returns the possible results.
    pub fn end_read(&mut self, read: ReadId) -> BTreeSet<Artifacts> {
        self.reads.remove(&read.0).unwrap_or_default()
    }

    pub fn pages(&self) -> BTreeSet<Option<Page>> {
        self.states.iter().map(|state| state.artifacts.page.clone()).collect()
    }

    pub fn artifacts(&self) -> BTreeSet<Artifacts> {
        self.states.iter().map(|state| state.artifacts.clone()).collect()
    }

    /// The files of a version. `None` if its publish was refused.
    pub fn files_of(&self, version: OpId) -> Option<&FileSet> {
        self.contents.get(&version).map(Arc::as_ref)
    }

    /// The version that contains such a file.
    pub fn owner_of(&self, is_it: impl Fn(&str, &[u8]) -> bool) -> Option<OpId> {
        let has = |files: &FileSet| files.files.iter().any(|(path, content)| is_it(path, content));
        self.contents.iter().find(|(_, files)| has(files)).map(|(version, _)| *version)
    }

    /// Every content that was published here and not refused.
    pub fn contents(&self) -> impl Iterator<Item = &Arc<FileSet>> {
        self.contents.values()
    }

    /// The contents of every version that surely existed, also of deleted ones.
    pub fn surely_published(&self) -> impl Iterator<Item = &Arc<FileSet>> {
        self.contents.iter().filter(|(id, _)| !self.unsure.contains(id)).map(|(_, files)| files)
    }

    /// Artifacts with their names, including deleted ones.
    pub fn named(&self) -> impl Iterator<Item = (OpId, &Names)> {
        self.names.iter().map(|(made_by, names)| (*made_by, names))
    }

    pub fn names_of(&self, made_by: OpId) -> Option<&Names> {
        self.names.get(&made_by)
    }

    /// The ids of artifacts whose change from public visibility was acknowledged.
    pub fn hidden(&self) -> impl Iterator<Item = &str> {
        self.hidden.iter().filter_map(|made_by| Some(self.names.get(made_by)?.artifact_id.as_str()))
    }

    /// Keeps only the states that agree with a read when no change was in flight.
    pub fn see(&mut self, what: &str, agrees: impl Fn(Option<&Page>) -> bool) -> Result<(), Untrue> {
        self.keep(what, |state| agrees(state.artifacts.page.as_ref()))
    }

    /// Records that the checker activated a version, with no concurrent changes.
    pub fn made_live(&mut self, seq: u32) {
        let states = std::mem::take(&mut self.states);
        self.states = states
            .into_iter()
            .map(|mut state| {
                if let Some(page) = state.artifacts.page.as_mut() {
                    page.live = seq;
                }
                state
            })
            .collect();
    }

    /// Records that every byte of a version was read.
    pub fn mark_seen(&mut self, seq: u32) {
        let pages = self.pages();
        if let (1, Some(Some(page))) = (pages.len(), pages.first()) {
            self.seen.extend(page.versions.get(&seq));
        }
    }

    pub fn is_seen(&self, version: OpId) -> bool {
        self.seen.contains(&version)
    }

    pub fn contents_by_version(&self) -> BTreeMap<OpId, Arc<FileSet>> {
        self.contents.clone()
    }

    /// Records the names of the slug's current artifact.
    pub fn name(&mut self, names: Names) {
        let makers: BTreeSet<_> = self.pages().iter().flatten().map(|page| page.made_by).collect();
        if let (1, Some(maker)) = (makers.len(), makers.first()) {
            self.names.entry(*maker).or_insert(names);
        }
    }

    /// Ends a round: no open change can happen any more, so that its effects are now decided. Returns the
    /// uses of the allowance.
    pub fn settle(&mut self) -> Vec<Use> {
        let mut uses = std::mem::take(&mut self.uses);
        for (id, open) in std::mem::take(&mut self.open) {
            let count = self.states.iter().filter(|state| state.happened.contains_key(&id)).count();
            let is_sure = count == self.states.len();
            if open.change.files().is_some() && count > 0 {
                uses.push(Use { began: open.began, ended: None, is_sure });
            }
            if count == 0 {
                self.contents.remove(&id);
            } else if !is_sure {
                self.unsure.insert(id);
            }
        }
        self.states = self
            .artifacts()
            .into_iter()
            .map(|artifacts| State { artifacts, happened: BTreeMap::new() })
            .collect();
        uses
    }

    fn keep(&mut self, what: &str, is_true: impl Fn(&State) -> bool) -> Result<(), Untrue> {
        let kept: BTreeSet<_> = self.states.iter().filter(|state| is_true(state)).cloned().collect();
        if kept.is_empty() {
            return Err(Untrue(format!("{what}; before, it could be: {}", self.description())));
        }
        self.states = kept;
        self.note_for_reads();
        Ok(())
    }

    /// Adds every state that open changes can lead to.
    fn spread(&mut self) {
        let mut fresh: Vec<_> = self.states.iter().cloned().collect();
        while let Some(state) = fresh.pop() {
            for (id, open) in &self.open {
                if state.happened.contains_key(id) {
                    continue;
                }
                for next in state.after(*id, &open.change) {
                    if self.states.insert(next.clone()) {
                        fresh.push(next);
                    }
                }
            }
            assert!(self.states.len() < STATES_MAX, "too many ways to follow");
        }
        self.note_for_reads();
    }

    fn note_for_reads(&mut self) {
        if self.reads.is_empty() {
            return;
        }
        let artifacts = self.artifacts();
        self.reads.values_mut().for_each(|seen| seen.extend(artifacts.iter().cloned()));
    }

    /// The effect of a change, if its artifact is the same in all states.
    fn effect_in_all(&self, id: OpId) -> Option<Effect> {
        let makers: BTreeSet<_> =
            self.states.iter().filter_map(|state| state.happened.get(&id)).map(|one| one.made_by).collect();
        let effect = self.states.first()?.happened.get(&id)?;
        (makers.len() == 1).then_some(*effect)
    }

    /// Forgets a change that has happened in all states.
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

    fn description(&self) -> String {
        const LISTED_MAX: usize = 6;
        let listed: Vec<_> = self.artifacts().iter().take(LISTED_MAX).map(artifacts_text).collect();
        listed.join(" or ")
    }
}

pub fn artifacts_text(Artifacts { page, deleted, .. }: &Artifacts) -> String {
    let current = page.as_ref().map_or("nothing".to_owned(), page_text);
    if deleted.is_empty() { current } else { format!("{current} (and {} deleted)", deleted.len()) }
}

fn page_text(page: &Page) -> String {
    let versions: Vec<_> = page.versions.iter().map(|(seq, id)| format!("{seq}: #{}", id.0)).collect();
    format!("{} with versions [{}], {} live", page.visibility.name(), versions.join(", "), page.live)
}

#[cfg(test)]
mod tests;
