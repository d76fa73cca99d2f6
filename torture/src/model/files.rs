//! Published files with known bytes, which contain the mark of their publish.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use rand::rngs::StdRng;
use rand::{Rng, RngExt};

/// Files that occur in versions of several accounts, with the same content.
const COMMON_FILES: u32 = 4;
const FILES_MAX: usize = 20;
const EXTENSIONS: [&str; 4] = ["css", "js", "txt", "bin"];
const SEED_PHRASE_FORM: &str = "<form><label>Enter your seed phrase <input name=\"seed\"></label></form>";
pub const FRONT_PAGE: &str = "index.html";

/// The files of one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSet {
    pub files: BTreeMap<String, Bytes>,
    /// Its front page asks for something forbidden. Once it is scanned, none of it is served.
    pub is_abusive: bool,
}

impl FileSet {
    /// Draws unique files, apart from the common ones.
    pub fn draw(rng: &mut StdRng, mark: &str) -> Arc<Self> {
        let count = match rng.random_range(0..10) {
            0..6 => 1,
            6..9 => rng.random_range(2..=5),
            _ => rng.random_range(6..=FILES_MAX),
        };
        let is_abusive = rng.random_bool(0.04);
        let mut files = BTreeMap::from([(FRONT_PAGE.to_owned(), page(rng, mark, is_abusive))]);
        for number in 1..count {
            let path = format!("assets/{number}.{}", EXTENSIONS[rng.random_range(0..EXTENSIONS.len())]);
            let content = asset(rng, mark, &path);
            files.insert(path, content);
        }
        if rng.random_bool(0.3) {
            let number = rng.random_range(0..COMMON_FILES);
            files.insert(format!("common/{number}.js"), common(number));
        }
        Arc::new(Self { files, is_abusive })
    }

    pub fn total_bytes(&self) -> u64 {
        self.files.values().map(|content| content.len() as u64).sum()
    }
}

/// A page without links, so that a private one is served unchanged.
fn page(rng: &mut StdRng, mark: &str, is_abusive: bool) -> Bytes {
    let form = if is_abusive { SEED_PHRASE_FORM } else { "" };
    let words = "What is on the market this week. ".repeat(rng.random_range(1..60));
    format!(
        "<!doctype html><html><head><title>{mark}</title></head><body><p>{words}</p>{form}\
         <i>{:016x}</i></body></html>",
        rng.next_u64()
    )
    .into()
}

fn asset(rng: &mut StdRng, mark: &str, path: &str) -> Bytes {
    let length = match rng.random_range(0..100) {
        0..80 => rng.random_range(50..3_000),
        80..95 => rng.random_range(3_000..40_000),
        95..99 => rng.random_range(100_000..600_000),
        _ => rng.random_range(1_000_000..2_000_000),
    };
    let mut content = format!("/* {mark} {path} */\n").into_bytes();
    // Compressible content has variants, and other content has none.
    if rng.random_bool(0.5) {
        let mut noise = vec![0; length];
        rng.fill_bytes(&mut noise);
        // NUL bytes in text would send the version to review.
        noise.iter_mut().for_each(|byte| *byte = (*byte).max(1));
        content.extend(noise);
    } else {
        content.extend(b"a line of the same words again\n".iter().cycle().take(length));
    }
    content.into()
}

fn common(number: u32) -> Bytes {
    format!("/* common {number} */\n{}", "console.log('the same for all');\n".repeat(40)).into()
}

/// Whether a page is served as these bytes, except for the badge of a provisional account.
pub fn is_worn(served: &[u8], page: &[u8]) -> bool {
    let end = b"</body>";
    let Some(at) = page.windows(end.len()).rposition(|window| window == end) else { return false };
    served.len() > page.len() && served.starts_with(&page[..at]) && served.ends_with(&page[at..])
}
