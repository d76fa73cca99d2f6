//! Broken sites. Their pages are reachable from the front page, so that a crawler finds them.

/// The files of a site, and the differences between its warnings and what others find in it.
pub struct Site {
    pub name: &'static str,
    pub files: &'static [(&'static str, &'static str)],
    /// The `<base href>` of a page.
    pub bases: &'static [(&'static str, &'static str)],
    /// What others take for broken, and the warnings leave out: the file, and its reference.
    pub not_warned: &'static [(&'static str, &'static str)],
    /// What is warned about, although neither of the two loads it.
    pub only_warned: &'static [(&'static str, &'static str)],
}

pub const SITES: &[Site] = &[
    Site {
        name: "missing-files",
        files: &[
            (
                "index.html",
                r#"<!doctype html><html lang="en"><head><title>x</title>
<link rel="stylesheet" href="no/style.css"><link rel="icon" href="no/icon.png">
<link rel="apple-touch-icon" href="no/touch.png"><link rel="manifest" href="no/app.webmanifest">
<link rel="preload" as="image" href="no/preload.png"><link rel="prefetch" href="no/prefetch.html">
<link rel="alternate" type="application/rss+xml" href="no/feed.xml"><link rel="next" href="no/next.html">
<script src="no/script.js"></script></head><body>
<a href="no/link.html">a</a><a href="no/folder/">a</a><a href="here.html">a</a><a href="here">a</a>
<img src="no/image.png" alt=""><iframe src="no/frame.html"></iframe><audio src="no/sound.mp3"></audio>
<video src="no/film.mp4" poster="no/poster.jpg"><track src="no/text.vtt"></video>
<video><source src="no/film.webm"></video><object data="no/object.pdf"></object><embed src="no/embed.svg">
<input type="image" src="no/input.png" alt="x"><map name="m"><area href="no/area.html" alt="x"></map>
<picture><source srcset="no/small.webp 1x, no/large.webp 2x"><img src="dot.svg" alt=""></picture>
<img srcset="no/a.png 480w,no/b.png 960w" sizes="50vw" src="dot.svg" alt="">
</body></html>"#,
            ),
            (
                "here.html",
                "<!doctype html><title>x</title><a href='./'>back</a>
<a href='no/second.html'>a</a>",
            ),
            ("dot.svg", DOT),
        ],
        ..NONE
    },
    Site {
        name: "wrong-case",
        files: &[
            (
                "index.html",
                "<!doctype html><title>x</title><link rel=stylesheet href=CSS/App.css>
<img src='IMG/Logo.SVG' alt=''><a href=About>a</a><a href=Docs/>a</a><a href='docs/INDEX.html'>a</a>
<a href=docs>a</a><a href=docs/>a</a><a href=about>a</a><a href=about.HTML>a</a>",
            ),
            ("about.html", "<!doctype html><title>x</title>"),
            ("docs/index.html", "<!doctype html><title>x</title><img src=../img/logo.SVG alt=''>"),
            ("css/app.css", ""),
            ("img/logo.svg", DOT),
        ],
        ..NONE
    },
    Site {
        name: "absolute-paths",
        files: &[
            (
                "index.html",
                "<!doctype html><title>x</title><link rel=stylesheet href=/css/app.css>
<img src=/img/logo.svg alt=''><a href=/>a</a><a href=/about>a</a><a href=../>a</a><a href=../about.html>a</a>
<a href=../../about.html>a</a><a href=./css/../about.html>a</a><script src=/js/app.js></script>",
            ),
            (
                "about.html",
                "<!doctype html><title>x</title>
<style>body{background:url(/img/logo.svg)}</style>",
            ),
            ("css/app.css", ""),
            ("img/logo.svg", DOT),
            ("js/app.js", ""),
        ],
        ..NONE
    },
    Site {
        name: "style-sheets",
        files: &[
            (
                "index.html",
                r#"<!doctype html><html lang="en"><head><title>x</title>
<link rel="stylesheet" href="css/app.css"><style>@import "css/none1.css"; @import url(css/two.css) screen;
h1 { background: url("no/inline.png") }</style></head>
<body style="background: url(&quot;no/attribute.png&quot;)"><h1>Text</h1><h2>Text</h2><h3>Text</h3></body>
</html>"#,
            ),
            (
                "css/app.css",
                "@charset \"utf-8\"; /* url(comment.png) */ @import url('deep/none2.css');
@font-face { font-family: None; src: url(none.woff2) format('woff2'), url('none.woff') format('woff') }
h1 { font-family: None; list-style: url( \"../no/list.png\" ) } h3::after { content: url(none3.png) }
@media print { h1 { background: url(none4.png) } } @media (min-width: 1px) { h3 { background:
url(none5.png?v=1#a) } }
.never { background: url(none6.png) }",
            ),
            (
                "css/two.css",
                "h2 { background: url(../dot.svg), url(none7.png); border-image: url(NONE8.png)
1 }",
            ),
            ("dot.svg", DOT),
        ],
        ..NONE
    },
    Site {
        name: "image-sets",
        files: &[
            (
                "index.html",
                "<!doctype html><title>x</title><link rel=stylesheet href=app.css><h1>Text</h1><h2>Text</h2>",
            ),
            (
                "app.css",
                "h1 { background: image-set('none1.png' 1x, 'none2.png' 2x) }
h2 { background: -webkit-image-set(url(none3.png) 1x) }",
            ),
        ],
        // The browser needs only the image for its own resolution, and linkinator reads only `url()`.
        only_warned: &[("app.css", "none2.png")],
        ..NONE
    },
    Site {
        name: "modules",
        files: &[
            (
                "index.html",
                r#"<!doctype html><html lang="en"><head><title>x</title>
<script type="importmap">{"imports": {"mapped": "./js/none1.js", "fine": "./js/fine.js"},
"scopes": {"./js/": {"scoped": "./js/none2.js"}}}</script>
<link rel="modulepreload" href="js/none3.js"><script type="module" src="js/app.js"></script>
<script type="module">import "./js/none4.js";</script><script type="module">import "mapped"</script>
<script>import("./js/none5.js").catch(() => {}); const text = 'import "./js/never.js"';</script>
<script src="js/classic.js"></script></head></html>"#,
            ),
            (
                "js/app.js",
                "// import './never.js'\nimport './fine.js';\nimport('scoped').catch(() => {});
import('./none6.js').catch(() => {}); import('./deep.js').catch(() => {})",
            ),
            ("js/deep.js", "export * from './none7.js'; export { a as b } from '../none8.js'"),
            ("js/classic.js", "import('./none9.js').catch(() => {}); /import '.\\/never.js'/.test('')"),
            ("js/fine.js", "export const a = 1"),
        ],
        ..NONE
    },
    Site {
        name: "vector-images",
        files: &[(
            "index.html",
            r##"<!doctype html><html lang="en"><title>x</title><body>
<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><image href="no/a.png" width="5" height="5"/>
<image xlink:href="no/b.png" width="5" height="5"/><use href="no/icons.svg#a"/>
<use xlink:href="no/more.svg#a"/>
<use href="#own"/><g id="own" fill="url(#paint)"/><a href="no/link.html"><text>a</text></a>
<a xlink:href="no/xlink.html"><text>a</text></a><script href="no/script.js"></script>
<script xlink:href="no/xscript.js"></script>
<filter id="f"><feImage href="no/filter.png"/></filter><rect width="5" height="5" filter="url(#f)"/></svg>
</body></html>"##,
        )],
        // linkinator does not know this attribute.
        only_warned: &[("index.html", "no/xlink.html")],
        ..NONE
    },
    Site {
        name: "bases",
        files: &[
            (
                "index.html",
                "<!doctype html><html><head><title>x</title><base href=docs/><base href=no/></head>
<a href=page.html>a</a><a href=index.html>a</a><a href=../index.html>a</a><img src=none.png alt=''>
<a href='#x'>a</a>
<style>h1{background:url(none2.png)}</style><h1>Text</h1>
<script>import('./none.js').catch(() => {})</script>",
            ),
            (
                "docs/page.html",
                "<!doctype html><title>x</title><base href='../'>
<a href=docs/none.html>a</a>",
            ),
        ],
        bases: &[("index.html", "docs/"), ("docs/page.html", "../")],
        ..NONE
    },
    Site {
        name: "queries",
        files: &[
            (
                "index.html",
                "<!doctype html><title>x</title><a href='?a=1'>a</a><a href='#b'>a</a><a href=''>a</a>
<a href='about?a=1#b'>a</a><a href='about.html#none'>a</a><a href='none?a=1#b'>a</a><a href='docs?x'>a</a>
<img src='dot.svg?v=3' alt=''><img src='none.svg?v=3#a' alt=''><a href='docs/?q=/../none'>a</a>",
            ),
            ("about.html", "<!doctype html><title>x</title>"),
            ("docs/index.html", "<!doctype html><title>x</title>"),
            ("dot.svg", DOT),
        ],
        ..NONE
    },
    Site {
        name: "encoded",
        files: &[
            (
                "index.html",
                "<!doctype html><title>x</title><img src='a b.svg' alt=''><img src=a%20b.svg alt=''>
<img src='a+b.svg' alt=''><img src='a%2Bb.svg' alt=''><img src='a%2520b.svg' alt=''>
<img src='c%25d.svg' alt=''>
<img src='c%d.svg' alt=''><img src='img%2Fe.svg' alt=''><img src='img\\e.svg' alt=''>
<img src='img%5Ce.svg' alt=''>
<img src='%61%20b.svg' alt=''><img src='no%20ne.svg' alt=''><img src='f&amp;g.svg' alt=''>
<img src='f&g.svg' alt=''>
<img src='f&amp;amp;g.svg' alt=''><img src='%FF.svg' alt=''><img src='img/./../img//e.svg' alt=''>
<img src='img/%2e%2e/a%20b.svg' alt=''><img src=' a\tb.svg\n' alt=''><img src='ab.svg%00' alt=''>",
            ),
            ("a b.svg", DOT),
            ("ab.svg", DOT),
            ("c%d.svg", DOT),
            ("f&g.svg", DOT),
            ("img/e.svg", DOT),
        ],
        ..NONE
    },
    Site {
        name: "unicode",
        files: &[
            (
                "index.html",
                "<!doctype html><meta charset=utf-8><title>x</title><a href=grün/日本.html>a</a>
<a href=gr%C3%BCn/%E6%97%A5%E6%9C%AC>a</a><a href=gru\u{308}n/日本.html>a</a><a href='grün/'>a</a>
<a href=gr%FCn/日本.html>a</a><a href='GRÜN/日本.html'>a</a><img src=😀.svg alt=''><img src=😁.svg alt=''>",
            ),
            (
                "grün/日本.html",
                "<!doctype html><meta charset=utf-8><title>x</title>
<img src='../größe.png' alt=''>",
            ),
            ("😀.svg", DOT),
        ],
        ..NONE
    },
    Site {
        name: "quirks",
        files: &[(
            "index.html",
            r#"<!DOCTYPE html><HTML><HEAD><TITLE><a href="never1.html"></TITLE>
<meta http-equiv="refresh" content="3600; url=none1.html">
<META HTTP-EQUIV=Refresh CONTENT="3600;URL='none2.html'">
<LINK REL="Shortcut Icon" HREF=none.ico></HEAD><BODY BACKGROUND=none3.png><!-- <a href="never2.html"> -->
<A HREF=none4.html HREF=never3.html>a</A><IMG SRC
=
none5.png ALT=""><textarea><img src="never4.png"></textarea><a href="none6.html">a<script>
document.title = '<img src="never5.png">'</script>
<a href="javascript:void 0">a</a><a href="mailto:a@example.test">a</a>
<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" alt="">
<table><tr><td background="none7.png">x</table><template><img src="none8.png" alt=""></template>
<noscript><img src="none9.png" alt=""></noscript><iframe srcdoc="<p>x" src="none10.html"></iframe>
<a href="none11.html" download>a</a><a href="&#110;one12.html">a</a><img src="{{ image }}" alt="">
<blockquote cite="none13.html">x</blockquote><q cite="none14.html">x</q></BODY></HTML>"#,
        )],
        not_warned: &[
            // A script decides what becomes of a template.
            ("index.html", "none8.png"),
            // Visitors have scripts.
            ("index.html", "none9.png"),
            // A frame with a document of its own does not load another.
            ("index.html", "none10.html"),
            // A script or a server replaces it.
            ("index.html", "{{ image }}"),
            // Browsers do not show it.
            ("index.html", "none13.html"),
            ("index.html", "none14.html"),
        ],
        ..NONE
    },
    Site {
        name: "folders",
        files: &[
            (
                "build/report.html",
                "<!doctype html><title>x</title><a href=../>a</a><a href=./>a</a><a href=report>a</a>
<a href=../none>a</a>
<img src=../img/none.png alt=''><img src=/build/dot.svg alt=''><img src=dot.svg alt=''>",
            ),
            ("build/dot.svg", DOT),
        ],
        ..NONE
    },
    Site {
        name: "hosts",
        files: &[
            (
                "index.html",
                r#"<!doctype html><html lang="en"><head><title>x</title><meta name="a" content="b">
<link rel="stylesheet" href="https://style.example.test/a.css"><link rel="stylesheet" href="css/app.css">
<link rel="stylesheet" href="https://fonts.googleapis.com.example.test/css">
<link rel="preconnect" href="https://connect.example.test">
<link rel="preload" as="script" href="https://preload.example.test/a.js">
<link rel="modulepreload" href="https://modulepreload.example.test/a.js">
<script src="https://script.example.test/a.js?key=1"></script><script src="//relative.example.test/a.js">
</script>
<script src="https://allowed.example.test:8443/a.js"></script>
<script src="https://sub.allowed.example.test/a.js"></script>
<script src="https://ALLOWED.example.test/a.js"></script>
<script type="module">import "https://module.example.test/a.js"</script>
<script>import("https://late.example.test/a.js").catch(() => {})</script>
<style>@import "https://import.example.test/a.css"; @font-face { font-family: Blocked; src:
url(https://font.example.test/a.woff2) }
body { font-family: Blocked }</style></head>
<body style="background: url(https://attribute.example.test/a.png)"><h1>Text</h1>
<img src="https://image.example.test/a.png" alt=""><img srcset="https://set.example.test/a.png 1x" alt="">
<img src="https://user:secret@credentials.example.test/a.png" alt="">
<img src="https://image.allowed.example.test/a.png" alt="">
<img src="http://plain.example.test/a.png" alt=""><img src="https://allowed.example.test/a.png" alt="">
<input type="image" src="https://input.example.test/a.png" alt="x"><svg>
<image href="https://svg.example.test/a.png" width="5" height="5"/></svg>
<video src="https://video.example.test/a.mp4" poster="https://poster.example.test/a.png"></video>
<audio><source src="https://audio.example.test/a.mp3"></audio><iframe src="https://frame.example.test/">
</iframe>
<iframe src="https://frame.allowed.example.test/"></iframe><object data="https://object.example.test/a.pdf">
</object>
<embed src="https://embed.example.test/a.pdf"><a href="https://link.example.test/">a</a>
<a href="deep/more.html">a</a>
<form action="https://form.example.test/"></form></body></html>"#,
            ),
            (
                "deep/more.html",
                r#"<!doctype html><base href="https://base.example.test/x/"><title>x</title>
<img src="a.png" alt="">
<svg><script href="https://svgscript.example.test/a.js"></script></svg>
<script type="module" src="http://127.0.0.1:9/a.js"></script>
<table background="https://table.example.test/a.png"><tr><td>x</table>"#,
            ),
            (
                "css/app.css",
                "@import url(https://nested.example.test/a.css); h1 { background:
url(https://sheet.example.test/a.png) }
h1::after { content: image-set('https://imageset.example.test/a.png' 1x) } h1 { cursor:
url(//cursor.example.test/a.cur), auto }",
            ),
        ],
        bases: &[("deep/more.html", "https://base.example.test/x/")],
        ..NONE
    },
    Site {
        name: "in-order",
        files: &[
            (
                "index.html",
                "<!doctype html><html lang=en><head><title>x</title><link rel=icon href=img/dot.svg>
<link rel=stylesheet href=css/app.css?v=1><script type=module src=./js/app.js></script></head><body>
<a href=about>a</a><a href=docs/>a</a><a href=docs>a</a><img src=img/dot.svg srcset='img/dot.svg 2x' alt=''>
</body></html>",
            ),
            ("about.html", "<!doctype html><title>x</title><a href='.'>a</a><a href=docs/index.html>a</a>"),
            (
                "docs/index.html",
                "<!doctype html><title>x</title><a href=..>a</a><a href=../about#a>a</a>
<a href=./>a</a>",
            ),
            ("css/app.css", "body { background: url(../img/dot.svg) }"),
            ("img/dot.svg", DOT),
            ("js/app.js", "import './more.js'"),
            ("js/more.js", ""),
        ],
        ..NONE
    },
];

const DOT: &str =
    "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><rect width='9' height='9'/></svg>";

const NONE: Site = Site { name: "", files: &[], bases: &[], not_warned: &[], only_warned: &[] };
