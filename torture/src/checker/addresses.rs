//! The addresses of versions: each serves its version, whichever is live, and none serves a deleted one.

use handbill_tests::Reply;
use rand::rngs::StdRng;

use super::pages::{PageObservation, ServedPage, VERSIONS_MAX};
use crate::client::response::body;
use crate::model::addresses::{VersionAddress, label_in, signature_in};
use crate::model::site::Untrue;
use crate::model::state::Page;

impl PageObservation<'_> {
    /// The newest versions are served at their own addresses.
    pub(super) async fn see_addresses(&self, detail: &Reply, rng: &mut StdRng) -> ServedPage {
        let answer = body(detail);
        let is_private = answer["visibility"] == "private";
        for version in answer["versions"].as_array().into_iter().flatten().take(VERSIONS_MAX) {
            let strange = || Untrue(format!("it has no address: {version}"));
            let seq = version["seq"].as_u64().and_then(|seq| u32::try_from(seq).ok()).ok_or_else(strange)?;
            let url = version["url"].as_str().ok_or_else(strange)?;
            let signature = version["signed_url"].as_str().and_then(signature_in);
            if is_private != signature.is_some() {
                return Err(Untrue(format!("the wrong versions have signatures: {answer}")));
            }
            self.note_address(seq, url)?;
            let nth = |page: &Page| page.versions.get(&seq).copied();
            self.see_version(label_in(url), signature, nth, rng).await?;
            self.see_headers(label_in(url), signature, rng).await?;
        }
        Ok(())
    }

    /// If several states are possible, the number can be that of different versions.
    fn note_address(&self, seq: u32, url: &str) -> ServedPage {
        let mut model = self.site.model.lock().unwrap();
        let pages = model.pages();
        let (1, Some(Some(page))) = (pages.len(), pages.first()) else { return Ok(()) };
        let version = page.versions.get(&seq);
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

    /// Deleted artifacts and versions are served nowhere.
    pub(super) async fn gone_are_gone(&self, rng: &mut StdRng) -> ServedPage {
        for (label, signature) in self.gone() {
            let Some(shown) = self.open(&label, "", signature.as_deref(), rng).await else { return Ok(()) };
            if shown.status != 404 {
                return Err(Untrue(format!("{label} is deleted and answers {}", shown.status)));
            }
        }
        Ok(())
    }

    /// The labels of deleted artifacts and versions, with the signatures that open private artifacts.
    fn gone(&self) -> Vec<(String, Option<String>)> {
        let model = self.site.model.lock().unwrap();
        let pages: Vec<Page> = model.pages().into_iter().flatten().collect();
        let mut gone = Vec::new();
        for (made_by, names) in model.named() {
            let current: Vec<&Page> = pages.iter().filter(|page| page.made_by == made_by).collect();
            let signature = model.addresses.signature_of(made_by).map(str::to_owned);
            if current.is_empty() {
                gone.push((names.host.clone(), None));
            }
            let is_gone = |known: &&VersionAddress| !current.iter().any(|page| page.has(known.version));
            let addresses = model.addresses.of_artifact(made_by).rev().filter(is_gone).take(VERSIONS_MAX);
            gone.extend(addresses.map(|known| (known.label.clone(), signature.clone())));
        }
        gone
    }
}
