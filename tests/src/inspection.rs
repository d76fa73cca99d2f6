//! Checks that apply to each of our own pages: it fits the screen, has no accessibility violations according
//! to axe, and loads nothing from other sites. Stores screenshots for review, if they are asked for.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::{Browser, Scheme, Screen, Scripts};

/// The directory of Node packages that contains axe.
const AXE_VARIABLE: &str = "HANDBILL_TEST_AXE";
/// Set to store screenshots in `target/screenshots`.
const SCREENSHOTS_VARIABLE: &str = "HANDBILL_TEST_SCREENSHOTS";

static AXE: LazyLock<String> = LazyLock::new(|| {
    let packages =
        std::env::var_os(AXE_VARIABLE).unwrap_or_else(|| panic!("{AXE_VARIABLE} is set by scripts/test"));
    let path = Path::new(&packages).join("axe-core/axe.min.js");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
});

const APPEARANCES: [(Screen, Scheme); 4] = [
    (Screen::Desktop, Scheme::Light),
    (Screen::Desktop, Scheme::Dark),
    (Screen::Phone, Scheme::Light),
    (Screen::Phone, Scheme::Dark),
];

impl Browser {
    /// Inspects the open page without loading it again. Its screenshots are `live/<name>-phone-dark.png` and
    /// so on. The browser is a light desktop afterwards.
    pub async fn inspect(&self, name: &str) {
        self.assert_loads_nothing_foreign(name).await;
        self.show_on(Screen::SmallPhone).await;
        self.assert_fits(name).await;
        for (screen, scheme) in APPEARANCES {
            self.show_on(screen).await;
            self.prefer(scheme).await;
            self.assert_fits(name).await;
            self.assert_without_barriers(name).await;
        }
        self.keep_screenshots(&format!("live/{name}")).await;
        self.show_on(Screen::Desktop).await;
        self.prefer(Scheme::Light).await;
    }

    /// A minimal inspection, for pages with many states: the smallest screen in both schemes. Its screenshots
    /// are `<name>-phone-dark.png` and so on.
    pub async fn glance(&self, name: &str) {
        self.assert_loads_nothing_foreign(name).await;
        self.show_on(Screen::SmallPhone).await;
        self.assert_fits(name).await;
        for scheme in [Scheme::Light, Scheme::Dark] {
            self.prefer(scheme).await;
            self.assert_without_barriers(name).await;
        }
        self.keep_screenshots(name).await;
        self.show_on(Screen::Desktop).await;
        self.prefer(Scheme::Light).await;
        self.assert_fits(name).await;
    }

    /// Stores screenshots of the whole page in every appearance, if they are asked for.
    async fn keep_screenshots(&self, name: &str) {
        if std::env::var_os(SCREENSHOTS_VARIABLE).is_none() {
            return;
        }
        for (screen, scheme) in APPEARANCES {
            self.prefer(scheme).await;
            let picture = format!("{name}-{screen:?}-{scheme:?}.png").to_lowercase();
            keep(&picture, &self.picture(screen).await);
        }
    }

    /// Stores a screenshot of the window as it is, if screenshots are asked for.
    pub async fn keep_window(&self, name: &str) {
        if std::env::var_os(SCREENSHOTS_VARIABLE).is_some() {
            keep(&format!("{name}.png"), &self.screenshot().await);
        }
    }

    async fn assert_fits(&self, name: &str) {
        let widths = self.evaluate("[document.documentElement.scrollWidth, innerWidth]").await;
        assert!(widths[0].as_u64() <= widths[1].as_u64(), "{name} is {} wide on {}", widths[0], widths[1]);
    }

    async fn assert_without_barriers(&self, name: &str) {
        // axe needs scripts to run. The page's own scripts were not loaded.
        let scripts = self.scripts();
        self.with_scripts(Scripts::Run).await;
        // It is long, and stays as long as the page.
        if self.evaluate("'axe' in window").await != json!(true) {
            self.evaluate(&format!("void (() => {{ {} }})()", *AXE)).await;
        }
        let found = self.evaluate("axe.run().then(found => found.violations)").await;
        self.with_scripts(scripts).await;
        let violations: Vec<String> = found.as_array().expect("a list").iter().map(barrier).collect();
        assert!(violations.is_empty(), "{name} has barriers:\n{}", violations.join("\n"));
    }

    // A frame shows a published page, which is not part of ours.
    async fn assert_loads_nothing_foreign(&self, name: &str) {
        let foreign = "performance.getEntriesByType('resource')
            .filter(part => part.initiatorType !== 'iframe' && !part.name.startsWith('data:'))
            .map(part => part.name).filter(address => !address.startsWith(location.origin + '/'))";
        assert_eq!(self.evaluate(foreign).await, json!([]), "{name} asks others");
    }

    /// A screenshot of the whole page, as wide as the screen.
    async fn picture(&self, screen: Screen) -> Vec<u8> {
        const HEIGHT_MAX: u64 = 6_000;
        self.show_on(screen).await;
        let height = self.evaluate("document.documentElement.scrollHeight").await.as_u64().expect("a height");
        self.show_in(screen.size().0, u32::try_from(height.min(HEIGHT_MAX)).expect("a height")).await;
        self.screenshot().await
    }
}

/// Describes a finding of axe: the rule, and where it is violated.
fn barrier(found: &Value) -> String {
    let nodes = found["nodes"].as_array().into_iter().flatten();
    let places = nodes.map(|node| format!("  {} {}", node["target"], node["failureSummary"]));
    format!("{}: {}\n{}", found["id"], found["help"], places.collect::<Vec<_>>().join("\n"))
}

fn keep(name: &str, picture: &[u8]) {
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/screenshots");
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap_or(&folder)).expect("a folder for screenshots");
    std::fs::write(path, picture).expect("a screenshot is kept");
}
