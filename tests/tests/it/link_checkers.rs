//! The warnings about broken sites, compared with what others find in the same sites once they are published:
//! linkinator crawls each site, and Chromium opens each of its pages.
//!
//! Every difference fails, except those that the site lists.

mod sites;

use std::collections::BTreeSet;

use handbill_tests::{Browser, Reply, Value, in_both_modes, installed};
use percent_encoding::percent_decode_str;
use reqwest::Url;
use tokio::process::Command;

use sites::{SITES, Site};

/// Runs in each page before its own scripts.
const NOTE_BLOCKED: &str = "window.blocked = [];
    addEventListener('securitypolicyviolation', event => blocked.push(event.blockedURI));";
const BLOCKED: &str = "document.fonts.ready.then(() => new Promise(requestIdleCallback)).then(() => blocked)";
/// A page is opened again if the browser has not found as much as the warnings, because some loads fail only
/// after it has been read.
const ROUNDS_MAX: usize = 5;
const FAILED_LOADS: &str = "performance.getEntriesByType('resource')
    .filter(entry => entry.responseStatus >= 400).map(entry => entry.name)";

in_both_modes! {
    #[settings(
        "HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES" = "100",
        "HANDBILL_EDGE__SCRIPT_HOSTS" = "allowed.example.test",
        "HANDBILL_EDGE__IMAGE_HOSTS" = "image.allowed.example.test",
        "HANDBILL_EDGE__FRAME_HOSTS" = "frame.allowed.example.test"
    )]
    async fn a_link_checker_and_a_browser_find_what_the_warnings_say(world: World) {
        let (agent, browser) = (world.agent().await, Browser::start().await);
        browser.run_in_every_page(NOTE_BLOCKED).await;
        let mut differences = Vec::new();
        for site in SITES {
            let files: Vec<_> = site.files.iter().map(|(path, text)| (*path, text.as_bytes())).collect();
            let reply = agent.publish_files(site.name, &files).await.expect(201);
            differences.extend(Published { site, reply }.differences(&browser).await);
        }
        assert!(differences.is_empty(), "{}", differences.join("\n"));
    }
}

/// References, each with its file. A target has no query and no fragment.
type Found = BTreeSet<(String, String)>;

struct Published {
    site: &'static Site,
    reply: Reply,
}

/// What a browser finds in all pages of a site. It does not report the file.
#[derive(Default)]
struct Seen {
    failed: BTreeSet<String>,
    blocked: BTreeSet<String>,
}

impl Published {
    async fn differences(&self, browser: &Browser) -> Vec<String> {
        let crawled = self.crawl().await;
        let broken = self.warned(&["missing_file", "case_mismatch", "absolute_path"]);
        let blocked = origins(self.warned(&["blocked_by_policy"]).into_iter().map(|(_, target)| target));
        let (not_warned, only_warned) =
            (self.listed(self.site.not_warned), self.listed(self.site.only_warned));
        let unseen = |seen: &Seen| -> Found {
            let is_unseen =
                |found: &&(String, String)| !crawled.contains(*found) && !seen.failed.contains(&found.1);
            broken.iter().filter(is_unseen).cloned().collect()
        };
        let mut seen = Seen::default();
        for _ in 0..ROUNDS_MAX {
            self.visit(browser, &mut seen).await;
            if unseen(&seen) == only_warned && blocked.is_subset(&seen.blocked) {
                break;
            }
        }
        let is_broken =
            |target: &&String| broken.iter().chain(&not_warned).any(|(_, broken)| broken == *target);
        let only_crawled: Found = crawled.difference(&broken).cloned().collect();
        let only_seen: Vec<&String> = seen.failed.iter().filter(|target| !is_broken(target)).collect();
        [
            difference("only linkinator finds", &only_crawled, &not_warned),
            difference("only the warnings have", &unseen(&seen), &only_warned),
            difference("only the browser does not load", &only_seen, &vec![]),
            difference("the browser blocks", &seen.blocked, &blocked),
        ]
        .into_iter()
        .flatten()
        .map(|difference| format!("{}: {difference}", self.site.name))
        .collect()
    }

    fn url(&self) -> Url {
        self.reply.string("url").parse().unwrap()
    }

    fn address_of(&self, path: &str) -> Url {
        let mut url = self.url();
        url.path_segments_mut().unwrap().pop_if_empty().extend(path.split('/'));
        url
    }

    /// The targets of the warnings with these codes.
    fn warned(&self, codes: &[&str]) -> Found {
        let warnings = self.reply.at("warnings");
        let is_wanted = |warning: &&Value| codes.contains(&warning["code"].as_str().unwrap());
        let found = |warning: &Value| {
            let text = |key: &str| warning[key].as_str().unwrap_or_default();
            let (path, target) = (text("path"), text("target"));
            let base = self.site.bases.iter().find(|(page, _)| *page == path);
            let address = self.address_of(path);
            let base = base.map_or(address.clone(), |(_, base)| address.join(base).unwrap());
            (path.to_owned(), bare(base.join(target).unwrap()))
        };
        warnings.as_array().unwrap().iter().filter(is_wanted).map(found).collect()
    }

    fn listed(&self, differences: &[(&str, &str)]) -> Found {
        let found = |(path, target): &(&str, &str)| {
            ((*path).to_owned(), bare(self.address_of(path).join(target).unwrap()))
        };
        differences.iter().map(found).collect()
    }

    /// What linkinator takes for broken.
    async fn crawl(&self) -> Found {
        let (url, edge) = (self.url(), self.url().origin().ascii_serialization());
        let mut command = Command::new(installed("HANDBILL_TEST_NODE"));
        command
            .arg(installed("HANDBILL_TEST_LINKINATOR").join("linkinator/build/src/cli.js"))
            .args([url.as_str(), "--recurse", "--check-css", "--format", "json", "--verbosity", "error"])
            // It requests nothing from other servers.
            .args(["--skip", &format!("^(?!{edge}/)")])
            .kill_on_drop(true);
        let output = command.output().await.expect("linkinator runs");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
            panic!("linkinator: {error}: {}", String::from_utf8_lossy(&output.stderr))
        });
        let links = report["links"].as_array().expect("a list of links").iter();
        let text = |link: &Value, key: &str| link[key].as_str().unwrap_or_default().to_owned();
        let broken = links.filter(|link| link["state"] == "BROKEN");
        broken
            .map(|link| (self.file_at(&text(link, "parent")), bare(text(link, "url").parse().unwrap())))
            .collect()
    }

    /// The file that is served at an address.
    fn file_at(&self, address: &str) -> String {
        let path = bare(address.parse().unwrap());
        let path = path.strip_prefix(self.url().as_str()).expect("an address in the site");
        let path = percent_decode_str(path).decode_utf8().unwrap().into_owned();
        let names =
            [path.clone(), format!("{path}index.html"), format!("{path}/index.html"), format!("{path}.html")];
        let mut files = self.site.files.iter().map(|(file, _)| *file);
        let file = files.clone().find(|file| names.iter().any(|name| name == file));
        // The root of a site without a front page shows its only page.
        file.or_else(|| files.find(|_| path.is_empty())).map_or(path.clone(), str::to_owned)
    }

    async fn visit(&self, browser: &Browser, seen: &mut Seen) {
        let pages = self.site.files.iter().filter(|(path, _)| path.ends_with(".html"));
        for (page, _) in pages {
            browser.open(self.address_of(page).as_str()).await;
            seen.blocked.extend(origins(addresses(&browser.evaluate(BLOCKED).await)));
            seen.failed.extend(addresses(&browser.evaluate(FAILED_LOADS).await));
        }
    }
}

fn addresses(list: &Value) -> Vec<String> {
    let list = list.as_array().expect("a list of addresses").iter().filter_map(Value::as_str);
    list.map(|address| bare(address.parse().unwrap())).collect()
}

/// Without what the target of a warning leaves out.
fn bare(mut address: Url) -> String {
    address.set_query(None);
    address.set_fragment(None);
    let _ = (address.set_username(""), address.set_password(None));
    address.into()
}

/// For frames, a browser reports only the origin of what it blocks.
fn origins(addresses: impl IntoIterator<Item = String>) -> BTreeSet<String> {
    let origin = |address: String| Url::parse(&address).unwrap().origin().ascii_serialization();
    addresses.into_iter().map(origin).collect()
}

fn difference<T: std::fmt::Debug + PartialEq>(what: &str, found: &T, expected: &T) -> Option<String> {
    (found != expected).then(|| format!("{what}: {found:#?}\n    expected: {expected:#?}"))
}
