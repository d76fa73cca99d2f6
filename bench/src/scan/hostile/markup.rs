//! Floods of elements, and inside of one tag.

use super::{ASK, Files, Flood, HALF_BYTES, SIZE_BYTES, built, file, filled, index, page};

const SVG: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\">";

pub fn elements() -> Vec<Flood> {
    vec![
        page("elements in elements", "", "<div>", ASK),
        page("elements beside each other", "", "<p>text</p>", ASK),
        page("formatting left open", "", "<b><i><u>", ASK),
        page("formatting closed in the wrong order", "", "<b><p></b>", ASK),
        page("formatting around blocks", "", "<a href=x><div><b></a></div>", ASK),
        page("tables in cells", "", "<table><tr><td>", ASK),
        page("text where a table has none", "<table>", "x<tr>", ASK),
        page("list items left open", "", "<li><p>", ASK),
        page("ends of what never began", "", "</p></br></x></b>", ASK),
        page("options", "<select>", "<option><optgroup>", ASK),
        page("templates in templates", "", "<template>", ASK),
        page("foreign elements", "", "<svg><foreignObject><math><mi>", ASK),
        page("comments", "", "<!-- a --><!>", ASK),
        page("character references", "", "&amp;&notin;&#x41;&bogus&#", ASK),
        page("bodies that add attributes", "", "<body a{n}=1><html b{n}=1>", ASK),
        page("fields", "", "<input type=password name=p{n} placeholder=\"PIN {n}\">", ASK),
        page("fields in one line of text", "", "word <input> ", ASK),
        page("fields between short words", "<p>", "var v{n}='<input>'+v;", ASK),
        page("fields in elements that nobody knows", "", "<x-label>Card number<input id=a{n}>", ASK),
        page("fields in labels left open", "", "<label for=a{n}>Card number<input id=a{n}>", ASK),
        page("fields with labels", "", "<label for=f{n}>Number {n}</label><input id=f{n}>", ASK),
        page("fields and labels of one name", "", "<label for=a>Number</label><input id=a>", ASK),
        page("fields in boxes of their own", "", "<div><input name=a{n}><i>Number</i></div>", ASK),
        page("single words to fill in", "", "<li>{n}.<input maxlength=12>", ASK),
        page("forms", "", "<form><p>Card number<input><p>PIN<input type=password></form>", ASK),
        page("places to write in", "", "<div contenteditable>", ASK),
        page("samples", "", "<xmp><input></xmp><noscript><input></noscript><textarea></textarea>", ASK),
        page("shadow roots", "", "<div><template shadowrootmode=open><slot></slot></template>", ASK),
        page("frames with documents", "", "<iframe srcdoc=\"<input type=password>\"></iframe>", ASK),
        page("frames with data addresses", "", "<iframe src=\"data:text/html,<input>\"></iframe>", ASK),
        built("frames in frames", frames_in_frames),
        built("one long label for every field", label_for_all),
        file("elements in XML", "index.xhtml", "<g xmlns=\"http://www.w3.org/1999/xhtml\">"),
        built("entities that multiply in XML", entities_that_multiply),
        built("UTF-16", utf_16),
        file("no markup, in a page", "index.html", "\u{0}\u{1}\u{ff}\u{fe}"),
    ]
}

pub fn attributes() -> Vec<Flood> {
    vec![
        page("attributes of one tag", "<input ", "a{n}=1 ", "><p>"),
        page("one attribute, again and again", "<input ", "a=1 ", "><p>"),
        page("one value", "<input placeholder=\"", "seed words ", "\">"),
        page("a tag without an end", "<input ", "<a b='", ""),
        page("names of classes", "<style>.c1.c2.c3 p{color:red}</style><div class=\"", "c{n} ", "\"><p>"),
        page(
            "labels of two elements",
            "<b id=a>Number</b><b id=b>of things</b>",
            "<i id=i{n}>x</i><input aria-labelledby=\"a i{n}\">",
            "<p>",
        ),
        page("elements that nobody knows", "", "<unknown{n}>a</unknown{n}>", ASK),
        page("attributes that nobody knows", "", "<b unknown{n}>", ASK),
        page("values that elements hold", "", "<b data-a{n}='0123456789abcdef'></b>", ASK),
        page(
            "forms that elements hold",
            "",
            "<b data-a='[{\"type\":\"tel\",\"label\":\"PIN {n}\"}]'></b>",
            ASK,
        ),
        page("ids that a field refers to", "<p id=i1>x</p><input aria-labelledby=\"", "i{n} ", "\"><p>"),
        page("styles of elements", "", "<p style=\"color:red;display:none;opacity:0;left:-999px\">x", ASK),
        page("declarations of one element", "<p style=\"", "color:#{n};", "\">x"),
        built("tags of two hundred attributes", tags_of_many_attributes),
    ]
}

fn frames_in_frames() -> Files {
    let mut inner = ASK.to_owned();
    loop {
        let escaped = inner.replace('&', "&amp;").replace('"', "&quot;");
        if escaped.len() > SIZE_BYTES * 95 / 100 {
            break;
        }
        // A few levels with much text, because each level is decoded and parsed again.
        inner = format!("<iframe srcdoc=\"{escaped}\"></iframe><p>{}</p>", "words ".repeat(SIZE_BYTES / 200));
    }
    let missing = (SIZE_BYTES * 99 / 100).saturating_sub(inner.len());
    index(&[&inner, &"words ".repeat(missing / 6)])
}

fn label_for_all() -> Files {
    let label = filled("word{n} ", HALF_BYTES);
    index(&["<p id=all>", &label, "</p>", &filled("<input aria-labelledby=\"all all\">", HALF_BYTES)])
}

fn entities_that_multiply() -> Files {
    let entities = filled("<!ENTITY e{n} \"&e{m};&e{m};&e{m};&e{m};\">", HALF_BYTES);
    let uses = filled("&e{n};", HALF_BYTES);
    let text =
        ["<?xml version=\"1.0\"?><!DOCTYPE svg [<!ENTITY e0 \"x\">", &entities, "]>", SVG, &uses, "</svg>"];
    vec![("index.svg".to_owned(), text.concat().into_bytes())]
}

fn utf_16() -> Files {
    let text = ["\u{feff}", &filled("<p>Enter {n}<input>", HALF_BYTES), ASK].concat();
    vec![("index.html".to_owned(), text.encode_utf16().flat_map(u16::to_le_bytes).collect())]
}

fn tags_of_many_attributes() -> Files {
    let tag = ["<p ", &filled("a{n}=1 ", 1_600), ">"].concat();
    index(&[&tag.repeat((SIZE_BYTES - ASK.len()) / tag.len()), ASK])
}
