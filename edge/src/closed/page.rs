//! Renders the error pages.
//!
//! They are self-contained: no scripts, no subresources, and never a byte of the user's content.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use domain::ServiceLinks;
use poem::http::{HeaderValue, header};
use poem::{Body, Response};

use super::Closed;

const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
/// Icons and font are `data:` URLs, because all paths, such as `/favicon.ico`, belong to the site.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'unsafe-inline'; font-src data:; img-src data:; form-action 'self'; \
     base-uri 'none'",
);

/// The same mark as on the pages of the API.
const MARK: &str = include_str!("../mark.svg");
const TOUCH_ICON: &[u8] = include_bytes!("../touch-icon.png");
/// The colours, sizes and fallback fonts of the API's `page.css`.
const STYLE: &str = include_str!("page.css");
/// The face of the API's headings, with only the characters of the titles here. CONTRIBUTING.md has the
/// command that makes it.
const FONT: &[u8] = include_bytes!("caslon.woff2");

/// Renders the error pages.
pub struct ClosedPages {
    /// Escaped for an attribute.
    base_url: String,
    /// The operator's contact, as a link in HTML.
    contact: Option<String>,
    /// The part of each page before its title.
    head: String,
    /// The part of each page after its content.
    foot: String,
}

impl ClosedPages {
    pub fn new(base_url: &str, links: &ServiceLinks) -> Self {
        let base_url = escape(base_url);
        let (head, foot) = (head(), foot(links));
        Self { contact: links.contact.as_deref().map(link_to_contact), base_url, head, foot }
    }

    /// The response to a request with this query.
    pub fn show(&self, closed: Closed, query: Option<&str>) -> Response {
        let page = Bytes::from(self.page(closed, query));
        let mut response = Response::builder().status(closed.status()).finish();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HTML);
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(page.len()));
        headers.insert(header::CACHE_CONTROL, NO_STORE);
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, NOSNIFF);
        headers.insert(header::CONTENT_SECURITY_POLICY, POLICY);
        closed.add_headers(headers);
        response.set_body(Body::from_bytes(page));
        response
    }

    fn page(&self, closed: Closed, query: Option<&str>) -> String {
        let (title, explanation, status) = (closed.title(), closed.explanation(), closed.status().as_u16());
        let Self { base_url, head, foot, .. } = self;
        let kicker = if closed == Closed::Root { "Handbill".to_owned() } else { status.to_string() };
        let next_step = self.next_step(closed, query);
        format!(
            "{head}<title>{title}</title>\n</head>\n<body>\n\
             <header><a href=\"{base_url}/\">{mark} Handbill</a></header>\n<main>\n\
             <p class=\"kicker\">{kicker}</p>\n<h1>{title}</h1>\n<p>{explanation}</p>\n\
             {next_step}</main>\n{foot}",
            mark = MARK.trim_end()
        )
    }

    /// What the visitor can do, as HTML.
    fn next_step(&self, closed: Closed, query: Option<&str>) -> String {
        let base_url = &self.base_url;
        match closed {
            Closed::Private => signature_form(query),
            Closed::NoFile { depth } => format!(
                "<p><a class=\"button\" href=\"./{}\">Go to the front page</a></p>\n",
                "../".repeat(depth.into())
            ),
            Closed::Expired => {
                format!("<p><a class=\"button\" href=\"{base_url}/\">Get your own page</a></p>\n")
            }
            Closed::Root => format!(
                "<p><a class=\"button\" href=\"{base_url}/\">Publish a page</a> \
                 <a href=\"{base_url}/report\">Report a page</a></p>\n"
            ),
            Closed::Blocked => format!(
                "<p>Did you publish it? <a href=\"{base_url}/dashboard\">Open it on your dashboard</a> to \
                 see the reason and to ask for a review.</p>\n{}",
                self.questions()
            ),
            Closed::Suspended => format!(
                "<p>Is it your account? <a href=\"{base_url}/dashboard\">Your dashboard</a> shows the \
                 reason.</p>\n{}",
                self.questions()
            ),
            _ => String::new(),
        }
    }

    fn questions(&self) -> String {
        let Some(contact) = &self.contact else { return String::new() };
        format!("<p>To object to this decision or to ask about it: {contact}</p>\n")
    }
}

/// The form sends the signature to the same address, as the signed link does. It also takes the whole link.
fn signature_form(query: Option<&str>) -> String {
    let is_again = query.is_some_and(|query| query.split('&').any(|part| part.starts_with("sig=")));
    let (fault, invalid) = if is_again {
        (
            "<p class=\"fault\" id=\"fault\" role=\"alert\">This link is not valid for this page.</p>\n",
            " aria-invalid=\"true\" aria-describedby=\"fault note\"",
        )
    } else {
        ("", " aria-describedby=\"note\"")
    };
    format!(
        "<form method=\"get\">\n<label for=\"sig\">Signed link</label>\n\
         <p class=\"row\"><input id=\"sig\" name=\"sig\" required \
         autocomplete=\"off\" autocapitalize=\"none\" spellcheck=\"false\"{invalid}> <button>Open</button></p>\n{fault}\
         <p class=\"note\" id=\"note\">Paste the link that you were sent, or the 16 characters \
         after <code>sig=</code> at its end.</p>\n</form>\n"
    )
}

fn head() -> String {
    let icon = MARK.trim_end().replace('"', "'").replace('#', "%23").replace('<', "%3C").replace('>', "%3E");
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"theme-color\" content=\"#fbf8f1\" media=\"(prefers-color-scheme: light)\">\n\
         <meta name=\"theme-color\" content=\"#171512\" media=\"(prefers-color-scheme: dark)\">\n\
         <link rel=\"icon\" href=\"data:image/svg+xml,{icon}\">\n\
         <link rel=\"apple-touch-icon\" href=\"data:image/png;base64,{touch_icon}\">\n\
         <style>@font-face{{font-family:Caslon;font-weight:600;\
         src:url(data:font/woff2;base64,{font})}}{style}</style>\n",
        touch_icon = BASE64.encode(TOUCH_ICON),
        font = BASE64.encode(FONT),
        style = STYLE.lines().map(str::trim).collect::<String>(),
    )
}

fn foot(links: &ServiceLinks) -> String {
    let link = |(text, target): (&str, &str)| format!("<a href=\"{}\">{text}</a>", escape(target));
    let links: Vec<String> = links.shown().map(link).collect();
    let footer =
        if links.is_empty() { String::new() } else { format!("<footer>{}</footer>\n", links.join(" ")) };
    format!("{footer}</body>\n</html>\n")
}

/// A link to an address such as `mailto:abuse@example.com`. Its text omits the `mailto:` scheme.
fn link_to_contact(contact: &str) -> String {
    let text = contact.strip_prefix("mailto:").unwrap_or(contact);
    format!("<a href=\"{}\">{}</a>", escape(contact), escape(text))
}

/// Escapes text for use in an attribute.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::super::glyphs::characters_of;
    use super::*;

    const ALL: [Closed; 15] = [
        Closed::Malformed,
        Closed::Private,
        Closed::Missing,
        Closed::NoFile { depth: 1 },
        Closed::Root,
        Closed::MethodNotAllowed,
        Closed::Expired,
        Closed::PreconditionFailed,
        Closed::RangeNotSatisfiable { size_bytes: 7 },
        Closed::Misdirected,
        Closed::TooManyMisses { retry_after_seconds: 37 },
        Closed::Blocked,
        Closed::Suspended,
        Closed::Unchecked,
        Closed::Unavailable,
    ];

    const API_TEMPLATES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../api/templates");

    fn pages() -> ClosedPages {
        ClosedPages::new("http://127.0.0.1:8080", &ServiceLinks::default())
    }

    #[test]
    fn error_pages_are_complete_self_contained_and_not_cached() {
        let pages = pages();
        for closed in ALL {
            let response = pages.show(closed, None);
            assert_eq!(response.header("cache-control"), Some("no-store"));
            assert_eq!(response.header("x-content-type-options"), Some("nosniff"));
            let page = pages.page(closed, None);
            assert_eq!(response.header("content-length"), Some(page.len().to_string().as_str()));
            assert!(page.starts_with("<!doctype html>\n<html lang=\"en\">"), "{page}");
            assert!(page.contains("width=device-width") && page.contains("prefers-color-scheme:dark"));
            assert!(!page.contains("<script") && !page.contains("src="), "{page}");
            for (mark, count) in [("url(", 1), ("<link rel=\"icon\" href=\"", 1), ("<link ", 2)] {
                assert_eq!(page.matches(mark).count(), count, "{mark}");
            }
            for loaded in ["url(", "icon\" href=\""] {
                assert!(page.split(loaded).skip(1).all(|from| from.starts_with("data:")), "{page}");
            }
            assert!(page.contains("<header><a href=\"http://127.0.0.1:8080/\"><svg"), "{page}");
            assert_eq!(page.matches("<h1>").count(), 1);
        }
    }

    #[test]
    fn heading_face_has_every_character_of_the_headings() {
        let face = characters_of(FONT);
        let api_face = std::fs::read(format!("{API_TEMPLATES}/caslon.woff2")).unwrap();
        assert!(face.is_subset(&characters_of(&api_face)) && face.len() < 40, "{face:?}");
        for title in ALL.map(Closed::title).into_iter().chain(["Handbill"]) {
            let missing: String = title.chars().filter(|letter| !face.contains(letter)).collect();
            assert_eq!(missing, "", "the face has not all characters of \"{title}\"");
        }
    }

    #[test]
    fn identity_is_that_of_the_pages_of_the_api() {
        let of_api = |name: &str| std::fs::read(format!("{API_TEMPLATES}/{name}")).unwrap();
        assert!(of_api("mark.svg") == MARK.as_bytes() && of_api("touch-icon.png") == TOUCH_ICON);
        let base = String::from_utf8(of_api("base.html")).unwrap();
        let colours = base.lines().filter(|line| line.contains("\"theme-color\""));
        let page = pages().page(Closed::Missing, None);
        assert_eq!(colours.map(|colour| assert!(page.contains(colour), "{colour}")).count(), 2);
    }

    /// An error page is sent to every crawler that asks for a page that does not exist.
    #[test]
    fn error_pages_stay_small() {
        let gzip = |text: &str| {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            std::io::Write::write_all(&mut encoder, text.as_bytes()).unwrap();
            encoder.finish().unwrap().len()
        };
        assert!(STYLE.len() <= 2_500 && gzip(STYLE) <= 1_060, "{} {}", STYLE.len(), gzip(STYLE));
        assert!(FONT.len() <= 3_600, "{}", FONT.len());
        for closed in ALL {
            let page = pages().page(closed, Some("sig=0123456789abcdef"));
            assert!(page.len() <= 10_000 && gzip(&page) <= 6_400, "{} {}", page.len(), gzip(&page));
        }
    }

    #[test]
    fn error_pages_have_the_right_status_and_headers() {
        let pages = pages();
        let statuses = ALL.map(|closed| pages.show(closed, None).status().as_u16());
        assert_eq!(statuses, [400, 403, 404, 404, 404, 405, 410, 412, 416, 421, 429, 451, 451, 503, 503]);
        assert_eq!(pages.show(Closed::MethodNotAllowed, None).header("allow"), Some("GET, HEAD"));
        assert_eq!(pages.show(Closed::Unavailable, None).header("retry-after"), Some("2"));
        assert_eq!(pages.show(Closed::Unchecked, None).header("retry-after"), Some("10"));
        let misses = pages.show(Closed::TooManyMisses { retry_after_seconds: 37 }, None);
        assert_eq!(misses.header("retry-after"), Some("37"));
        let range = pages.show(Closed::RangeNotSatisfiable { size_bytes: 7 }, None);
        assert_eq!(range.header("content-range"), Some("bytes */7"));
    }

    #[test]
    fn urls_are_escaped_in_attributes() {
        let page =
            ClosedPages::new("http://x/\"><script>", &ServiceLinks::default()).page(Closed::Missing, None);
        assert!(!page.contains("<script>"));
    }

    #[test]
    fn only_451_pages_say_how_to_object() {
        let links = ServiceLinks {
            contact: Some("mailto:abuse@example.com?subject=\"a\"&b".into()),
            ..ServiceLinks::default()
        };
        let with_contact = ClosedPages::new("", &links);
        let link = "<a href=\"mailto:abuse@example.com?subject=&quot;a&quot;&amp;b\">\
                    abuse@example.com?subject=&quot;a&quot;&amp;b</a>";
        for closed in ALL {
            let is_451 = matches!(closed, Closed::Blocked | Closed::Suspended);
            assert_eq!(with_contact.page(closed, None).contains(link), is_451, "{closed:?}");
            let page = pages().page(closed, None);
            assert_eq!(page.contains("href=\"http://127.0.0.1:8080/dashboard\""), is_451, "{closed:?}");
            assert!(!page.contains("object to this decision"));
        }
    }

    #[test]
    fn every_error_page_has_the_operators_links() {
        let links = ServiceLinks {
            terms: Some("https://example.com/terms?a&b".into()),
            imprint: Some("https://example.com/imprint".into()),
            ..ServiceLinks::default()
        };
        let footer = "<footer><a href=\"https://example.com/terms?a&amp;b\">Terms</a> \
                      <a href=\"https://example.com/imprint\">Imprint</a></footer>";
        for closed in ALL {
            assert!(ClosedPages::new("", &links).page(closed, None).contains(footer), "{closed:?}");
            assert!(!pages().page(closed, None).contains("<footer>"), "{closed:?}");
        }
    }

    #[test]
    fn only_the_private_page_has_a_form_and_it_says_if_the_signature_was_wrong() {
        let fault = "This link is not valid";
        for closed in ALL {
            let page = pages().page(closed, Some("sig=0123456789abcdef"));
            let is_private = closed == Closed::Private;
            assert_eq!(page.contains("<form method=\"get\">"), is_private, "{closed:?}");
            assert_eq!(page.contains(fault), is_private, "{closed:?}");
        }
        for query in [None, Some("page=2"), Some("assign=0")] {
            assert!(!pages().page(Closed::Private, query).contains(fault), "{query:?}");
        }
    }
}
