//! The form of a publish: the content type in the first line, then the body. It is refused with a known
//! error, or yields a site that satisfies every rule. Receiving it in pieces makes no difference, and the
//! site encoded as a form again is the same site.

use std::collections::BTreeSet;
use std::io;
use std::sync::LazyLock;

use api::hostile::{Form, read_form};
use bytes::Bytes;
use domain::{FileSet, Refusal};
use futures::{StreamExt, stream};
use poem::Body;
use tokio::runtime::{Builder, Runtime};

const PIECE_BYTES_MAX: usize = 64;
const MESSAGE_LENGTH_MAX: usize = 1_500;

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().enable_time().build().expect("a runtime"));

pub fn judge(input: &[u8]) -> bool {
    let Some(line_ends_at) = input.iter().position(|byte| *byte == b'\n') else { return false };
    let Ok(content_type) = std::str::from_utf8(&input[..line_ends_at]) else { return false };
    let body = &input[line_ends_at + 1..];
    let read = RUNTIME.block_on(read_form(content_type, Body::from_vec(body.to_vec())));
    let in_pieces = RUNTIME.block_on(read_form(content_type, pieces(body)));
    // The position of the failure, and so the message, may differ.
    assert_eq!(read.as_ref().map_err(Refusal::code), in_pieces.as_ref().map_err(Refusal::code));
    match read {
        Ok(form) => {
            judge_form(&form);
            true
        }
        Err(refusal) => {
            judge_refusal(&refusal);
            false
        }
    }
}

/// The body in pieces that arrive one after the other. Its bytes decide the lengths.
fn pieces(body: &[u8]) -> Body {
    let (mut pieces, mut rest) = (Vec::new(), body);
    while let Some(first) = rest.first() {
        let length = (usize::from(*first) % PIECE_BYTES_MAX + 1).min(rest.len());
        let (piece, after) = rest.split_at(length);
        pieces.push(Bytes::copy_from_slice(piece));
        rest = after;
    }
    Body::from_bytes_stream(stream::iter(pieces).then(|piece| async move {
        tokio::task::yield_now().await;
        Ok::<_, io::Error>(piece)
    }))
}

fn judge_refusal(refusal: &Refusal) {
    assert!(matches!(refusal.code(), "invalid_request" | "too_large"), "{refusal:?}");
    let (message, hint) = (refusal.message(), refusal.hint());
    assert!(!message.is_empty() && !hint.is_empty());
    assert!(message.chars().count() <= MESSAGE_LENGTH_MAX, "{message}");
}

fn judge_form(form: &Form) {
    let mut set = FileSet::default();
    assert!((1..=FileSet::FILES_MAX).contains(&form.files.len()));
    for (path, bytes) in &form.files {
        assert_eq!(path.as_str().parse(), Ok(path.clone()));
        assert_eq!(set.add(path), Ok(()));
        assert_eq!(set.grow(bytes.len()), Ok(()));
    }
    let paths: BTreeSet<_> = form.files.iter().map(|(path, _)| path).collect();
    assert_eq!(paths.len(), form.files.len());
    let boundary = boundary_for(form);
    let content_type = format!("multipart/form-data; boundary={boundary}");
    let again = RUNTIME.block_on(read_form(&content_type, Body::from_vec(written(form, &boundary))));
    assert_eq!(again.as_ref(), Ok(form));
}

/// Encodes a form as `handbill publish` does.
fn written(form: &Form, boundary: &str) -> Vec<u8> {
    let mut body = Vec::new();
    let mut part = |disposition: String, content: &[u8]| {
        let head = format!("--{boundary}\r\nContent-Disposition: form-data; {disposition}\r\n\r\n");
        body.extend([head.as_bytes(), content, b"\r\n"].concat());
    };
    for (name, text) in [("slug", &form.slug), ("message", &form.message)] {
        if let Some(text) = text {
            part(format!("name=\"{name}\""), text.as_bytes());
        }
    }
    for (path, bytes) in &form.files {
        part(format!("name=\"files\"; filename=\"{}\"", path.as_str().replace('"', "\\\"")), bytes);
    }
    body.extend(format!("--{boundary}--\r\n").bytes());
    body
}

/// A boundary that occurs in none of the files.
fn boundary_for(form: &Form) -> String {
    let is_in = |boundary: &str| {
        form.files.iter().any(|(_, bytes)| bytes.windows(boundary.len()).any(|at| at == boundary.as_bytes()))
    };
    (0..).map(|number| format!("judge-{number}")).find(|boundary| !is_in(boundary)).expect("a number")
}
