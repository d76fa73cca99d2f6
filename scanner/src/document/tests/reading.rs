use super::super::*;

fn wide(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(to_bytes).collect()
}

#[test]
fn kinds_are_told_by_content_and_then_by_name() {
    let page = "<form><input></form>";
    let cases: [(&str, &str, Kind); 30] = [
        ("index.html", page, Kind::Html),
        ("index.html", "just words", Kind::Html),
        ("INDEX.HTM", "", Kind::Html),
        ("notes.txt", page, Kind::Html),
        ("logo.png", page, Kind::Html),
        ("app.js", page, Kind::Html),
        ("deep/down.d/page", page, Kind::Html),
        ("page", "\n <!-- hello --> <!DOCTYPE html><p>", Kind::Html),
        ("page", "</p><input>", Kind::Html),
        ("index.html", "<?xml version='1.0'?><html>", Kind::Html),
        ("page.xhtml", page, Kind::Xml),
        ("page", "<?xml version='1.0'?><html>", Kind::Xml),
        ("drawing.svg", "<svg xmlns='http://www.w3.org/2000/svg'>", Kind::Xml),
        ("drawing.svg", "<!-- made by hand --><svg>", Kind::Xml),
        ("drawing.txt", "<svg xmlns='http://www.w3.org/2000/svg'>", Kind::Html),
        ("feed.xml", "no markup", Kind::Text),
        ("app.js", "render('<form>')", Kind::Script),
        ("app.mjs", "<!-- an old habit\nf()", Kind::Script),
        ("style.css", "p { color: red }", Kind::Style),
        ("style.css", "<!-- p { color: red } -->", Kind::Style),
        ("data.json", "{\"a\": 1}", Kind::Json),
        ("site.webmanifest", "{}", Kind::Json),
        ("notes.txt", "a < b", Kind::Text),
        ("README.md", "# Hi", Kind::Text),
        ("README", "", Kind::Text),
        ("a.bin", "a\0b", Kind::Binary),
        ("page.bin", "<p>\0<input>", Kind::Html),
        ("a.png", "\u{0}\u{0}\u{1}\u{0}", Kind::Binary),
        ("a.gif", "GIF89a<input>", Kind::Binary),
        ("a.html", "GIF89a<input>", Kind::Html),
    ];
    for (path, text, kind) in cases {
        assert_eq!(read(path, text.as_bytes()).kind, kind, "{path}: {text}");
    }
}

#[test]
fn bytes_are_decoded_as_they_say() {
    let text = "<p>Größe в €</p>";
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("UTF-8", text.into(), text),
        ("UTF-8 with a mark", [b"\xef\xbb\xbf", text.as_bytes()].concat(), text),
        ("little UTF-16", wide(text, u16::to_le_bytes), text),
        ("big UTF-16", wide(text, u16::to_be_bytes), text),
        ("little UTF-16 with a mark", [b"\xff\xfe".to_vec(), wide(text, u16::to_le_bytes)].concat(), text),
        ("big UTF-16 with a mark", [b"\xfe\xff".to_vec(), wide(text, u16::to_be_bytes)].concat(), text),
        ("nothing", b"<p>Gr\xf6\xdfe".to_vec(), "<p>Größe"),
        (
            "a meta charset",
            b"<META CHARSET=windows-1251>\xe1\xe0\xed\xea".to_vec(),
            "<META CHARSET=windows-1251>банк",
        ),
        (
            "a meta http-equiv",
            b"<meta http-equiv=content-type content='text/html; charset=koi8-r'>\xc2".to_vec(),
            "<meta http-equiv=content-type content='text/html; charset=koi8-r'>б",
        ),
        (
            "an XML declaration",
            b"<?xml version='1.0' encoding='ISO-8859-1'?>\xf6".to_vec(),
            "<?xml version='1.0' encoding='ISO-8859-1'?>ö",
        ),
        ("a lie about UTF-16", b"<meta charset=utf-16>\xf6".to_vec(), "<meta charset=utf-16>ö"),
        (
            "a lie about UTF-8",
            b"<meta charset=windows-1251>\xc3\xb6".to_vec(),
            "<meta charset=windows-1251>ö",
        ),
        (
            "a code that looks like ASCII",
            b"<meta charset=iso-2022-jp>\x1b$B6d9T\x1b(B".to_vec(),
            "<meta charset=iso-2022-jp>銀行",
        ),
    ];
    for (name, bytes, expected) in cases {
        assert_eq!(read("index.html", &bytes).text, expected, "{name}");
    }
}

#[test]
fn a_lie_about_the_encoding_leaves_the_servers_reading() {
    let hidden = b"<meta charset=iso-2022-jp>\x1b$B<input>";
    assert_eq!(read("a.html", hidden).as_utf8.as_deref(), Some("<meta charset=iso-2022-jp>\u{1b}$B<input>"));
    assert_eq!(read("a.html", b"<p>caf\xe9").as_utf8.as_deref(), Some("<p>caf\u{fffd}"));
    assert_eq!(read("a.html", b"<p>plain").as_utf8, None);
    assert_eq!(read("a.html", b"\xff\xfe<\0p\0>\0").as_utf8, None);
}

#[test]
fn data_addresses_are_opened() {
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
fn no_bytes_at_all_stop_the_reader() {
    let mut state = 1_u32;
    for length in 0..2000 {
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 24
        };
        const PIECES: &[u8] = b"<>/!-=\"'&;[]? \0\xc3\xbc\xff\x1babsx";
        let bytes: Vec<u8> = (0..length % 300).map(|_| PIECES[next() as usize % PIECES.len()]).collect();
        let source = read(["a.html", "a.svg", "a"][length % 3], &bytes);
        assert!(parse_html(&source.text).node_count() > 0);
        assert!(parse_xml(&source.text).node_count() > 0);
        open_data_url(&format!("data:{}", source.text));
    }
}
