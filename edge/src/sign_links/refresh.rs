//! Finds the address in `<meta http-equiv="refresh" content="5; url=next.html">`, by the lenient steps of the
//! HTML standard.

use std::ops::Range;

use super::is_space;

/// `None` if the page reloads itself or the text is not a refresh.
pub fn address_in(content: &str) -> Option<Range<usize>> {
    let after_gap = content.trim_start_matches(is_space);
    let after_wait =
        after_gap.trim_start_matches(|character: char| character.is_ascii_digit() || character == '.');
    let is_refresh = after_wait.len() < after_gap.len();
    if !is_refresh || !after_wait.starts_with(|next| is_space(next) || matches!(next, ';' | ',')) {
        return None;
    }
    let rest = after_wait.trim_start_matches(is_space);
    let rest = rest.strip_prefix([';', ',']).unwrap_or(rest).trim_start_matches(is_space);
    let address = unquoted(after_word(rest));
    (!address.is_empty()).then(|| {
        let start = address.as_ptr().addr() - content.as_ptr().addr();
        start..start + address.len()
    })
}

/// The text after `url =`, which may be missing.
fn after_word(text: &str) -> &str {
    let is_word = text.get(..3).is_some_and(|word| word.eq_ignore_ascii_case("url"));
    let after = is_word.then(|| text[3..].trim_start_matches(is_space).strip_prefix('='));
    after.flatten().map_or(text, |address| address.trim_start_matches(is_space))
}

fn unquoted(address: &str) -> &str {
    let Some(quote) = address.chars().next().filter(|first| matches!(first, '\'' | '"')) else {
        return address;
    };
    let quoted = &address[1..];
    quoted.split_once(quote).map_or(quoted, |(quoted, _)| quoted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refresh_url_is_found_in_every_notation() {
        for (content, address) in [
            ("0;url=x", Some("x")),
            ("5; URL=next.html", Some("next.html")),
            (" 5 ; url = x", Some("x")),
            ("0, x", Some("x")),
            ("0;x", Some("x")),
            ("0 x", Some("x")),
            ("1.5;url='x y'z", Some("x y")),
            ("0;url=\"x", Some("x")),
            ("0;'x'", Some("x")),
            (".5;x", Some("x")),
            ("0;urls.html", Some("urls.html")),
            ("0;ürl=x", Some("ürl=x")),
            ("0;url=x?url=y", Some("x?url=y")),
            ("5", None),
            ("5;", None),
            ("0;url=", None),
            ("5x", None),
            ("x;url=y", None),
            ("", None),
        ] {
            assert_eq!(address_in(content).map(|range| &content[range]), address, "{content}");
        }
    }
}
