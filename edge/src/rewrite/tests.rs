//! Tests of rewriting HTML and XHTML.

use super::*;
use crate::find::Mount;
use crate::sign_links::tests::{short, signer};

const SAME: &str = "(as it was)";
const FIELD: &str =
    "<input xmlns=\"http://www.w3.org/1999/xhtml\" type=\"hidden\" name=\"sig\" value=\"S\" />";

fn rewrite(markup: Markup, page: &[u8], badge: Option<&Badge>, signer: Option<LinkSigner>) -> String {
    let mut rewriter = Rewriter::new(markup, badge, signer).unwrap();
    let mut out = Vec::new();
    for piece in page.chunks(7) {
        out.extend_from_slice(&rewriter.feed(piece).unwrap());
    }
    out.extend_from_slice(&rewriter.finish().unwrap());
    String::from_utf8(out).unwrap()
}

fn badged(markup: Markup, page: &str) -> String {
    rewrite(markup, page.as_bytes(), Some(&Badge::saying("BADGE")), None)
}

fn signed(markup: Markup, page: &str) -> String {
    short(rewrite(markup, page.as_bytes(), None, Some(signer(Mount::Path, 0))))
}

fn assert_signed(markup: Markup, page: &str, expected: &str) {
    let expected = if expected == SAME { page } else { expected };
    assert_eq!(signed(markup, page), expected.replace("FIELD", FIELD), "{page}");
}

#[test]
fn badge_is_inserted_before_the_first_body_end_tag_or_at_the_end() {
    for (page, expected) in [
        ("<html><body><p>a</p></body></html>", "<html><body><p>a</p>BADGE</body></html>"),
        ("<BODY>a</BODY>", "<BODY>aBADGE</BODY>"),
        ("<h1>a</h1>", "<h1>a</h1>BADGE"),
        ("<body>a", "<body>aBADGE"),
        ("", "BADGE"),
        (
            "<body><script>'</body>'</script><!-- </body> --></body>",
            "<body><script>'</body>'</script><!-- </body> -->BADGE</body>",
        ),
        ("<body>a</body></body>", "<body>aBADGE</body></body>"),
        ("<html><p>a</body></html>", "<html><p>aBADGE</body></html>"),
        ("a</body></html>", "aBADGE</body></html>"),
        ("<!doctype html><html><body>a</html></body>b", "<!doctype html><html><body>a</html>BADGE</body>b"),
        ("<div hidden><body>a</div>b</body>", "<div hidden><body>a</div>bBADGE</body>"),
        ("<body>a</body><body>b</body>", "<body>aBADGE</body><body>b</body>"),
    ] {
        assert_eq!(badged(Markup::Html, page), expected, "{page}");
    }
}

#[test]
fn unclosed_markup_cannot_hide_the_badge() {
    for open in [
        "<!-- ",
        "<textarea>",
        "<title>",
        "<style>",
        "<script>",
        "<script><!-- <script> ",
        "<iframe>",
        "<svg><![CDATA[ ",
        "<a href=\"",
        "<a href='",
        "<p class=x ",
    ] {
        for page in [format!("<p>a{open}"), format!("<body>a{open}</body></html>")] {
            let seen = badged(Markup::Html, &page);
            assert!(seen.starts_with(&page) && seen.ends_with("BADGE"), "{seen}");
            // A second rewrite agrees that the badge is visible.
            let again = rewrite(Markup::Html, seen.as_bytes(), Some(&Badge::saying("AGAIN")), None);
            assert_eq!(again, format!("{seen}AGAIN"));
        }
    }
}

#[test]
fn markup_that_is_not_rewritten_is_unchanged() {
    let page =
        "\u{feff}<!DOCTYPE html>\r\n<P CLASS='x' >ü &copy; <br/><unknown a=1 A=2></p><style>a>b{}</style>";
    assert_eq!(badged(Markup::Html, page), format!("{page}BADGE"));
    assert_eq!(signed(Markup::Html, page), page);
}

#[test]
fn utf_16_page_gets_the_badge() {
    let page: Vec<u8> = "\u{feff}<body>ü</body>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for markup in [Markup::Html, Markup::Xhtml] {
        assert_eq!(rewrite(markup, &page, Some(&Badge::saying("BADGE")), None), "<body>üBADGE</body>");
    }
}

#[test]
fn every_kind_of_link_in_a_private_page_is_signed() {
    for (page, expected) in [
        ("<a href=b.html>", "<a href=\"b.html?sig=S\">"),
        ("<link rel=stylesheet href='a.css'>", "<link rel=stylesheet href=\"a.css?sig=S\">"),
        ("<script src=\"a.js\"></script>", "<script src=\"a.js?sig=S\"></script>"),
        ("<img src=a.png srcset='b.png 2x'>", "<img src=\"a.png?sig=S\" srcset=\"b.png?sig=S 2x\">"),
        ("<video poster=a.jpg>", "<video poster=\"a.jpg?sig=S\">"),
        ("<object data=a.svg>", "<object data=\"a.svg?sig=S\">"),
        ("<meta name=x content='url=b.html'>", SAME),
        ("<svg><use xlink:href='a.svg#b'/></svg>", "<svg><use xlink:href=\"a.svg?sig=S#b\" /></svg>"),
        ("<a href='https://example.com/'>", SAME),
        (
            "<a href='https://serve.example:8443/site/my-page-a1b2/about'>",
            "<a href=\"https://serve.example:8443/site/my-page-a1b2/about?sig=S\">",
        ),
    ] {
        assert_signed(Markup::Html, page, expected);
    }
}

#[test]
fn character_references_are_decoded_before_a_link_is_classified() {
    for link in [
        "https&#58;//evil.example",
        "&#x2F;&#x2F;evil.example",
        "&sol;&sol;evil.example",
        "&#109;&#97;ilto:a@b.example",
        "javascript&colon;void(0)",
        "java&Tab;script:void(0)",
        "https&#58//evil.example",
        "&#35;part",
        "a.html?x&amp;sig=0123",
    ] {
        assert_signed(Markup::Html, &format!("<a href=\"{link}\">"), SAME);
    }
    for (link, expected) in [
        ("a.html?b=c&amp;d", "a.html?b=c&amp;d&amp;sig=S"),
        ("a.html?b=c&d", "a.html?b=c&amp;d&amp;sig=S"),
        ("a.html?copy=1&copy=2", "a.html?copy=1&amp;copy=2&amp;sig=S"),
        ("x&#38;y.html", "x&amp;y.html?sig=S"),
        ("&#47;site/my-page-a1b2/&quot;", "/site/my-page-a1b2/&quot;?sig=S"),
    ] {
        assert_signed(Markup::Html, &format!("<a href=\"{link}\">"), &format!("<a href=\"{expected}\">"));
    }
}

#[test]
fn meta_refresh_urls_are_signed() {
    for (content, expected) in [
        ("3; URL=b.html", "3; URL=b.html?sig=S"),
        ("0;url = b.html", "0;url = b.html?sig=S"),
        ("0;b.html", "0;b.html?sig=S"),
        ("0;url='b.html'", "0;url='b.html?sig=S'"),
        ("0;url=&quot;b.html&quot;", "0;url=&quot;b.html?sig=S&quot;"),
    ] {
        let page = |content| format!("<meta http-equiv=Refresh content=\"{content}\">");
        assert_signed(Markup::Html, &page(content), &page(expected));
    }
    for content in ["5", "0;url=https://evil.example", "0;url=https&colon;//evil.example"] {
        assert_signed(Markup::Html, &format!("<meta http-equiv=refresh content=\"{content}\">"), SAME);
    }
}

#[test]
fn get_forms_get_the_signature_as_a_hidden_field() {
    for (page, expected) in [
        ("<form action=x><input></form>", "<form action=\"x?sig=S\"><input>FIELD</form>"),
        ("<form></form>", "<form>FIELD</form>"),
        ("<form method=Get action=' '></form>", "<form method=Get action=' '>FIELD</form>"),
        ("<form method=nonsense></form>", "<form method=nonsense>FIELD</form>"),
        ("<form method=post action=x></form>", "<form method=post action=\"x?sig=S\"></form>"),
        ("<form method=dialog></form>", SAME),
        ("<form action='https://evil.example/'></form>", SAME),
        ("<form action='https&#58;//evil.example/'></form>", SAME),
        (
            "<form><button formaction=y>a</button></form>",
            "<form><button formaction=\"y?sig=S\">a</button>FIELD</form>",
        ),
    ] {
        assert_signed(Markup::Html, page, expected);
    }
}

#[test]
fn form_with_an_external_formaction_does_not_get_the_signature() {
    let out = "formaction='//evil.example/'";
    for (page, expected) in [
        ("<form><button OUT>a</button></form>", SAME),
        (
            "<form><input type=submit OUT></form><form></form>",
            "<form><input type=submit OUT></form><form>FIELD</form>",
        ),
        ("<form><button formaction='&#47;/evil.example'></button></form>", SAME),
        // A button of a form that does not contain it.
        ("<button form=f OUT></button><form id=f></form>", SAME),
        (
            "<form id=f><button form=g OUT></button></form>",
            "<form id=f><button form=g OUT></button>FIELD</form>",
        ),
        (
            "<form id=f></form><button form=f OUT></button>",
            "<form id=f>FIELD</form><button form=\"\" OUT></button>",
        ),
        // A badly nested form continues after its end.
        (
            "<form><div></form><button OUT></button></div>",
            "<form><div>FIELD</form><button OUT form=\"\"></button></div>",
        ),
        // Browsers disagree on badly nested forms, so none is signed.
        ("<form><form></form></form><button OUT></button>", SAME),
        ("<div><form></div><button OUT></button></form>", SAME),
        ("<div><form></div><form></form>", SAME),
    ] {
        assert_signed(Markup::Html, &page.replace("OUT", out), &expected.replace("OUT", out));
    }
}

#[test]
fn a_declared_base_decides_where_links_lead() {
    for (page, expected) in [
        ("<base href='https://cdn.example/'><a href=a.html>", SAME),
        ("<base href='https&colon;//cdn.example/'><a href=a.html>", SAME),
        (
            "<base href='sub/'><base href='https://cdn.example/'><a href='../../x'><a href='../x'>",
            "<base href='sub/'><base href='https://cdn.example/'><a href='../../x'><a href=\"../x?sig=S\">",
        ),
        (
            "<base href='https://serve.example:8443/site/my-page-a1b2/sub/'><a href='../a'><a href='../../a'>",
            "<base href='https://serve.example:8443/site/my-page-a1b2/sub/'><a href=\"../a?sig=S\"><a href='../../a'>",
        ),
        ("<base href='data:x'><a href='a'>", "<base href='data:x'><a href=\"a?sig=S\">"),
        ("<base href='sub/'><a href='#a'>", "<base href='sub/'><a href=\"?sig=S#a\">"),
        ("<base href='https:sub/'><a href='a'>", SAME),
    ] {
        assert_signed(Markup::Html, page, expected);
    }
}

#[test]
fn base_that_browsers_may_ignore_does_not_hide_the_effective_one() {
    let foreign = "https://cdn.example/";
    for (start, is_xhtml_too) in [
        ("<template><base href='sub/'/></template>", true),
        ("<svg><base href='sub/'/></svg>", true),
        ("<noscript><base href='sub/'/></noscript>", true),
        ("<select><base href='sub/'/></select>", true),
        ("<table><base href='sub/'/></table>", true),
        ("<base xmlns='http://www.w3.org/2000/svg' href='sub/'/>", false),
        ("<svg:base href='sub/'/>", false),
    ] {
        let page = format!("{start}<base href='{foreign}'/><a href='a'/>");
        assert_signed(Markup::Xhtml, &page, SAME);
        if is_xhtml_too {
            assert_signed(Markup::Html, &page, SAME);
        }
        let page = format!("{start}<a href='a'/><a href='../a'/>");
        assert!(signed(Markup::Xhtml, &page).ends_with("<a href=\"a?sig=S\"/><a href='../a'/>"), "{page}");
    }
    let only_possible = format!("<template><base href='{foreign}'></template><a href='a'>");
    assert_signed(Markup::Html, &only_possible, SAME);
    let badged = "<html><head><base href='sub/'></head><a href='../a'>";
    let seen =
        rewrite(Markup::Html, badged.as_bytes(), Some(&Badge::saying("BADGE")), Some(signer(Mount::Path, 0)));
    assert_eq!(short(seen), "<html><head><base href='sub/'></head><a href=\"../a?sig=S\">BADGE");
}

#[test]
fn all_rewriting_source_files_are_part_of_the_etag_rules() {
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = vec![source.join("charset.rs"), source.join("sign_links.rs")];
    for folder in ["rewrite", "sign_links"] {
        let found = std::fs::read_dir(source.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        files.extend(found.filter(|path| !path.ends_with("tests.rs")));
    }
    assert_eq!(files.len(), RULES.len());
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(RULES.contains(&text.as_str()), "{}", file.display());
    }
}

const XHTML: &str = "<?xml version=\"1.0\"?>\r\n<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Strict//EN\" \"x.dtd\">\n\
    <html xmlns='http://www.w3.org/1999/xhtml'><head><title/><script src='a.js'/><style><![CDATA[a>b{}]]></style>\
    </head><body class='x' ><!-- </body> --><p>ü &nbsp;&amp; <br /></p><a href='b.html?c&amp;d'>b</a>END</body></html>\n";

#[test]
fn xhtml_gets_the_badge_where_it_stays_well_formed() {
    assert_eq!(badged(Markup::Xhtml, XHTML), XHTML.replace("END", "ENDBADGE"));
    for (page, expected) in [
        ("<html><body/></html>", "<html><body>BADGE</body></html>"),
        ("<html><h:body a='>' /></html>", "<html><h:body a='>' >BADGE</h:body></html>"),
        ("<html><h:body>a</h:body ></html >", "<html><h:body>aBADGE</h:body ></html >"),
        ("<html><p>a</p></html><!-- b -->", "<html><p>a</p>BADGE</html><!-- b -->"),
        ("\u{feff}<html><body>a</body></html>", "\u{feff}<html><body>aBADGE</body></html>"),
    ] {
        assert_eq!(badged(Markup::Xhtml, page), expected, "{page}");
    }
}

#[test]
fn the_real_badge_is_well_formed_in_xhtml() {
    let badge = Badge::new("http://x/?a&b=\"c'");
    let page = rewrite(Markup::Xhtml, XHTML.as_bytes(), Some(&badge), Some(signer(Mount::Path, 0)));
    let mut reader = quick_xml::Reader::from_str(&page);
    reader.config_mut().enable_all_checks(true);
    loop {
        match reader.read_event().unwrap() {
            quick_xml::events::Event::Eof => break,
            quick_xml::events::Event::Start(tag) | quick_xml::events::Event::Empty(tag) => {
                assert!(tag.attributes().all(|attribute| attribute.is_ok()), "{page}");
            }
            _ => {}
        }
    }
}

#[test]
fn xhtml_links_are_signed_and_everything_else_is_unchanged() {
    let expected = XHTML
        .replace("<script src='a.js'/>", "<script src=\"a.js?sig=S\"/>")
        .replace("<a href='b.html?c&amp;d'>", "<a href=\"b.html?c&amp;d&amp;sig=S\">");
    assert_signed(Markup::Xhtml, XHTML, &expected);
    for (page, expected) in [
        ("<a b=c href='a'/>", SAME),
        ("<h:a x='\"' href='a'/>", "<h:a x=\"&quot;\" href=\"a?sig=S\"/>"),
        ("<a href='&#x2f;/evil.example'/>", SAME),
        ("<a href='&sol;/evil.example'/>", SAME),
        ("<a href='&unknown;/a'/>", SAME),
        ("<a href='a&lt;b'/>", "<a href=\"a&lt;b?sig=S\"/>"),
        ("<use xlink:href='a.svg#b'/>", "<use xlink:href=\"a.svg?sig=S#b\"/>"),
        ("<a href='a&#10;b&#9;c&#13;'/>", "<a href=\"a&#10;b&#9;c?sig=S\"/>"),
        ("<img srcset='a.png 1x,\r\n\tb.png'/>", "<img srcset=\"a.png?sig=S 1x, b.png?sig=S\"/>"),
        ("<a href='ht&#10;tps:&#9;//evil.example/'/>", SAME),
        ("<form action='a'><p/></form>", "<form action=\"a?sig=S\"><p/>FIELD</form>"),
        ("<form/><form><form/></form><form></form>", "<form/><form><form/></form><form>FIELD</form>"),
        ("<!DOCTYPE html [<!ENTITY out 'https://evil.example'>]><a href='&out;'/><a href='a'/>", SAME),
    ] {
        assert_signed(Markup::Xhtml, page, expected);
    }
}

#[test]
fn ill_formed_xhtml_is_unchanged() {
    for page in ["<html><a href='b.html'", "<html><body><!-- ", "<", "<p", "a & b <", "<![CDATA[ x"] {
        assert_eq!(badged(Markup::Xhtml, page), page);
    }
    let long = format!("<html><body><a x='{}'/></body></html>", "x".repeat(3 << 20));
    assert_eq!(badged(Markup::Xhtml, &long), long, "a tag that is too long to wait for");
}

#[test]
fn comments_and_cdata_of_any_length_are_passed_through() {
    let long = "a -- ]] ? > </body> ".repeat(100_000);
    for (begin, end) in [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?x ", "?>"), ("<!-->", "-->")] {
        for inner in ["", "x", "-", long.as_str()] {
            let page = format!("<html><body>{begin}{inner}{end}<p/>END</body></html>");
            assert_eq!(badged(Markup::Xhtml, &page), page.replace("END", "ENDBADGE"), "{begin}");
        }
    }
}
