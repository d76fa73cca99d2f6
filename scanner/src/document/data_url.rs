//! Decodes documents in `data:` URLs.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use percent_encoding::percent_decode_str;

/// A `data:` URL may be as long as a file.
const URL_BYTES_MAX: usize = 16 << 20;

/// Browsers accept missing padding and non-zero trailing bits, in URLs as in scripts.
pub(crate) const FORGIVING_BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// The media type of a `data:` URL, in lower case and without parameters, and the decoded bytes. `None` for
/// any other URL, and for a `data:` URL that cannot be a document.
pub(crate) fn open_data_url(url: &str) -> Option<(String, Vec<u8>)> {
    let url = url.trim_matches(|edge: char| edge <= ' ');
    if url.len() > URL_BYTES_MAX || !url.get(..5)?.eq_ignore_ascii_case("data:") {
        return None;
    }
    let (head, body) = url.get(5..)?.split_once(',')?;
    let body = body.split('#').next().unwrap_or(body);
    let media_type = head.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let media_type = if media_type.contains('/') { media_type } else { "text/plain".to_owned() };
    if !may_be_document(&media_type) {
        return None;
    }
    let decoded: Vec<u8> =
        percent_decode_str(body).filter(|byte| !matches!(byte, b'\t' | b'\n' | b'\r')).collect();
    let is_base64 = head.rsplit_once(';').is_some_and(|(_, last)| last.trim().eq_ignore_ascii_case("base64"));
    if !is_base64 {
        return Some((media_type, decoded));
    }
    let solid: Vec<u8> = decoded.into_iter().filter(|byte| !byte.is_ascii_whitespace()).collect();
    Some((media_type, FORGIVING_BASE64.decode(solid).ok()?))
}

fn may_be_document(media_type: &str) -> bool {
    let is_picture = media_type.starts_with("image/") && !media_type.contains("svg");
    !is_picture && !["audio/", "video/", "font/"].iter().any(|family| media_type.starts_with(family))
}
