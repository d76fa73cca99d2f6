//! Spec 3.2 and 4.12: while versions are activated a thousand times, no visitor sees an old version after a
//! response, or files of two versions together.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use futures::future::{join, join_all};
use handbill_tests::{Agent, Mode, Reply, Visitor, in_both_modes};

use crate::expectations::page_saying;

const SLUG: &str = "my-site";
const STYLE: &str = "style.css";
/// The number of free publishes.
const VERSIONS: u64 = 5;
const ACTIVATIONS: u64 = 1_000;
const READERS_PER_EDGE: usize = 2;

in_both_modes! {
    async fn nothing_old_and_nothing_mixed_is_seen_while_versions_are_made_live(world: World) {
        let mut edges = vec![world.visitor()];
        if world.mode() == Mode::Production {
            edges.push(world.visitor().at(&world.start_edge().await));
        }
        let agent = world.agent().await;
        let site = Site::publish(&agent, &edges[0]).await;
        let progress = Progress::default();
        let readers = edges.iter().flat_map(|edge| (0..READERS_PER_EDGE).map(move |_| edge));
        let reading = join_all(readers.map(|edge| site.read_on(edge, &progress)));
        let (seen, ()) = join(reading, make_live(&agent, &site, &edges, &progress)).await;
        let quiet: u64 = seen.iter().map(|reader| reader.between_activations).sum();
        let all: u64 = seen.iter().map(|reader| reader.visits).sum();
        assert!(quiet > 0 && all > ACTIVATIONS, "too few visits to prove anything: {quiet} of {all}");
    }
}

/// The progress of the activations, by their number.
#[derive(Default)]
struct Progress {
    requested: AtomicU64,
    answered: AtomicU64,
    is_over: AtomicBool,
}

/// The version that an activation makes live. The last publish counts as the first activation.
fn version_of(activation: u64) -> u64 {
    (activation + VERSIONS - 1) % VERSIONS + 1
}

/// A site with a page and a style sheet that belong together.
struct Site {
    published: Reply,
    /// The version of a page or a style sheet, by its ETag.
    versions: HashMap<String, u64>,
    page_tags: Vec<String>,
}

/// The observations of one reader.
#[derive(Default)]
struct Seen {
    visits: u64,
    /// Visits during which no activation was in progress.
    between_activations: u64,
}

impl Site {
    async fn publish(agent: &Agent, visitor: &Visitor) -> Self {
        let (mut versions, mut page_tags, mut last) = (HashMap::new(), Vec::new(), None);
        for version in 1..=VERSIONS {
            let (page, style) = (page_saying(&format!("number {version}")), format!("/* {version} */"));
            let files: [(&str, &[u8]); 2] = [("index.html", page.as_bytes()), (STYLE, style.as_bytes())];
            let published = agent.publish_files(SLUG, &files).await.expect(201);
            let page = visitor.open_site(&published, "").await.expect(200);
            assert!(page.text().contains(&format!("number {version}")), "{page:?}");
            let style = visitor.open_site(&published, STYLE).await.expect(200);
            page_tags.push(page.header("ETag").to_owned());
            versions.insert(page.header("ETag").to_owned(), version);
            versions.insert(style.header("ETag").to_owned(), version);
            last = Some(published);
        }
        assert_eq!(versions.len() as u64, 2 * VERSIONS, "a tag for each file of each version");
        Self { published: last.expect("a version"), versions, page_tags }
    }

    /// Reads the page and then the style sheet, and returns their versions.
    async fn visit(&self, visitor: &Visitor) -> (u64, u64) {
        let page = visitor.open_site(&self.published, "").await.expect(200);
        let style = visitor.open_site(&self.published, STYLE).await.expect(200);
        (self.versions[page.header("ETag")], self.versions[style.header("ETag")])
    }

    /// Visits until the end. Each result must have been live at some moment of the visit, in the right order.
    async fn read_on(&self, visitor: &Visitor, progress: &Progress) -> Seen {
        let mut seen = Seen::default();
        while !progress.is_over.load(Ordering::SeqCst) {
            let answered = progress.answered.load(Ordering::SeqCst);
            let (page, style) = self.visit(visitor).await;
            let requested = progress.requested.load(Ordering::SeqCst);
            assert!(
                could_be_seen(page, style, answered..=requested),
                "page {page} and style {style} during the activations {answered} to {requested}"
            );
            seen.visits += 1;
            seen.between_activations += u64::from(answered == requested);
        }
        seen
    }
}

/// Whether a page and then a style sheet of these versions could be live during these activations.
fn could_be_seen(page: u64, style: u64, activations: RangeInclusive<u64>) -> bool {
    let (first, last) = (*activations.start(), *activations.end());
    let of_page = (first..=last).find(|activation| version_of(*activation) == page);
    of_page.is_some_and(|from| (from..=last).any(|activation| version_of(activation) == style))
}

async fn make_live(agent: &Agent, site: &Site, edges: &[Visitor], progress: &Progress) {
    for activation in 1..=ACTIVATIONS {
        let version = version_of(activation);
        progress.requested.store(activation, Ordering::SeqCst);
        agent.activate(SLUG, i64::try_from(version).unwrap()).await.expect(200);
        progress.answered.store(activation, Ordering::SeqCst);
        for edge in edges {
            assert_eq!(site.visit(edge).await, (version, version), "after activation {activation}");
            // The old ETag does not match any more.
            let old_tag = &site.page_tags[usize::try_from(version_of(activation - 1)).unwrap() - 1];
            edge.open_site(&site.published, "").header("If-None-Match", old_tag).await.expect(200);
        }
    }
    progress.is_over.store(true, Ordering::SeqCst);
}

#[test]
fn visibility_check_of_the_hammer_test_is_strict() {
    assert!(could_be_seen(2, 2, 2..=2) && could_be_seen(2, 3, 2..=3) && could_be_seen(3, 3, 2..=3));
    assert!(!could_be_seen(1, 2, 2..=3), "what was live before");
    assert!(!could_be_seen(2, 3, 2..=2), "what is not live yet, or a mix");
    assert!(!could_be_seen(3, 2, 2..=3), "the new and then the old");
    assert_eq!([0, 1, 5, 6].map(version_of), [5, 1, 5, 1]);
}
