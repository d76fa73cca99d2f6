//! The file name of a part in a multipart form, as clients send it: `filename*` of RFC 6266, quotes as
//! browsers escape them, and whole paths percent-encoded as aiohttp does.

use domain::{Refusal, SitePath};
use multer::Field;
use percent_encoding::percent_decode_str;
use poem::http::header;

use super::unreadable;

/// The file name of a part, if it has one.
pub fn file_name_of(field: &Field<'_>) -> Option<String> {
    let disposition = field.headers().get(header::CONTENT_DISPOSITION)?;
    file_name(std::str::from_utf8(disposition.as_bytes()).ok()?, field.file_name())
}

/// Whether the part's header is valid UTF-8. multer reports names in other encodings as missing.
pub fn is_named_in_utf_8(field: &Field<'_>) -> bool {
    let disposition = field.headers().get(header::CONTENT_DISPOSITION);
    disposition.is_none_or(|value| std::str::from_utf8(value.as_bytes()).is_ok())
}

/// A browser sends a part with an empty filename and no content for a field in which no file is chosen. Any
/// other part without a filename is refused.
pub async fn ignore_unchosen(mut field: Field<'_>) -> Result<(), Refusal> {
    if !is_named_in_utf_8(&field) {
        return Err(Refusal::invalid("files", "a part's filename is not in UTF-8"));
    }
    let mut is_unchosen = file_name_of(&field).is_some();
    while let Some(chunk) = field.chunk().await.map_err(unreadable)? {
        is_unchosen &= chunk.is_empty();
        if !is_unchosen {
            break;
        }
    }
    if is_unchosen {
        return Ok(());
    }
    Err(Refusal::invalid("files", "a part has no filename; it is the file's path in the site"))
}

/// The path of a file, as the client names it.
pub fn site_path(name: &str) -> Result<SitePath, Refusal> {
    SitePath::of_upload(name).map_err(|fault| {
        let name: String = name.chars().take(SitePath::LENGTH_MAX).collect();
        Refusal::invalid("files", format!("the file path {name:?} {fault}"))
    })
}

/// The part's file name, if it has one. `disposition` is its `Content-Disposition`; `plain` is the `filename`
/// in it.
fn file_name(disposition: &str, plain: Option<&str>) -> Option<String> {
    extended(disposition).or_else(|| plain.map(decoded))
}

/// The value of `filename*`, which takes precedence over `filename`.
fn extended(disposition: &str) -> Option<String> {
    let value = parameters(disposition).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("filename*").then(|| value.trim().trim_matches('"'))
    })?;
    let (charset, rest) = value.split_once('\'')?;
    let (_language, name) = rest.split_once('\'')?;
    let is_utf_8 = charset.eq_ignore_ascii_case("utf-8");
    let name = percent_decode_str(name).decode_utf8().ok().filter(|_| is_utf_8)?;
    Some(name.into_owned())
}

/// The parameters of a header, split at the semicolons outside quotes.
fn parameters(header: &str) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    header.split(move |letter: char| {
        let is_plain = !std::mem::take(&mut is_escaped);
        match letter {
            '\\' if is_quoted && is_plain => is_escaped = true,
            '"' if is_plain => is_quoted = !is_quoted,
            ';' if !is_quoted => return true,
            _ => {}
        }
        false
    })
}

fn decoded(name: &str) -> String {
    // A client that escapes slashes has escaped the whole path. Otherwise no path contains an escaped slash.
    let has_escaped_slash = name.contains("%2F") || name.contains("%2f");
    if has_escaped_slash
        && !name.contains('/')
        && let Ok(path) = percent_decode_str(name).decode_utf8()
    {
        return path.into_owned();
    }
    // Browsers escape only the quote, and line breaks, which are not allowed in a path.
    name.replace("%22", "\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_decoded_as_the_client_encoded_them() {
        for (plain, expected) in [
            ("css/app.css", "css/app.css"),
            ("css%2Fapp.css", "css/app.css"),
            ("css%2fapp.css", "css/app.css"),
            ("b%C3%BCcher%2F%C3%BC.html", "b\u{fc}cher/\u{fc}.html"),
            ("a/b%2Fc.html", "a/b%2Fc.html"),
            ("100%25.html", "100%25.html"),
            ("bad%FF%2Fx.html", "bad%FF%2Fx.html"),
            ("say %22hi%22.html", "say \"hi\".html"),
            ("..%2F..%2Fetc", "../../etc"),
        ] {
            let disposition = format!("form-data; name=\"files\"; filename=\"{plain}\"");
            assert_eq!(file_name(&disposition, Some(plain)).as_deref(), Some(expected), "{plain}");
        }
        assert_eq!(file_name("form-data; name=\"files\"", None), None);
    }

    #[test]
    fn extended_file_name_takes_precedence_unless_it_is_inside_quotes() {
        for (disposition, expected) in [
            (
                "form-data; name=\"files\"; filename=\"x\"; filename*=UTF-8''css%2F%C3%BC.css",
                Some("css/\u{fc}.css"),
            ),
            ("form-data; name=\"files\"; filename*=utf-8'en'a.css", Some("a.css")),
            ("form-data; name=\"files\"; FILENAME*=\"utf-8''a.css\"", Some("a.css")),
            ("form-data; name=\"files\"; filename*=iso-8859-1''a.css; filename=\"x\"", Some("x")),
            ("form-data; name=\"files\"; filename*=utf-8''%FF; filename=\"x\"", Some("x")),
            ("form-data; name=\"files\"; filename=\"x; filename*=utf-8''y\"", Some("x")),
        ] {
            assert_eq!(file_name(disposition, Some("x")).as_deref(), expected, "{disposition}");
        }
    }
}
