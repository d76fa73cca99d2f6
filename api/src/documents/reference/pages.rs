//! The reference by section, so that an agent reads only what it needs: `contents.md`, and a page for each
//! heading of the whole reference.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::anchor;

/// The folder of the pages.
const FOLDER: &str = "/skill/reference";
const SECTION: &str = "\n## ";
const PART: &str = "\n### ";

/// The pages by name, without `.md`.
#[derive(Clone, Debug)]
pub struct ReferencePages(BTreeMap<String, Bytes>);

impl ReferencePages {
    /// Cuts the whole reference into pages.
    pub fn of(whole: &str, base_url: &str) -> Self {
        let sections: Vec<(String, &str)> = whole.split(SECTION).skip(1).map(named).collect();
        let mut addresses = BTreeMap::new();
        for (name, text) in &sections {
            let page = format!("{base_url}{FOLDER}/{name}.md");
            addresses.insert(name.clone(), page.clone());
            for part in text.split(PART).skip(1) {
                let anchor = anchor(part.lines().next().unwrap_or_default());
                addresses.insert(anchor.clone(), format!("{page}#{anchor}"));
            }
        }
        let page = |(name, text): (String, &str)| {
            let text = format!("# Handbill API reference\n{SECTION}{}\n", text.trim_end());
            (name, with_addresses(&text, &addresses).into())
        };
        Self(sections.into_iter().map(page).collect())
    }

    /// The page of a file name such as `artifacts.md`.
    pub fn find(&self, file: &str) -> Option<Bytes> {
        self.0.get(file.strip_suffix(".md")?).cloned()
    }
}

/// A section, with the name of its page.
fn named(text: &str) -> (String, &str) {
    (anchor(text.lines().next().unwrap_or_default()), text)
}

/// Replaces links within the whole reference by the addresses of the pages.
fn with_addresses(text: &str, addresses: &BTreeMap<String, String>) -> String {
    let mut parts = text.split("](#");
    let mut linked = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (anchor, rest) = part.split_once(')').unwrap_or((part, ""));
        let address = addresses.get(anchor).cloned().unwrap_or_else(|| format!("#{anchor}"));
        linked.push_str(&format!("]({address}){rest}"));
    }
    linked
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "# Handbill API reference\n\n## Contents\n\n- [Artifacts](#artifacts)\n  - [GET \
                         /v1/artifacts](#get-v1artifacts)\n\n## Artifacts\n\n### GET /v1/artifacts\n\nSee \
                         [errors](#errors).\n\n## Errors\n\n- 404\n";

    #[test]
    fn a_section_is_a_page_whose_links_lead_to_other_pages() {
        let pages = ReferencePages::of(WHOLE, "https://x.example");
        let read = |file: &str| String::from_utf8(pages.find(file).unwrap().to_vec()).unwrap();
        let contents = read("contents.md");
        assert!(
            contents.contains("[Artifacts](https://x.example/skill/reference/artifacts.md)"),
            "{contents}"
        );
        assert!(
            contents.contains("(https://x.example/skill/reference/artifacts.md#get-v1artifacts)"),
            "{contents}"
        );
        let artifacts = read("artifacts.md");
        assert!(artifacts.starts_with("# Handbill API reference\n\n## Artifacts\n"), "{artifacts}");
        assert!(
            artifacts.ends_with("[errors](https://x.example/skill/reference/errors.md).\n"),
            "{artifacts}"
        );
        for missing in ["artifacts", "nothing.md", ".md", ""] {
            assert!(pages.find(missing).is_none(), "{missing}");
        }
    }
}
