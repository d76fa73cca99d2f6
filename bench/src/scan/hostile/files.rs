//! Floods of files that refer to each other, so that one file is used many times.

use domain::FileSet;

use super::{ASK, Files, Flood, HALF_BYTES, SIZE_BYTES, built, filled, index};

/// All files except the one that the others use.
const OTHERS: usize = FileSet::FILES_MAX - 1;
const EACH_BYTES: usize = SIZE_BYTES / FileSet::FILES_MAX;
/// The size of the one file if the others are small.
const ONE_BYTES: usize = SIZE_BYTES * 95 / 100;

pub fn floods() -> Vec<Flood> {
    vec![
        built("pages", || pages(|_| String::new(), "<label>Card number {n}<input></label>")),
        built("pages of fields between words", || pages(|_| String::new(), "enter ÿÿÿÿÿ<input>'+&&&v;")),
        built("pages that frame each other", || {
            pages(frames_of_all, "<label>Card number {n}<input></label>")
        }),
        built("pages that frame each other, in an old encoding", || {
            in_two_encodings(pages(old_frames_of_all, "<label>Card number {n}<input></label>"))
        }),
        built("pages of labels that frame each other, in an old encoding", || {
            in_two_encodings(pages(old_frames_of_all, "<label>PIN<input>"))
        }),
        built("data that a script parses, in an old encoding", || {
            let data = filled("JSON.parse('{\"a{n}\":[[\"<p>\"]]}');", SIZE_BYTES - 1_000);
            in_two_encodings(index(&[OLD_ENCODING, "<script>", &data, "</script>", ASK]))
        }),
        built("pages that frame one", || {
            around("one.html", "<iframe src=one.html></iframe>", "<p>PIN<input>")
        }),
        built("pages with one sheet", || {
            around("one.css", "<link rel=stylesheet href=one.css>", ".a .b{n}{top:0}")
        }),
        built("pages with one script", || {
            around("one.js", "<script src=one.js></script>", "e.innerHTML='<input>';")
        }),
        built("pages that fetch one text", || {
            around("one.txt", "<script>fetch('one.txt')</script>", "<p>x<input>")
        }),
        built("sheets that import each other", sheets),
        built("one sheet, linked again and again", || {
            again("one.css", "<link rel=stylesheet href=one.css>", "p{top:0}")
        }),
        built("one script, run again and again", || {
            again("one.js", "<script src=one.js></script>", "w('<input>');")
        }),
        built("one page, framed again and again", || {
            again("one.html", "<iframe src=one.html></iframe>", "<input>")
        }),
        built("one frame, and addresses without end", || {
            again("one.html", "<iframe src=../../a/./{n}></iframe>", "<input>")
        }),
    ]
}

/// The maximum number of pages, each with a head of its own.
fn pages(head: fn(usize) -> String, unit: &str) -> Files {
    (0..FileSet::FILES_MAX)
        .map(|page| {
            let head = head(page);
            let body = filled(unit, EACH_BYTES - head.len() - ASK.len());
            (format!("{page}.html"), [&head, &body, ASK].concat().into_bytes())
        })
        .collect()
}

fn frames_of_all(of: usize) -> String {
    let others = (0..FileSet::FILES_MAX).filter(|page| *page != of);
    others.map(|page| format!("<iframe src={page}.html></iframe>")).collect()
}

/// A declared encoding, and a placeholder for a byte that is invalid UTF-8.
const OLD_ENCODING: &str = "<meta charset=windows-1252>~";

fn old_frames_of_all(of: usize) -> String {
    OLD_ENCODING.to_owned() + &frames_of_all(of)
}

/// Inserts a byte that is invalid UTF-8, so that the files are read as UTF-8 and as declared.
fn in_two_encodings(mut files: Files) -> Files {
    let bytes = files.iter_mut().flat_map(|(_, bytes)| bytes);
    bytes.filter(|byte| **byte == b'~').for_each(|byte| *byte = 0xe4);
    files
}

/// One large file, and small pages that all use it.
fn around(one: &str, link: &str, unit: &str) -> Files {
    let small = (0..OTHERS).map(|page| (format!("{page}.html"), [link, ASK].concat().into_bytes()));
    small.chain([(one.to_owned(), filled(unit, ONE_BYTES).into_bytes())]).collect()
}

/// One file and one page, each half of the size. The page uses the file as often as it can.
fn again(one: &str, link: &str, unit: &str) -> Files {
    let page = [&filled(link, HALF_BYTES), ASK].concat().into_bytes();
    vec![("index.html".to_owned(), page), (one.to_owned(), filled(unit, HALF_BYTES).into_bytes())]
}

fn sheets() -> Files {
    let imports: String = (0..OTHERS).map(|sheet| format!("@import \"{sheet}.css\";")).collect();
    let sheet = (imports.clone() + &filled(".a .b{n}{top:0}", EACH_BYTES - imports.len())).into_bytes();
    let sheets = (0..OTHERS).map(|number| (format!("{number}.css"), sheet.clone()));
    let page = ["<link rel=stylesheet href=0.css>", &filled("<p>x</p>", EACH_BYTES - 1_000), ASK].concat();
    sheets.chain([("index.html".to_owned(), page.into_bytes())]).collect()
}
