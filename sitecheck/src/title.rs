//! The title of a page.

use std::cell::RefCell;
use std::mem::take;

use domain::PageTitle;
use lol_html::html_content::TextChunk;
use lol_html::{HandlerResult, HtmlRewriter, Settings, element, text};

/// A title that comes later is not found, so that a long page without one costs little.
const READ_BYTES_MAX: usize = 256 * 1024;
/// The page is read in pieces of this size, so that reading stops at the end of the title.
const PIECE_BYTES: usize = 4 * 1024;
/// No more of a title is read. It is cut to its length only after its whitespace is collapsed.
const TITLE_BYTES_MAX: usize = 4 * 1024;

#[derive(Default)]
struct Search {
    /// The text of the title, once its start tag has been read.
    title: Option<String>,
    /// The title that starts here belongs to a picture or a formula.
    is_foreign: bool,
    is_read: bool,
}

/// The first title of the page, as browsers show it. Titles within pictures and formulas are not the page's.
/// The parser reports those as HTML too, so they are found by what they stand in.
pub fn title(html: &str) -> Option<PageTitle> {
    let search = RefCell::new(Search::default());
    let settings = Settings::new()
        .with_strict(false)
        .append_element_content_handler(element!("svg title, math title", |_| {
            search.borrow_mut().is_foreign = true;
            Ok(())
        }))
        .append_element_content_handler(element!("title", |_| {
            let mut search = search.borrow_mut();
            if !take(&mut search.is_foreign) && search.title.is_none() {
                search.title = Some(String::new());
            }
            Ok(())
        }))
        .append_element_content_handler(text!("title", |text| search.borrow_mut().pass_text(text)));
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
    for piece in html.as_bytes().chunks(PIECE_BYTES).take(READ_BYTES_MAX / PIECE_BYTES) {
        if rewriter.write(piece).is_err() || search.borrow().is_read {
            break;
        }
    }
    drop(rewriter);
    let text = search.into_inner().title?;
    PageTitle::from_text(&htmlize::unescape(text))
}

impl Search {
    fn pass_text(&mut self, piece: &TextChunk<'_>) -> HandlerResult {
        if self.is_read {
            return Ok(());
        }
        let Some(title) = &mut self.title else { return Ok(()) };
        title.push_str(piece.as_str());
        self.is_read = piece.last_in_text_node() || title.len() > TITLE_BYTES_MAX;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(html: &str) -> Option<String> {
        title(html).map(String::from)
    }

    #[test]
    fn title_is_the_first_one_with_entities_decoded_and_whitespace_collapsed() {
        let page =
            "<!doctype html><head><meta charset=utf-8><title>\n  Tom &amp; Jerry&#8217;s\n plan</title>";
        assert_eq!(shown(page), Some("Tom & Jerry’s plan".to_owned()));
        assert_eq!(shown("<title>a<b>c</title><title>d</title>"), Some("a<b>c".to_owned()));
        let icon_first = "<svg><title>Icon</title></svg><title>Page</title>";
        assert_eq!(shown(icon_first), Some("Page".to_owned()));
        assert_eq!(shown("<TITLE lang=en>Loud</TITLE>"), Some("Loud".to_owned()));
        let split = format!("<!--{}--><title>Across pieces</title>", "x".repeat(PIECE_BYTES - 16));
        assert_eq!(shown(&split), Some("Across pieces".to_owned()));
    }

    #[test]
    fn page_without_a_title_of_its_own_has_none() {
        for html in [
            "",
            "<h1>Hello</h1>",
            "<title></title>",
            "<title> &#8206; </title>",
            "<svg><title>Icon</title></svg>",
            "<svg><g><title>Icon</title></g></svg><math><title>x</title></math>",
            "<!-- <title>no</title> -->",
            "<script>'<title>no</title>'</script>",
        ] {
            assert_eq!(shown(html), None, "{html}");
        }
        let late = format!("<p>{}</p><title>Late</title>", "x".repeat(READ_BYTES_MAX));
        assert_eq!(shown(&late), None);
    }

    #[test]
    fn long_and_unclosed_titles_are_cut() {
        let long = format!("<title>{}</title>", "word ".repeat(10_000));
        assert_eq!(shown(&long).unwrap().chars().count(), PageTitle::LENGTH_MAX);
        assert!(shown(&format!("<title>{}", "open ".repeat(10_000))).unwrap().starts_with("open open"));
    }
}
