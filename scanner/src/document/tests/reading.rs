//! Encodings and content types.

use super::super::*;

fn wide(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(to_bytes).collect()
}

#[test]
fn file_is_parsed_by_its_served_content_type() {
    let page = "<form><input></form>";
    let cases: [(&str, &str, Kind, Option<Kind>); 27] = [
        ("text/html; charset=utf-8", page, Kind::Html, None),
        ("Text/HTML", "just words", Kind::Html, None),
        ("text/html", "GIF89a<input>", Kind::Html, None),
        ("text/html", "<?xml version='1.0'?><html>", Kind::Html, None),
        ("text/plain", page, Kind::Text, Some(Kind::Html)),
        ("image/png", page, Kind::Text, Some(Kind::Html)),
        ("text/javascript", page, Kind::Script, Some(Kind::Html)),
        ("application/octet-stream", page, Kind::Text, Some(Kind::Html)),
        ("text/plain", "\n <!-- hello --> <!DOCTYPE html><p>", Kind::Text, Some(Kind::Html)),
        ("text/plain", "</p><input>", Kind::Text, Some(Kind::Html)),
        ("text/plain", "<?xml version='1.0'?><html>", Kind::Text, Some(Kind::Xml)),
        ("application/xhtml+xml", page, Kind::Xml, None),
        ("image/svg+xml", "<!--ftyp--><svg>", Kind::Xml, None),
        ("text/xml", "no markup", Kind::Xml, None),
        ("text/javascript", "render('<form>')", Kind::Script, None),
        ("application/javascript", "<!-- an old habit\nf()", Kind::Script, None),
        ("text/jscript", "GIF89a=1", Kind::Script, None),
        ("text/css", "p { color: red }", Kind::Style, None),
        ("text/css", "<!-- p { color: red } -->", Kind::Style, None),
        ("application/json", "{\"a\": 1}", Kind::Json, None),
        ("application/manifest+json", "{}", Kind::Json, None),
        ("text/markdown", "a < b", Kind::Text, None),
        ("application/octet-stream", "# Hi", Kind::Text, None),
        ("application/octet-stream", "a\0b", Kind::Binary, None),
        ("application/octet-stream", "<p>\0<input>", Kind::Binary, Some(Kind::Html)),
        ("image/png", "\u{0}\u{0}\u{1}\u{0}", Kind::Binary, None),
        ("image/gif", "GIF89a<input>", Kind::Binary, None),
    ];
    for (content_type, text, kind, looks_like) in cases {
        let source = read(content_type, text.as_bytes());
        assert_eq!((source.kind, source.looks_like), (kind, looks_like), "{content_type}: {text}");
    }
}

#[test]
fn bytes_are_decoded_as_utf8_and_by_their_declared_charset() {
    let text = "<p>Größe in €</p>";
    let cases: Vec<(&str, Vec<u8>, Option<&str>)> = vec![
        ("UTF-8", text.into(), None),
        ("little UTF-16", wide(text, u16::to_le_bytes), Some(text)),
        ("big UTF-16", wide(text, u16::to_be_bytes), Some(text)),
        ("nothing", b"<p>Gr\xf6\xdfe".to_vec(), Some("<p>Größe")),
        (
            "a meta charset",
            b"<META CHARSET=windows-1251>\xe1\xe0\xed\xea".to_vec(),
            Some("<META CHARSET=windows-1251>банк"),
        ),
        (
            "a meta http-equiv",
            b"<meta http-equiv=content-type content='text/html; charset=koi8-r'>\xc2".to_vec(),
            Some("<meta http-equiv=content-type content='text/html; charset=koi8-r'>б"),
        ),
        (
            "an XML declaration",
            b"<?xml version='1.0' encoding='ISO-8859-1'?>\xf6".to_vec(),
            Some("<?xml version='1.0' encoding='ISO-8859-1'?>ö"),
        ),
        ("a lie about UTF-16", b"<meta charset=utf-16>\xf6".to_vec(), Some("<meta charset=utf-16>ö")),
        ("a lie about UTF-8", b"<meta charset=windows-1251>\xc3\xb6".to_vec(), None),
        (
            "a code that looks like ASCII",
            b"<meta charset=iso-2022-jp>\x1b$B6d9T\x1b(B".to_vec(),
            Some("<meta charset=iso-2022-jp>銀行"),
        ),
    ];
    for (name, bytes, as_declared) in cases {
        let source = read("text/html", &bytes);
        assert_eq!(source.text, String::from_utf8_lossy(&bytes), "{name}");
        assert_eq!(source.as_declared.as_deref(), as_declared, "{name}");
    }
}

#[test]
fn byte_order_mark_allows_only_one_decoding() {
    let text = "<p>Größe in €</p>";
    let marked = |mark: &[u8], bytes: Vec<u8>| [mark.to_vec(), bytes].concat();
    for bytes in [
        marked(b"\xef\xbb\xbf", text.into()),
        marked(b"\xff\xfe", wide(text, u16::to_le_bytes)),
        marked(b"\xfe\xff", wide(text, u16::to_be_bytes)),
    ] {
        let source = read("text/html", &bytes);
        assert_eq!((&*source.text, source.as_declared), (text, None));
    }
}

#[test]
fn data_urls_are_decoded() {
    let cases = [
        ("data:text/html,<p>a%20b", Some(("text/html", "<p>a b"))),
        (" DATA:Text/HTML;charset=utf-8,%3Cp%3E#top", Some(("text/html", "<p>"))),
        ("data:text/html;base64,PHA+YQ==", Some(("text/html", "<p>a"))),
        ("data:text/html; base64 ,PHA+\n YQ", Some(("text/html", "<p>a"))),
        ("data:text/html;base64,PHA%2BYQ%3D%3D", Some(("text/html", "<p>a"))),
        ("data:,hello", Some(("text/plain", "hello"))),
        ("data:;base64,aGk=", Some(("text/plain", "hi"))),
        ("data:image/svg+xml;utf8,<svg/>", Some(("image/svg+xml", "<svg/>"))),
        ("data:image/png;base64,AAAA", None),
        ("data:text/html", None),
        ("https://example.com/data:,x", None),
        ("däta:", None),
        ("", None),
    ];
    for (url, expected) in cases {
        let expected = expected.map(|(kind, text)| (kind.to_owned(), text.as_bytes().to_vec()));
        assert_eq!(open_data_url(url), expected, "{url}");
    }
}

#[test]
fn random_bytes_do_not_crash_the_reader() {
    let mut state = 1_u32;
    for length in 0..2000 {
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 24
        };
        const PIECES: &[u8] = b"<>/!-=\"'&;[]? \0\xc3\xbc\xff\x1babsx";
        let bytes: Vec<u8> = (0..length % 300).map(|_| PIECES[next() as usize % PIECES.len()]).collect();
        let source = read(["text/html", "image/svg+xml", "text/plain"][length % 3], &bytes);
        assert!(parse_html(&source.text).node_count() > 0);
        assert!(parse_xml(&source.text).node_count() > 0);
        open_data_url(&format!("data:{}", source.text));
    }
}
