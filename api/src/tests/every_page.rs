//! What holds for every page. Each is rendered with sample data and compared with how it was;
//! `HANDBILL_TEST_UPDATE=1 cargo test -p api` writes the files under `snapshots` anew.

use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::html::RefusalForm;
use crate::pages::{
    claim, dashboard, home, invite, oauth, published, report, signin, styleguide, welcome, you,
};

/// Every page in each of its states, by name.
fn pages() -> Vec<(String, String)> {
    [
        home::samples(),
        published::samples(),
        welcome::samples(),
        signin::samples(),
        you::samples(),
        claim::samples(),
        invite::samples(),
        report::samples(),
        styleguide::samples(),
        oauth::samples(),
        RefusalForm::samples(),
        crate::documents::samples(),
        dashboard::tests::samples(),
        crate::admin::tests::samples(),
    ]
    .concat()
}

#[test]
fn committed_pages_match_the_rendered_pages() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/pages/snapshots");
    let mut outdated = Vec::new();
    for (name, page) in pages() {
        let path = folder.join(format!("{name}.html"));
        if std::env::var_os("HANDBILL_TEST_UPDATE").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, &page).unwrap();
        }
        if std::fs::read_to_string(&path).ok().as_deref() != Some(page.as_str()) {
            outdated.push(name);
        }
    }
    assert!(
        outdated.is_empty(),
        "{outdated:?} differ: look at them with HANDBILL_TEST_UPDATE=1 cargo test -p api"
    );
}

#[test]
fn no_page_has_inline_script_or_style_or_external_resources() {
    for (name, page) in pages() {
        // A published page in its frame is the one thing from elsewhere.
        let page = page.replace("<iframe class=\"preview\" src=\"http", "");
        let scripts = page.matches("<script").count();
        assert_eq!(page.matches("<script src=\"/assets/page.js\" defer></script>").count(), 1, "{name}");
        assert_eq!(page.matches("<script src=\"/assets/").count(), scripts, "{name}");
        for inline in [
            "<style",
            " style=",
            " onclick",
            " onload",
            "javascript:",
            "<img src=\"http",
            "<link rel=\"stylesheet\" href=\"http",
        ] {
            assert!(!page.contains(inline), "{inline} in {name}");
        }
    }
}

#[test]
fn every_page_has_one_heading_and_all_aria_descriptions_exist() {
    for (name, page) in pages() {
        assert_eq!(page.matches("<h1").count(), 1, "{name}");
        let described = page.split("aria-describedby=\"").skip(1).filter_map(|rest| rest.split('"').next());
        for id in described.flat_map(str::split_whitespace) {
            assert!(page.contains(&format!("id=\"{id}\"")), "{name} has no {id}");
        }
    }
}

/// The most bytes of CSS that a page loads, as they are and compressed. Today it is the front page that loads
/// the most.
const CSS_MAX: (usize, usize) = (20_800, 6_200);

#[test]
fn no_page_loads_more_css_than_its_ceiling() {
    let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates");
    let size_of = |name: &str| {
        let css = std::fs::read(templates.join(name)).unwrap();
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&css).unwrap();
        (css.len(), encoder.finish().unwrap().len())
    };
    // The style guide shows the components of all areas.
    for (name, page) in pages().iter().filter(|(name, _)| name != "styleguide") {
        let sheets = page.split("<link rel=\"stylesheet\" href=\"/assets/").skip(1);
        let sheets: Vec<_> = sheets.filter_map(|rest| rest.split('"').next()).collect();
        assert!(sheets.contains(&"page.css") && sheets.len() <= 2, "{name}: {sheets:?}");
        let (plain, gzip) = sheets
            .iter()
            .map(|sheet| size_of(sheet))
            .fold((0, 0), |sum, size| (sum.0 + size.0, sum.1 + size.1));
        assert!(
            plain <= CSS_MAX.0 && gzip <= CSS_MAX.1,
            "{name} loads {plain} bytes of CSS, {gzip} compressed"
        );
    }
}
