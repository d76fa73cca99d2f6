//! Spec 4.12: the edge in a browser. Private sites work as whole sites, and error pages fit the screen.

use std::time::Duration;

use handbill_tests::{
    Browser, Mode, PATIENCE, Scheme, Screen, Scripts, Value, World, eventually, json, program,
};

use crate::expectations::page_saying;
use crate::moderation::{SEED_PHRASE_FORM, becomes};

/// Its `A` is three times as wide as high, unlike in any other font: `AAA` at 20px takes 180px.
const FONT: &str = "\
    774f4632000100000000011c000a000000000264000000d400010000000000000000000000000000000000000000000006600034\
    0a18380136022403080b06000420055d07201bca01609e07b6b3950ec7d5a0978b3788a05ab69e9dfd440cee8d22283861016172\
    54d89396641c0a61a13ce84f1e00c23ef982e454c0ff6e701cd140b459b0c1621bfe80830d3ac26e633e3d81ab3a358e1765f73b\
    d2514902d85a8346938f265b4700802128482c488105d51055156846ebb50480022a02153d4005448dde4bb7f6755b0b0482cee6\
    67d769fffdcc5ff8c1170be37b395201c10b66fc0347eb96000094f80303e5f00085a7aa35014217018a9eae1475204c986c584c\
    590d7ad2c8a8a45df79eed7b706cc7b153cfae06fe640000";
/// 2 by 3 pixels, as PNG.
const IMAGE: &str = "\
    89504e470d0a1a0a0000000d4948445200000002000000030802000000368849d6000000104944415478da63506868002206140a\
    0044b506c10992018b0000000049454e44ae426082";

const FRONT: &str =
    "<!doctype html><html lang=\"en\"><head><title>Front</title><link rel=\"icon\" href=\"img/a.png\">
    <link rel=\"stylesheet\" href=\"css/app.css\"><script type=\"module\" src=\"js/app.js\"></script></head>
    <body><h1>AAA</h1><img src=\"img/a.png\" alt=\"\"><p id=\"said\"></p>
    <a id=\"on\" href=\"more/second.html\">On</a></body></html>";
const SECOND: &str = "<!doctype html><html lang=\"en\"><head><title>Second</title><link rel=\"icon\" href=\"../img/a.png\">
    <link rel=\"stylesheet\" href=\"../css/app.css\"><script type=\"module\" src=\"../js/app.js\"></script></head>
    <body><h1>AAA</h1><img src=\"../img/a.png\" alt=\"\"><p id=\"said\"></p>
    <a id=\"on\" href=\"../\">On</a></body></html>";
/// A style sheet that imports the one with the font, and uses an image.
const STYLE: &str = "@import 'type/face.css';
    h1 { display: inline-block; font: 20px Square; color: rgb(1, 2, 3); background: url(../img/b.png) }";
const FACE: &str = "@font-face { font-family: Square; src: url(../../fonts/square.woff2) }";
/// A script that imports another and fetches data.
const SCRIPT: &str = "import { sentence } from './words/sentence.js';
    const facts = await (await fetch(new URL('../data/facts.json', import.meta.url))).json();
    document.getElementById('said').textContent = sentence(facts.number);";
const SENTENCE: &str = "export const sentence = number => `The number is ${number}`;";

/// A page that a browser renders only if it is well-formed, also with the badge.
const XHTML: &str = "<?xml version=\"1.0\"?><!DOCTYPE html>
    <html xmlns=\"http://www.w3.org/1999/xhtml\"><head><title>Strict</title><script src=\"js/mark.js\"/></head>
    <body><p>1 &lt; 2<br/></p><form action=\"more/second.html\"><button id=\"on\">On</button></form></body></html>";

/// The files of a page, each by the end of its address.
const PARTS: [&str; 8] = [
    "css/app.css",
    "css/type/face.css",
    "data/facts.json",
    "fonts/square.woff2",
    "img/a.png",
    "img/b.png",
    "js/app.js",
    "js/words/sentence.js",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn private_site_is_fully_usable_by_its_signed_link() {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let signed_url = publish_privately(&world).await;
    assert!(signed_url.contains("/site/my-site-"), "{signed_url}");
    private_site_works(&signed_url).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn private_site_on_its_own_host_name_is_fully_usable_by_its_signed_link() {
    let setup = World::with(Mode::Embedded, program!()).env("HANDBILL_EDGE__URL_STYLE", "host");
    let world = setup.start().await;
    let signed_url = publish_privately(&world).await;
    assert!(signed_url.starts_with("http://my-site-") && signed_url.contains(".localhost:"), "{signed_url}");
    private_site_works(&signed_url).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn private_xhtml_page_stays_well_formed_and_its_form_keeps_the_signature() {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let signed_url = publish_privately(&world).await;
    let browser = Browser::start().await;
    browser.open(&signed_url.replace("?sig=", "strict.xhtml?sig=")).await;
    assert_eq!((browser.status().await, browser.title().await.as_str()), (200, "Strict"));
    let seen = "[document.contentType, document.getElementsByTagName('parsererror').length, window.mark,
        getComputedStyle(document.querySelector('body > [data-handbill-badge]')).position]";
    assert_eq!(browser.evaluate(seen).await, json!(["application/xhtml+xml", 0, "made", "fixed"]));
    browser.click("#on").await;
    eventually(PATIENCE, "Second", async || (browser.title().await == "Second").then_some(())).await;
    assert_whole(&browser, "Second").await;
}

/// The font `Square`.
pub fn font() -> Vec<u8> {
    hex(FONT)
}

/// Publishes the site, and returns its signed link.
async fn publish_privately(world: &World) -> String {
    let (font, image) = (font(), hex(IMAGE));
    let files: [(&str, &[u8]); 12] = [
        ("index.html", FRONT.as_bytes()),
        ("more/second.html", SECOND.as_bytes()),
        ("strict.xhtml", XHTML.as_bytes()),
        ("js/mark.js", b"window.mark = 'made'"),
        ("css/app.css", STYLE.as_bytes()),
        ("css/type/face.css", FACE.as_bytes()),
        ("fonts/square.woff2", &font),
        ("img/a.png", &image),
        ("img/b.png", &image),
        ("js/app.js", SCRIPT.as_bytes()),
        ("js/words/sentence.js", SENTENCE.as_bytes()),
        ("data/facts.json", b"{ \"number\": 7 }"),
    ];
    let agent = world.agent().await;
    agent.publish_files("my-site", &files).await.expect(201);
    let hidden = agent.set_visibility("my-site", "private").paying("dev:0.5").await.expect(200);
    hidden.string("signed_url")
}

async fn private_site_works(signed_url: &str) {
    let browser = Browser::start().await;
    let (url, _) = signed_url.split_once("?sig=").expect("a signature in the link");
    browser.open(url).await;
    assert_eq!((browser.status().await, browser.title().await.as_str()), (403, "This page is private"));
    browser.open(signed_url).await;
    assert_eq!(browser.status().await, 200);
    assert_whole(&browser, "Front").await;
    // To the second page and back, by relative links.
    for title in ["Second", "Front"] {
        browser.click("#on").await;
        eventually(PATIENCE, title, async || (browser.title().await == title).then_some(())).await;
        assert_whole(&browser, title).await;
    }
}

/// All files of the page are loaded and in use.
async fn assert_whole(browser: &Browser, title: &str) {
    let text = eventually(PATIENCE, "the script has run to its end", async || {
        let text = browser.evaluate("document.getElementById('said')?.textContent").await;
        text.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
    })
    .await;
    assert_eq!(text, "The number is 7");
    assert_eq!(browser.title().await, title);
    let faces = "document.fonts.ready.then(faces => [...faces].map(face => face.family + ' ' + face.status))";
    assert_eq!(browser.evaluate(faces).await, json!(["Square loaded"]));
    let shown = "[document.querySelector('h1').offsetWidth, document.querySelector('img').naturalWidth,
        getComputedStyle(document.querySelector('h1')).color]";
    assert_eq!(browser.evaluate(shown).await, json!([180, 2, "rgb(1, 2, 3)"]));
    let loaded = "performance.getEntriesByType('resource').map(part => [part.name, part.responseStatus])";
    let loaded: Vec<(String, u16)> = parts(&browser.evaluate(loaded).await);
    for part in PARTS {
        let found = loaded.iter().any(|(name, _)| name.split('?').next().unwrap().ends_with(part));
        assert!(found, "{part} was not loaded: {loaded:?}");
    }
    assert!(loaded.iter().all(|(_, status)| *status == 200), "{loaded:?}");
}

fn parts(reported: &Value) -> Vec<(String, u16)> {
    let reported = reported.as_array().expect("a list").iter();
    reported.map(|part| (part[0].as_str().unwrap().to_owned(), part[1].as_u64().unwrap() as u16)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn signature_or_signed_link_can_be_entered_on_the_page_of_a_private_site() {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let signed_url = publish_privately(&world).await;
    let (url, signature) = signed_url.split_once("?sig=").expect("a signature in the link");
    let browser = Browser::start().await;
    browser.open(url).await;
    browser.fill("#sig", "0123456789abcdef").await;
    browser.follow("button").await;
    assert_eq!(browser.status().await, 403);
    assert_eq!(browser.text("#fault").await, "This link is not valid for this page.");
    browser.glance("edge-403-wrong-signature").await;
    for entered in [signature, &signed_url] {
        browser.open(url).await;
        browser.fill("#sig", entered).await;
        browser.follow("button").await;
        assert_eq!((browser.status().await, browser.title().await.as_str()), (200, "Front"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn error_pages_of_closed_sites_fit_the_screen() {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let agent = world.agent().await;
    let page = agent.publish("my-page", page_saying("nobody sees this")).await.expect(201).string("url");
    let bad = agent.publish("bad-page", SEED_PHRASE_FORM).await.expect(201).string("url");
    becomes(&agent, "bad-page", "blocked").await;
    let browser = Browser::start().await;
    // These pages need no scripts.
    browser.with_scripts(Scripts::Refused).await;
    assert_closed(&browser, &bad, 451, "This page has been blocked").await;
    agent.set_visibility("my-page", "private").paying("dev:0.5").await.expect(200);
    assert_closed(&browser, &page, 403, "This page is private").await;
    let nowhere = format!("{}/site/no-such-page-0000/", world.serve_url());
    assert_closed(&browser, &nowhere, 404, "There is no page here").await;
    assert_closed(&browser, &world.serve_url(), 404, "This server publishes pages").await;
    world.advance(Duration::from_secs(31 * 60));
    assert_closed(&browser, &page, 410, "This page has expired").await;
}

/// The address responds with this status, and its page is readable on every screen.
async fn assert_closed(browser: &Browser, address: &str, status: u64, title: &str) {
    for (screen, scheme) in [
        (Screen::Desktop, Scheme::Light),
        (Screen::Desktop, Scheme::Dark),
        (Screen::Phone, Scheme::Light),
        (Screen::Phone, Scheme::Dark),
    ] {
        browser.show_on(screen).await;
        browser.prefer(scheme).await;
        browser.open(address).await;
        assert_eq!((browser.status().await, browser.title().await.as_str()), (status, title));
        let text = browser.evaluate("document.body.innerText").await.to_string();
        assert!(text.contains(title), "{text}");
        assert!(!text.contains("nobody sees this") && !text.contains("seed phrase"), "{text}");
        let fits = browser.evaluate("document.documentElement.scrollWidth <= innerWidth").await;
        assert_eq!(fits, json!(true), "{title} is wider than {screen:?}");
        let paper = brightness(browser, "backgroundColor").await;
        let ink = brightness(browser, "color").await;
        let is_right = if scheme == Scheme::Dark { paper + 500 < ink } else { ink + 500 < paper };
        assert!(is_right, "{title} on {scheme:?}: ink of {ink} on paper of {paper}");
    }
    // The face of the headings is loaded, although the policy of these pages allows nearly nothing.
    let faces = "document.fonts.ready.then(faces => [...faces].map(face => face.family + ' ' + face.status))";
    assert_eq!(browser.evaluate(faces).await, json!(["Caslon loaded"]), "{title}");
    browser.glance(&format!("edge-{status}-{}", title.to_lowercase().replace(' ', "-"))).await;
}

/// The brightness of a colour of the page: the sum of red, green and blue, 765 for white.
async fn brightness(browser: &Browser, property: &str) -> u32 {
    let color = browser.evaluate(&format!("getComputedStyle(document.body).{property}")).await;
    let color = color.as_str().expect("a colour").to_owned();
    let channels: Vec<u32> = color
        .trim_start_matches("rgb(")
        .trim_end_matches(')')
        .split(", ")
        .map(|channel| channel.parse().unwrap_or_else(|_| panic!("not an opaque colour: {color}")))
        .collect();
    channels.iter().sum()
}

fn hex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks_exact(2).map(|pair| std::str::from_utf8(pair).unwrap());
    digits.map(|pair| u8::from_str_radix(pair, 16).expect("two digits")).collect()
}
