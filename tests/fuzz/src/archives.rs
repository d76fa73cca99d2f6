//! An archive of a site: the content type in the first line, then the archive. It is refused with a known
//! error, or yields a site that satisfies every rule. The same archive always gives the same result. A site
//! in JSON keeps the same rules.

use std::sync::LazyLock;

use api::hostile::{Form, read_publish};
use domain::{FileSet, Refusal};
use poem::Body;
use tokio::runtime::{Builder, Runtime};

const MESSAGE_LENGTH_MAX: usize = 1_500;

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().enable_time().build().expect("a runtime"));

pub fn judge(input: &[u8]) -> bool {
    let Some(line_ends_at) = input.iter().position(|byte| *byte == b'\n') else { return false };
    let Ok(content_type) = std::str::from_utf8(&input[..line_ends_at]) else { return false };
    let archive = &input[line_ends_at + 1..];
    let read = || RUNTIME.block_on(read_publish(content_type, Body::from_vec(archive.to_vec())));
    let result = read();
    assert_eq!(result, read());
    match result {
        Ok(form) => {
            judge_site(&form);
            true
        }
        Err(refusal) => {
            judge_refusal(&refusal);
            false
        }
    }
}

fn judge_refusal(refusal: &Refusal) {
    let known = ["invalid_request", "invalid_body", "too_large", "unsupported_media_type"];
    assert!(known.contains(&refusal.code()), "{refusal:?}");
    assert!(refusal.message().chars().count() <= MESSAGE_LENGTH_MAX, "{refusal}");
}

fn judge_site(form: &Form) {
    assert!(!form.files.is_empty());
    let mut set = FileSet::default();
    for (path, bytes) in &form.files {
        let name = path.as_str();
        assert!(!name.starts_with('/') && !name.contains('\\') && !name.contains('\0'), "{name:?}");
        assert!(name.split('/').all(|part| !matches!(part, "" | "." | "..")), "{name:?}");
        assert_eq!(set.add(path), Ok(()));
        assert_eq!(set.grow(bytes.len()), Ok(()));
    }
}
