//! Broken sites, each with its exact warnings.

use domain::{ContentPolicy, SitePath, Warning};

use super::{Terms, check, entry_page};

const BY_PATH: &str = "http://127.0.0.1:8081/site/my-page-a1b2/";
const BY_NAME: &str = "https://my-page-a1b2.pages.example/";

type Files<'f> = &'f [(&'f str, &'f str)];

fn terms(root: &str) -> Terms {
    let hosts = |name: &str| vec![name.to_owned()];
    let policy = ContentPolicy {
        font_hosts: hosts("fonts.example"),
        script_hosts: hosts("cdn.example"),
        image_hosts: hosts("img.example"),
        frame_hosts: hosts("video.example"),
    };
    Terms::new(root, policy).unwrap()
}

fn warnings(files: Files<'_>, root: &str) -> Vec<Warning> {
    let paths: Vec<SitePath> = files.iter().map(|(path, _)| path.parse().unwrap()).collect();
    let contents = files.iter().map(|(_, text)| text.as_bytes());
    check(paths.iter().zip(contents), &terms(root))
}

/// `code path:line target`
fn found(files: Files<'_>, root: &str) -> Vec<String> {
    let shown = |warning: Warning| {
        let line = warning.line.map(|line| format!(":{line}")).unwrap_or_default();
        let target = warning.target.map(|target| format!(" {target}")).unwrap_or_default();
        format!("{} {}{line}{target}", warning.code.as_str(), warning.path)
    };
    warnings(files, root).into_iter().map(shown).collect()
}

/// The warnings about one page in a site with some other files.
fn found_in(page: &str, root: &str) -> Vec<String> {
    let files = [
        ("index.html", page),
        ("about.html", ""),
        ("404.html", ""),
        ("css/app.css", ""),
        ("docs/index.html", ""),
        ("img/a b.png", ""),
        ("img/logo.png", ""),
        ("js/app.js", ""),
    ];
    found(&files, root)
}

#[test]
fn a_site_in_order_has_no_warnings() {
    let page = r##"<!doctype html><html><head><base href="./"><title><a href="none.html"></title>
        <link rel="stylesheet" href="css/app.css?v=2"><link rel="shortcut icon" href='img/logo.png'>
        <link rel="preload" as="font" href="https://fonts.example/a.woff2">
        <link rel=canonical href=/none.html>
        <script src="https://cdn.example/lib.js"></script><script type="module">import "./js/app.js"</script>
        <script type="text/template"><img src="none.png"></script>
        </head><body style="background:url(&quot;img/logo.png&quot;)"><!-- <img src="none.png"> -->
        <a href="#top">a</a><a href="">a</a><a href="?q=1">a</a><a href="about">a</a>
        <a href="about.html#b">a</a>
        <a href="docs">a</a><a href="docs/">a</a><a href="./">a</a><a href="https://other.example/none">a</a>
        <a href="mailto:a@b.example">a</a><a href="tel:1">a</a><a href="javascript:void(0)">a</a>
        <img src="img/a%20b.png" srcset="img/logo.png 1x, img/a%20b.png 2x">
        <img src="data:image/png;base64,AA==">
        <img src="https://img.example/x.png"><iframe src="https://video.example/1"></iframe>
        <iframe src="about:blank"></iframe><video src="blob:x"></video>
        <template><img src="none.png"></template><noscript><img src="none.png"></noscript>
        <img src="{{ image }}"><img data-src="none.png"><textarea><img src="none.png"></textarea>
        <script>const a = `<img src="none.png">`, b = "import './none.js'"</script>
        <script nomodule src="none.js"></script>
        </body></html>"##;
    for root in [BY_PATH, BY_NAME] {
        assert_eq!(found_in(page, root), Vec::<String>::new(), "{root}");
    }
}

#[test]
fn a_reference_to_a_file_that_is_not_there_is_a_warning() {
    for (page, expected) in [
        ("<a href='none.html'>", "missing_file index.html:1 none.html"),
        ("<a\nhref='none.html'>", "missing_file index.html:1 none.html"),
        ("\n\n<a href='docs/none?a#b'>", "missing_file index.html:3 docs/none"),
        ("<a href='about/'>", "missing_file index.html:1 about/"),
        ("<a href='img/'>", "missing_file index.html:1 img/"),
        ("<img src='&#110;one.png'>", "missing_file index.html:1 none.png"),
        ("<img src='img/n%C3%B6.png'>", "missing_file index.html:1 img/n%C3%B6.png"),
        ("<img src=img/logo.png srcset='none.png 2x'>", "missing_file index.html:1 none.png"),
        ("<picture><source srcset='none.webp'></picture>", "missing_file index.html:1 none.webp"),
        ("<link rel='STYLESHEET' href='none.css'>", "missing_file index.html:1 none.css"),
        ("<link rel='icon' href='none.ico'>", "missing_file index.html:1 none.ico"),
        ("<link rel='manifest' href='none.json'>", "missing_file index.html:1 none.json"),
        ("<link rel='preload' as='image' href='none.png'>", "missing_file index.html:1 none.png"),
        ("<link rel='modulepreload' href='none.js'>", "missing_file index.html:1 none.js"),
        ("<script src='none.js'></script>", "missing_file index.html:1 none.js"),
        ("<script>\n\nimport a from './none.js'</script>", "missing_file index.html:3 ./none.js"),
        (
            "<script type=importmap>{\"imports\": {\"a\": \"./none.js\"}}</script>",
            "missing_file index.html:1 ./none.js",
        ),
        ("<style>\np { background: url(none.png) }</style>", "missing_file index.html:2 none.png"),
        ("<p style='background: url(none.png)'>", "missing_file index.html:1 none.png"),
        ("<svg><use href='none.svg#a'/></svg>", "missing_file index.html:1 none.svg"),
        ("<iframe src='none.html'></iframe>", "missing_file index.html:1 none.html"),
        ("<video poster='none.jpg'></video>", "missing_file index.html:1 none.jpg"),
        ("<form action='none'></form>", "missing_file index.html:1 none"),
        ("<base href='docs/'><a href='about.html'>", "missing_file index.html:1 about.html"),
        ("<a href='about.html'><base href='docs/'>", "missing_file index.html:1 about.html"),
        ("<template><a href='a'></template><a href='none'>", "missing_file index.html:1 none"),
        ("<a href='none'><a href='none#a'>\n<a href='none'>", "missing_file index.html:1 none"),
    ] {
        for root in [BY_PATH, BY_NAME] {
            assert_eq!(found_in(page, root), [expected], "{page}");
        }
    }
    for page in [
        "<form action='none'></form><script src=js/app.js></script>",
        "<meta http-equiv=refresh content=30><meta http-equiv=refresh content='30; url='>",
        "<meta content='0; url=none'>",
        "<iframe srcdoc='<p>' src='none'></iframe>",
        "<form method=post action='none'></form>",
        "<form action='none' onsubmit='go()'></form>",
    ] {
        assert!(found_in(page, BY_PATH).is_empty(), "{page}: a browser does not load it");
    }
}

#[test]
fn uncommon_references_are_found_too() {
    for (page, expected) in [
        ("<base href='docs/x/'><a href='#top'>", "missing_file index.html:1"),
        ("<svg><a xlink:href='none'></a></svg>", "missing_file index.html:1 none"),
        ("<svg><script xlink:href='none.js'></script></svg>", "missing_file index.html:1 none.js"),
        ("<svg><feImage href='none.png'/></svg>", "missing_file index.html:1 none.png"),
        ("<link rel='alternate' href='none.xml'>", "missing_file index.html:1 none.xml"),
        ("<meta http-equiv='Refresh' content='5; URL = none'>", "missing_file index.html:1 none"),
        ("<meta http-equiv=refresh content=\"0;url='none'\">", "missing_file index.html:1 none"),
        ("<meta http-equiv=refresh content='0.5, none'>", "missing_file index.html:1 none"),
        (
            "<script type=importmap>{\"scopes\": {\"/\": {\"a\": \"./none.js\"}}}</script>",
            "missing_file index.html:1 ./none.js",
        ),
        (
            "<style>p { background: image-set('none.png' type('image/png') 1x) }</style>",
            "missing_file index.html:1 none.png",
        ),
        ("<style>p { background:\n  url(none.png) }</style>", "missing_file index.html:2 none.png"),
    ] {
        assert_eq!(found_in(page, BY_PATH), [expected], "{page}");
    }
}

#[test]
fn a_name_in_the_wrong_case_is_shown_with_the_right_one() {
    for (page, target, right) in [
        ("<img src='IMG/Logo.PNG'>", "IMG/Logo.PNG", "img/logo.png"),
        ("<a href='About'>", "About", "about.html"),
        ("<a href='Docs/'>", "Docs/", "docs/index.html"),
    ] {
        assert_eq!(found_in(page, BY_NAME), [format!("case_mismatch index.html:1 {target}")]);
        let files = [("index.html", page), ("img/logo.png", ""), ("about.html", ""), ("docs/index.html", "")];
        let warning = warnings(&files, BY_NAME).remove(0);
        assert!(warning.message.contains(right) && warning.hint.contains(right), "{warning:?}");
    }
    let files = [("index.html", ""), ("docs/a.html", "<img src='../IMG/a b.PNG'>"), ("img/a b.png", "")];
    assert!(warnings(&files, BY_NAME)[0].hint.starts_with("write ../img/a%20b.png: "));
}

#[test]
fn an_absolute_path_leaves_the_site_where_it_is_served_below_a_path() {
    for page in ["<img src='/img/logo.png'>", "<a href='/'>", "<a href='../'>", "<a href='../about.html'>"] {
        let target = page.split('\'').nth(1).unwrap();
        assert_eq!(found_in(page, BY_PATH), [format!("absolute_path index.html:1 {target}")]);
        assert!(found_in(page, BY_NAME).is_empty(), "{page}");
    }
    assert_eq!(found_in("<a href='/none'>", BY_NAME), ["missing_file index.html:1 /none"]);
    let files = [("index.html", ""), ("docs/a.html", "<img src='/img/logo.png'>"), ("img/logo.png", "")];
    let warning = warnings(&files, BY_PATH).remove(0);
    assert_eq!(warning.hint, "use a relative path, such as ../img/logo.png");
    assert_eq!(warning.message, "this leaves the site, which is served below /site/<host>/");
    for page in [
        "<a href='/site/my-page-a1b2/about'>",
        "<a href='/site/other-a1b2/'>",
        "<img src='http://127.0.0.1:8081/site/my-page-a1b2/img/logo.png'>",
    ] {
        assert!(found_in(page, BY_PATH).is_empty(), "{page}: the address of a site");
    }
    let page = "<img src='https://my-page-zz99.pages.example/x.png'>";
    assert!(found_in(page, BY_NAME).is_empty(), "it may be the address of this site");
}

#[test]
fn what_the_policy_blocks_is_a_warning() {
    for (page, target) in [
        ("<script src='https://x.example/a.js?key=1'></script>", "https://x.example/a.js"),
        ("<script src='https://user:pass@x.example/a.js'></script>", "https://x.example/a.js"),
        ("<script src='https://cdn.example:8443/a.js'></script>", "https://cdn.example:8443/a.js"),
        ("<script src='//img.example/a.js'></script>", "//img.example/a.js"),
        ("<script type=module>import 'https://x.example/a.js'</script>", "https://x.example/a.js"),
        ("<script>import('https://x.example/a.js')</script>", "https://x.example/a.js"),
        (
            "<script type=importmap>{\"imports\": {\"three\": \"https://x.example/three.js\"}}</script>",
            "https://x.example/three.js",
        ),
        ("<link rel=stylesheet href='https://cdn.example/a.css'>", "https://cdn.example/a.css"),
        ("<link rel=preload as=script href='https://x.example/a.js'>", "https://x.example/a.js"),
        ("<style>@import 'https://x.example/a.css';</style>", "https://x.example/a.css"),
        ("<style>p{background:url(https://x.example/a.png)}</style>", "https://x.example/a.png"),
        ("<style>@font-face{src:url('https://x.example/a.woff2')}</style>", "https://x.example/a.woff2"),
        ("<img src='https://cdn.example/a.png'>", "https://cdn.example/a.png"),
        ("<img srcset='https://x.example/a.png 2x'>", "https://x.example/a.png"),
        ("<video src='https://img.example/a.mp4'></video>", "https://img.example/a.mp4"),
        ("<iframe src='https://www.x.example/embed'></iframe>", "https://www.x.example/embed"),
        ("<object data='https://x.example/a.pdf'></object>", "https://x.example/a.pdf"),
        ("<base href='https://x.example/'><img src='a.png'>", "a.png"),
        ("<img src='https://other-a1b2.pages.example/a.png'>", "https://other-a1b2.pages.example/a.png"),
        ("<img src='//pages.example/a.png'>", "//pages.example/a.png"),
        ("<img src='//127.0.0.1:9000/a.png'>", "//127.0.0.1:9000/a.png"),
        ("<svg><script href='https://x.example/a.js'></script></svg>", "https://x.example/a.js"),
    ] {
        for root in [BY_PATH, BY_NAME] {
            assert_eq!(found_in(page, root), [format!("blocked_by_policy index.html:1 {target}")], "{page}");
        }
    }
    let hint_of = |page| warnings(&[("index.html", page)], BY_PATH).remove(0).hint;
    assert_eq!(
        hint_of("<script src='https://x.example/a.js'></script>"),
        "add the file to your site and link it by a relative path"
    );
    assert_eq!(hint_of("<iframe src='https://x.example/'></iframe>"), "link to it instead");
    assert_eq!(
        hint_of("<video src='https://x.example/a.mp4'></video>"),
        "add the file to your site and link it by a relative path"
    );
}

#[test]
fn an_unencrypted_resource_is_a_warning_on_an_encrypted_page_only() {
    let page = "<img src='http://img.example/a.png'><a href='http://img.example/'>";
    assert_eq!(found_in(page, BY_NAME), ["mixed_content index.html:1 http://img.example/a.png"]);
    assert!(found_in(page, BY_PATH).is_empty());
    let page = "<img src='http://x.example/a.png'>";
    assert_eq!(
        found_in(page, BY_NAME),
        [
            "blocked_by_policy index.html:1 http://x.example/a.png",
            "mixed_content index.html:1 http://x.example/a.png"
        ]
    );
}

#[test]
fn a_site_without_a_front_page_has_another_page_to_begin_with() {
    for (names, expected, entry) in [
        (&["report.html", "404.html"][..], &["no_index index.html report.html"][..], Some("report.html")),
        (&["dist/index.html"], &["no_index index.html dist/index.html"], Some("dist/index.html")),
        (&["b.html", "a.html"], &["no_index index.html"], Some("a.html")),
        (&["data.json"], &["no_index index.html"], Some("data.json")),
        (&["a.json", "b.json"], &["no_index index.html"], None),
        (&["index.html", "a.html"], &[], None),
        (&["index.HTML", "a.html"], &["no_index index.html"], Some("a.html")),
    ] {
        let files: Vec<_> = names.iter().map(|name| (*name, "")).collect();
        assert_eq!(found(&files, BY_PATH), expected, "{names:?}");
        let paths: Vec<SitePath> = names.iter().map(|name| name.parse().unwrap()).collect();
        assert_eq!(entry_page(&paths).as_ref().map(SitePath::as_str), entry, "{names:?}");
    }
    let files = [("report.html", "<a href='./'><a href='index.html'>")];
    assert_eq!(
        found(&files, BY_NAME),
        ["no_index index.html report.html", "missing_file report.html:1 index.html"],
        "the root is its only page"
    );
}

#[test]
fn configuration_of_other_services_and_large_images_are_warnings() {
    let image = "x".repeat(1_048_577);
    let files = [
        ("index.html", ""),
        ("_headers", ""),
        ("docs/_headers", ""),
        ("docs/.htaccess", ""),
        ("netlify.toml", ""),
        ("big.jpg", &image),
        ("big.mp4", &image),
        ("small.jpg", &image[1..]),
    ];
    assert_eq!(
        found(&files, BY_PATH),
        ["unused_config docs/.htaccess", "unused_config netlify.toml", "large_image big.jpg"]
    );
    assert_eq!(warnings(&files, BY_PATH)[2].message, "this image is 1.1 MB in size");
}

#[test]
fn a_style_sheet_is_read_as_browsers_read_it() {
    let css = r#"/* url(none.png) */ @import url("sub.css") screen; @namespace svg url(none);
        @media (min-width: 1px) { a { background: image-set(url(none1.png) 1x) } }
        @font-face { font-family: x; src: url(none2.woff2) format("woff2"), url(data:font/woff2;base64,AA) }
        a::after { content: "url(none.png)"; mask: url(#mask); background: url( 'deep/../none3.png' ) }"#;
    let files = [("index.html", ""), ("css/app.css", css), ("css/sub.css", "@import '../none.css';")];
    assert_eq!(
        found(&files, BY_PATH),
        [
            "missing_file css/app.css:2 none1.png",
            "missing_file css/app.css:3 none2.woff2",
            "missing_file css/app.css:4 deep/../none3.png",
            "missing_file css/sub.css:1 ../none.css",
        ]
    );
}

#[test]
fn the_imports_of_a_script_are_found_and_nothing_else() {
    let script = r#"// import "./none.js"
        import a, {b as c} from "./none1.js"; import * as d from'./none2.js'
        export * from "./none3.js"; export { a as default } from "./none4.js"
        const late = () => import("./none5.js"), later = import(`./none.js`), sum = import("./none" + a);
        import "bare"; import "@scope/bare"; import meta from "../js/ok.js";
        const text = 'import "./none.js"', re = /import ".\/none.js"/, half = a / b; import("./none6.js", {});
        const nested = `${ `import "./none.js"` + { a: "}" }.a } import "./none.js"`;
        object.import("./none.js"); import.meta.url; const from = { import: "./none.js" };
        /* import "./none.js" */ export { a }
        import "./none7.js""#;
    let files = [("index.html", ""), ("js/app.mjs", script), ("js/ok.js", "")];
    let expected = [(2, 1), (2, 2), (3, 3), (3, 4), (4, 5), (6, 6), (10, 7)];
    let expected = expected.map(|(line, name)| format!("missing_file js/app.mjs:{line} ./none{name}.js"));
    assert_eq!(found(&files, BY_PATH), expected);
}

#[test]
fn a_page_in_utf_16_is_read_too() {
    let page: Vec<u8> =
        "\u{feff}<img src='none.png'>".encode_utf16().flat_map(|unit| unit.to_le_bytes()).collect();
    let path = SitePath::index();
    let warnings = check([(&path, &page[..])], &terms(BY_PATH));
    assert_eq!(warnings[0].target.as_deref(), Some("none.png"));
}

#[test]
fn a_broken_file_is_read_as_far_as_possible() {
    for page in ["<", "<a", "<a href", "<a href='", "<script>", "<script>import", "<style>@import", "<!--"] {
        found_in(page, BY_PATH);
        found(&[("index.html", ""), ("a.js", page), ("a.css", page)], BY_PATH);
    }
    for script in ["import '\\", "`${", "`${`", "/[", "/\\", "'ü", "}`", "import(\"./a", "/*/", "//"] {
        found(&[("index.html", ""), ("a.js", script)], BY_PATH);
    }
}

#[test]
fn hostile_files_are_checked_within_bounds() {
    let files = [
        ("links", "<a href=none>"),
        ("deep", "<template>"),
        ("attributes", " a=b"),
        ("classes", "/["),
        ("blocks", "a{("),
        ("templates", "`${"),
        ("imports", "import('./a'+"),
        ("nulls", "\0"),
    ];
    for (name, unit) in files {
        let text = unit.repeat(2_000_000 / unit.len());
        let page = format!("<p{text}<script>{text}</script><style>{text}</style>{text}");
        let names = [("index.html", page.as_str()), ("a.js", &text), ("a.css", &text)];
        let begun = std::time::Instant::now();
        let warnings = warnings(&names, BY_PATH);
        println!("{name}: {:?}", begun.elapsed());
        assert!(warnings.len() <= Warning::COUNT_MAX, "{name}");
    }
}

#[test]
fn at_most_fifty_warnings_are_given() {
    let page: String = (0..60).map(|number| format!("<a href=none{number}>")).collect();
    assert_eq!(found_in(&page, BY_PATH).len(), Warning::COUNT_MAX);
}

#[test]
fn faulty_rules_are_reported_with_their_lines() {
    let files = [
        ("_headers", "/*\n  Set-Cookie: a=b\n  X-A: 1\n  Location: /x"),
        ("_redirects", "/a /index.html\n/b\n\n/c /none 200"),
        ("index.html", ""),
        ("sub/_redirects", "/b"),
    ];
    let expected = [
        "bad_config _redirects:2",
        "bad_config _headers:2",
        "bad_config _headers:4",
        "bad_config _redirects:4",
    ];
    assert_eq!(found(&files, BY_PATH), expected);
    let warning = &warnings(&files, BY_PATH)[1];
    assert_eq!(warning.message, "a site cannot set the header set-cookie");
    assert!(warning.hint.contains("X-Frame-Options"), "{warning:?}");
}

#[test]
fn references_that_rules_lead_on_are_not_missing() {
    let page = "<a href=old><a href=away/1><a href=gone><a href=app/any><a href=none>\n\
                <script src=app/none.js></script><img src=app/none.png><img src=img/old.png>\
                 <iframe src=app/f>";
    let rules = "/old /index.html\n/away/* https://a.example/:splat\n/gone /index.html 404\n\
                 /app/* /index.html 200\n/img/old.png /logo.png 200";
    let files = [("_redirects", rules), ("index.html", page), ("logo.png", "")];
    let expected = [
        "missing_file index.html:1 gone",
        "missing_file index.html:1 none",
        "missing_file index.html:2 app/none.js",
        "missing_file index.html:2 app/none.png",
    ];
    assert_eq!(found(&files, BY_PATH), expected);
}

#[test]
fn a_rule_may_stand_in_for_the_front_page() {
    for (rules, other, expected) in [
        ("/ https://a.example/ 302", "other.html", vec![]),
        ("/* /page.html 200", "other.html", vec![]),
        ("/a /page.html", "other.html", vec!["no_index index.html"]),
        // The only page takes precedence.
        ("/ https://a.example/ 302", "other.txt", vec!["no_index index.html page.html"]),
    ] {
        let files = [("_redirects", rules), ("page.html", ""), (other, "")];
        assert_eq!(found(&files, BY_PATH), expected, "{rules}");
    }
    assert_eq!(entry_page([&"_redirects".parse().unwrap()]), None);
    assert_eq!(
        entry_page([&"_redirects".parse().unwrap(), &"a.pdf".parse().unwrap()]).unwrap().as_str(),
        "a.pdf"
    );
}
