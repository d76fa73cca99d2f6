//! Slugs: compares the API's state of each, and the bytes of each version at the edges, with the model.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use handbill_tests::{Reply, Value};
use rand::rngs::StdRng;

use super::reply_to;
use crate::client::names;
use crate::client::reading::shows;
use crate::client::response::body;
use crate::model::account::{Account, Site};
use crate::model::files::{FRONT_PAGE, FileSet};
use crate::model::site::{SiteModel, Untrue};
use crate::model::state::{OpId, Page, Visibility};
use crate::scene::Scene;

/// The sweep queues a lost scan again.
const VERDICT_DEADLINE: Duration = Duration::from_secs(90);
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// The checker activates versions to read them: up to this many of a slug in a round.
pub(super) const VERSIONS_MAX: usize = 6;

pub async fn check(scene: &Scene, account: &Account, site: &Site, is_claimed: bool, rng: &mut StdRng) {
    if site.model.lock().unwrap().is_given_up() {
        return;
    }
    let mut observation = PageObservation { scene, account, site, wears_badge: !is_claimed };
    let outcome = observation.through(rng).await;
    let mut model = site.model.lock().unwrap();
    if let Err(untrue) = outcome {
        model.give_up();
        scene.journal.violation(&site.name, untrue.0);
        return;
    }
    let uses = model.settle();
    let mut expected_ledger = account.expected_ledger.lock().unwrap();
    expected_ledger.uses.extend(uses);
    expected_ledger.hidden.extend(model.hidden().map(str::to_owned));
}

pub(super) struct PageObservation<'a> {
    scene: &'a Scene,
    account: &'a Account,
    pub(super) site: &'a Site,
    wears_badge: bool,
}

pub(super) type ServedPage = Result<(), Untrue>;

impl PageObservation<'_> {
    async fn through(&mut self, rng: &mut StdRng) -> ServedPage {
        let Some(detail) = self.detail(rng).await else { return Ok(()) };
        self.compare(&detail)?;
        let pages = self.site.model.lock().unwrap().pages();
        if detail.status == 200 {
            let Some(with_verdicts) = self.all_have_verdicts(rng).await? else { return Ok(()) };
            self.see_live(&with_verdicts, rng).await?;
            self.see_addresses(&with_verdicts, rng).await?;
            self.see_others(&pages, rng).await?;
        }
        self.gone_are_gone(rng).await
    }

    async fn detail(&self, rng: &mut StdRng) -> Option<Reply> {
        let (token, slug) = (&self.account.owner_token, &self.site.slug);
        reply_to(self.scene, &self.site.name, || self.scene.agent(token, rng).artifact(slug)).await
    }

    /// The API's state is one of those that agree with all responses.
    fn compare(&self, detail: &Reply) -> ServedPage {
        let mut model = self.site.model.lock().unwrap();
        let answer = body(detail);
        if detail.status == 404 {
            return model.see("there is nothing", |page| page.is_none());
        }
        let (reported, contents) = (ReportedVersion::of(&answer)?, Contents::of(&model));
        let text = format!("the API returns {answer}");
        model.see(&text, |page| page.is_some_and(|page| reported.is(page, &contents)))?;
        if let Some(reported) = names(&answer) {
            model.name(reported.clone());
            let known: BTreeSet<_> = model
                .pages()
                .iter()
                .flatten()
                .filter_map(|page| model.names_of(page.made_by))
                .cloned()
                .collect();
            if known.iter().any(|known| *known != reported) {
                return Err(Untrue(format!("it is called {reported:?}, and was called {known:?}")));
            }
        }
        Ok(())
    }

    /// Every version has the right verdict.
    async fn all_have_verdicts(&self, rng: &mut StdRng) -> Result<Option<Reply>, Untrue> {
        let started = Instant::now();
        loop {
            let Some(detail) = self.detail(rng).await else { return Ok(None) };
            let answer = body(&detail);
            let versions = answer["versions"].as_array().cloned().unwrap_or_default();
            let verdicts: Vec<_> =
                versions.iter().rev().map(|version| &version["moderation_status"]).collect();
            // A version is in review if its scan was abandoned during an outage. The sweep scans it again.
            let is_open = verdicts.iter().any(|verdict| **verdict == "pending" || **verdict == "review");
            if !is_open {
                let mut model = self.site.model.lock().unwrap();
                let contents = Contents::of(&model);
                let deserved = |version: &OpId| {
                    if contents.of_version(*version).is_abusive { "blocked" } else { "pass" }
                };
                let text = format!("the verdicts are {verdicts:?}");
                model.see(&text, |page| {
                    page.is_some_and(|page| page.versions.values().map(deserved).eq(verdicts.iter().copied()))
                })?;
                return Ok(Some(detail));
            }
            if started.elapsed() > VERDICT_DEADLINE {
                return Err(Untrue(format!("not every version is scanned: {answer}")));
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// The live version is served with exactly its bytes, to whom its visibility allows.
    async fn see_live(&self, detail: &Reply, rng: &mut StdRng) -> ServedPage {
        let answer = body(detail);
        let Some(reported) = names(&answer) else { return Err(Untrue(format!("it has no names: {answer}"))) };
        let signature = answer["signed_url"].as_str().and_then(|url| url.split_once('?')).map(|(_, sig)| sig);
        let visibility = answer["visibility"].as_str().and_then(Visibility::named);
        let is_blocked = answer["moderation_status"] == "blocked";
        if visibility == Some(Visibility::Private) && !is_blocked {
            let Some(shown) = self.open(&reported.host, "", None, rng).await else { return Ok(()) };
            if shown.status != 403 || signature.is_none() {
                return Err(Untrue(format!("a private page is shown to strangers: {shown:?}")));
            }
        }
        self.see_version(&reported.host, signature, live_version, rng).await?;
        if is_blocked {
            return Ok(());
        }
        let Some(front) = self.open(&reported.host, "", signature, rng).await else { return Ok(()) };
        let is_hidden = front.header("X-Robots-Tag").contains("noindex");
        if (visibility == Some(Visibility::Public)) == is_hidden {
            return Err(Untrue(format!("the wrong robots header: {front:?}")));
        }
        self.others_files_are_missing(&reported.host, signature, rng).await
    }

    /// Reads every file of all versions that may be `which`. The content decides which one it is.
    pub(super) async fn see_version(
        &self,
        host: &str,
        signature: Option<&str>,
        which: impl Fn(&Page) -> Option<OpId>,
        rng: &mut StdRng,
    ) -> ServedPage {
        let paths: BTreeSet<String> = {
            let model = self.site.model.lock().unwrap();
            let pages = model.pages();
            let versions = pages.iter().flatten().filter_map(&which);
            let files = versions.filter_map(|version| model.files_of(version));
            files.flat_map(|files| files.files.keys().cloned()).collect()
        };
        for path in paths {
            let visible_path = if path == FRONT_PAGE { "" } else { &path };
            let Some(shown) = self.open(host, visible_path, signature, rng).await else { return Ok(()) };
            let mut model = self.site.model.lock().unwrap();
            let contents = Contents::of(&model);
            let text = format!("{host}/{path} answers {} with {} bytes", shown.status, shown.body.len());
            model.see(&text, |page| {
                let Some(version) = page.and_then(&which) else { return false };
                let live = contents.of_version(version);
                match live.files.get(&path) {
                    _ if live.is_abusive => shown.status == 451,
                    Some(content) => shows(&path, content, self.wears_badge, &shown),
                    None => shown.status == 404,
                }
            })?;
        }
        Ok(())
    }

    /// A file of other versions that the live one lacks is not served.
    async fn others_files_are_missing(
        &self,
        host: &str,
        signature: Option<&str>,
        rng: &mut StdRng,
    ) -> ServedPage {
        let stray = {
            let model = self.site.model.lock().unwrap();
            let pages = model.pages();
            let is_live = |path: &String| {
                let files = pages.iter().flatten().filter_map(|page| model.files_of(page.live_version()));
                files.flat_map(|files| files.files.keys()).any(|one| one == path)
            };
            model.contents().flat_map(|files| files.files.keys()).find(|path| !is_live(path)).cloned()
        };
        let Some(stray) = stray else { return Ok(()) };
        let Some(shown) = self.open(host, &stray, signature, rng).await else { return Ok(()) };
        if shown.status == 404 {
            return Ok(());
        }
        Err(Untrue(format!("{host}/{stray} is of another version, and answers {}", shown.status)))
    }

    /// Activates versions that were not read yet.
    async fn see_others(&self, pages: &BTreeSet<Option<Page>>, rng: &mut StdRng) -> ServedPage {
        let Some(Some(page)) = pages.first() else { return Ok(()) };
        let fresh: Vec<u32> = {
            let model = self.site.model.lock().unwrap();
            let unseen = page.versions.iter().filter(|(_, id)| !model.is_seen(**id));
            unseen.map(|(seq, _)| *seq).collect()
        };
        for seq in fresh.into_iter().rev().take(VERSIONS_MAX) {
            self.make_live(seq, rng).await?;
        }
        self.make_live(page.live, rng).await
    }

    async fn make_live(&self, seq: u32, rng: &mut StdRng) -> ServedPage {
        let (token, slug) = (&self.account.owner_token, &self.site.slug);
        let call = || self.scene.agent(token, rng).activate(slug, i64::from(seq));
        let Some(reply) = reply_to(self.scene, &self.site.name, call).await else { return Ok(()) };
        if reply.status != 200 {
            return Err(Untrue(format!("version {seq} cannot be made live: {}", reply.text())));
        }
        self.scene.journal.record(&self.site.name, format!("the checker makes {seq} live"));
        self.site.model.lock().unwrap().made_live(seq);
        let Some(detail) = self.detail(rng).await else { return Ok(()) };
        let answer = body(&detail);
        let host = answer["host"].as_str().unwrap_or_default().to_owned();
        let signature = answer["signed_url"].as_str().and_then(|url| url.split_once('?')).map(|(_, sig)| sig);
        self.see_version(&host, signature, live_version, rng).await?;
        self.site.model.lock().unwrap().mark_seen(seq);
        Ok(())
    }

    pub(super) async fn open(
        &self,
        host: &str,
        path: &str,
        signature: Option<&str>,
        rng: &mut StdRng,
    ) -> Option<Reply> {
        let query = signature.map_or(String::new(), |signature| format!("?{signature}"));
        let place = format!("/site/{host}/{path}{query}");
        reply_to(self.scene, &self.site.name, || self.scene.visitor(rng).open(&place)).await
    }
}

fn live_version(page: &Page) -> Option<OpId> {
    Some(page.live_version())
}

/// Contents by version, separate from the model, which changes meanwhile.
struct Contents(std::collections::BTreeMap<OpId, std::sync::Arc<FileSet>>);

impl Contents {
    fn of(model: &SiteModel) -> Self {
        Self(model.contents_by_version())
    }

    fn of_version(&self, version: OpId) -> &FileSet {
        &self.0[&version]
    }
}

/// An artifact's version as reported by the API.
struct ReportedVersion {
    live: u32,
    visibility: String,
    /// The number, files and bytes of each version, oldest first.
    sizes: Vec<(u64, u64, u64)>,
}

impl ReportedVersion {
    fn of(answer: &Value) -> Result<Self, Untrue> {
        let strange = || Untrue(format!("the API returns an invalid body: {answer}"));
        let versions = answer["versions"].as_array().ok_or_else(strange)?;
        let size = |version: &Value| {
            Some((
                version["seq"].as_u64()?,
                version["file_count"].as_u64()?,
                version["total_bytes"].as_u64()?,
            ))
        };
        Ok(Self {
            live: answer["version"].as_u64().and_then(|live| u32::try_from(live).ok()).ok_or_else(strange)?,
            visibility: answer["visibility"].as_str().ok_or_else(strange)?.to_owned(),
            sizes: versions.iter().rev().map(size).collect::<Option<_>>().ok_or_else(strange)?,
        })
    }

    fn is(&self, page: &Page, contents: &Contents) -> bool {
        let size = |(seq, version): (&u32, &OpId)| {
            let files = contents.of_version(*version);
            (u64::from(*seq), files.files.len() as u64, files.total_bytes())
        };
        page.live == self.live
            && page.visibility.name() == self.visibility
            && page.versions.iter().map(size).eq(self.sizes.iter().copied())
    }
}
