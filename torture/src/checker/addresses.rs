//! The addresses of versions: each serves its version, whichever is live, and none serves a deleted one.

use std::collections::BTreeSet;

use handbill_tests::Reply;
use rand::rngs::StdRng;

use super::pages::{PageObservation, ServedPage, VERSIONS_MAX};
use crate::client::response::body;
use crate::model::addresses::{label_in, signature_in};
use crate::model::site::Untrue;
use crate::model::state::{OpId, Page};

impl PageObservation<'_> {
    /// The newest versions are served at their own addresses.
    pub(super) async fn see_addresses(&self, detail: &Reply, rng: &mut StdRng) -> ServedPage {
        let answer = body(detail);
        let is_private = answer["visibility"] == "private";
        for version in answer["versions"].as_array().into_iter().flatten().take(VERSIONS_MAX) {
            let strange = || Untrue(format!("it has no address: {version}"));
            let seq =
                version["seq"].as_u64().and_then(|seq| usize::try_from(seq).ok()).ok_or_else(strange)?;
            let url = version["url"].as_str().ok_or_else(strange)?;
            let signature = version["signed_url"].as_str().and_then(signature_in);
            if is_private != signature.is_some() {
                return Err(Untrue(format!("the wrong versions have signatures: {answer}")));
            }
            self.note_address(seq, url)?;
            let nth = |page: &Page| page.versions.get(seq - 1).copied();
            self.see_version(label_in(url), signature, nth, rng).await?;
            self.see_headers(label_in(url), signature, rng).await?;
        }
        Ok(())
    }

    /// If several states are possible, the number can be that of different versions.
    fn note_address(&self, seq: usize, url: &str) -> ServedPage {
        let mut model = self.site.model.lock().unwrap();
        let pages = model.pages();
        let (1, Some(Some(page))) = (pages.len(), pages.first()) else { return Ok(()) };
        let version = page.versions.get(seq - 1);
        let version = version.ok_or_else(|| Untrue(format!("there is no version {seq}")))?;
        model.addresses.note(page.made_by, *version, url)
    }

    /// It is kept out of search engines, and closed to those without the signature of a private artifact.
    async fn see_headers(&self, label: &str, signature: Option<&str>, rng: &mut StdRng) -> ServedPage {
        let Some(shown) = self.open(label, "", signature, rng).await else { return Ok(()) };
        let is_right = shown.header("X-Robots-Tag").contains("noindex")
            && shown.header("Link").contains("rel=\"canonical\"");
        if shown.status == 200 && !is_right {
            return Err(Untrue(format!("a version is served like a page of its own: {shown:?}")));
        }
        if signature.is_none() {
            return Ok(());
        }
        let Some(shown) = self.open(label, "", None, rng).await else { return Ok(()) };
        if shown.status == 403 {
            return Ok(());
        }
        Err(Untrue(format!("a version of a private page is shown to strangers: {shown:?}")))
    }

    /// Deleted artifacts are served nowhere.
    pub(super) async fn gone_are_gone(&self, rng: &mut StdRng) -> ServedPage {
        let gone: Vec<String> = {
            let model = self.site.model.lock().unwrap();
            let current: BTreeSet<OpId> = model.pages().iter().flatten().map(|page| page.made_by).collect();
            let gone = model.named().filter(|(made_by, _)| !current.contains(made_by));
            let labels = gone.flat_map(|(made_by, names)| {
                let newest = model.addresses.of_artifact(made_by).rev().take(VERSIONS_MAX);
                std::iter::once(names.host.clone()).chain(newest.map(|known| known.label.clone()))
            });
            labels.collect()
        };
        for label in gone {
            let Some(shown) = self.open(&label, "", None, rng).await else { return Ok(()) };
            if shown.status != 404 {
                return Err(Untrue(format!("{label} is deleted and answers {}", shown.status)));
            }
        }
        Ok(())
    }
}
