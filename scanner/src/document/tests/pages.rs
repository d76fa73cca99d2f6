//! Whole pages, from text to tree.

use super::super::*;

/// Renders the elements with their attributes and texts as an outline on one line.
fn outline(document: &Document) -> String {
    let mut outline = String::new();
    document.walk(document.root(), |step| {
        match (step, document.content(step_node(step))) {
            (Step::Enter(_), Content::Text(text)) => outline.push_str(text),
            (Step::Enter(node), Content::Element { .. }) => {
                let element = document.element(node).unwrap();
                outline.push('(');
                outline.push_str(if element.is_html() { "" } else { "~" });
                outline.push_str(element.name());
                for (name, value) in element.attributes() {
                    outline.push_str(&format!(" {name}={value}"));
                }
                outline.push(':');
            }
            (Step::Leave(_), Content::Element { .. }) => outline.push(')'),
            _ => {}
        }
        Onward::Inside
    });
    outline
}

fn step_node(step: Step) -> NodeId {
    let (Step::Enter(node) | Step::Leave(node)) = step;
    node
}

fn body(html: &str) -> String {
    let outline = outline(&parse_html(html));
    let (_, body) = outline.split_once("(body").unwrap_or(("", &outline));
    body.trim_end_matches(')').trim_start_matches(':').to_owned()
}

#[test]
fn html_becomes_the_tree_that_browsers_make() {
    let cases = [
        ("text and a field", "<p>Hi<input name=a>", "(p:Hi(input name=a:"),
        ("entities", "&lt;b&gt; &#x41;&amp", "<b> A&"),
        ("an upper case field", "<INPUT NAME=A>", "(input name=A:"),
        ("formatting keeps its name", "<b>a<i>b</b>c</i>", "(b:a(i:b))c"),
        ("a comment", "a<!-- <input> -->b", "a)(:b"),
        ("a comment that ends at once", "<!--><input>-->", "(input:)-->"),
        ("a comment ended by a bang", "<!-- --!><input>-->", "(input:)-->"),
        ("plain text is text to the end", "<plaintext><input></plaintext>", "(plaintext:<input></plaintext>"),
        (
            "a sample is text",
            "<xmp><input></xmp><textarea><input></textarea>",
            "(xmp:<input>)(textarea:<input>",
        ),
        ("a template holds its content", "<template><input></template>", "(template:(input:"),
        ("a drawing's field is none", "<svg><input>", "(~svg:(~input:"),
        ("a page in a drawing", "<svg><foreignObject><input>", "(~svg:(~foreignObject:(input:"),
        ("formatting ends a drawing", "<svg><b><input>", "(~svg:)(span:)(b:(input:"),
        (
            "a font ends a drawing when it has a colour",
            "<svg><font color=red><input>",
            "(~svg:)(span:)(font color=red:(input:",
        ),
        ("and only then", "<svg><font><input>", "(~svg:(~font:(~input:"),
        ("CDATA in a drawing is text", "<svg><text><![CDATA[<input>]]></text>", "(~svg:(~text:<input>"),
        ("and a comment elsewhere", "<![CDATA[<p>]]>", "]]>"),
        ("null characters are not there", "<in\0put na\0me='see\0d'>", "(input name=seed:"),
    ];
    for (name, html, expected) in cases {
        let found = body(&format!("<body>{html}"));
        let expected = expected.replace(")(:", "").trim_end_matches([')', ':']).to_owned();
        let found = found.trim_end_matches([')', ':']);
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn frames_are_children_of_their_frameset() {
    let document = parse_html("<frameset><frame src=a.html><frame src=b.html></frameset>");
    assert_eq!(outline(&document), "(html:(head:)(frameset:(frame src=a.html:)(frame src=b.html:)))");
}

#[test]
fn raw_elements_end_where_browsers_end_them() {
    let flood = "x ".repeat(500);
    let cases = [
        ("a script", format!("<script>a</scriptx {flood}>b</script >"), format!("a</scriptx {flood}>b")),
        (
            "a script in an escaped script",
            format!("<script><!--<script></script {flood}>b</script>"),
            format!("<!--<script></script {flood}>b"),
        ),
        (
            "an escape that ends",
            "<script><!--<script>--></script><input>".to_owned(),
            "<!--<script>-->".to_owned(),
        ),
        ("an upper case end", "<script>a</SCRIPT\n><input>".to_owned(), "a".to_owned()),
        ("a style", format!("<style>a</script {flood}>b</style>"), format!("a</script {flood}>b")),
    ];
    for (name, html, expected) in cases {
        let document = parse_html(&html);
        let raw = document.nodes().find_map(|node| match document.content(node) {
            Content::Text(text) => Some(text.to_string()),
            _ => None,
        });
        assert_eq!(raw, Some(expected), "{name}");
    }
}

#[test]
fn attribute_floods_hide_no_relevant_attributes() {
    let flood: String = (0..5000).map(|n| format!("a{n}=\"x > y\" / ")).collect();
    let page = format!(
        "<p>{flood}<input {flood} TYPE='text' placeholder=\"Seed > phrase\" type=hidden name=seed>After"
    );
    let document = parse_html(&page);
    let field =
        document.nodes().filter_map(|node| document.element(node)).find(|it| it.name() == "input").unwrap();
    assert_eq!(field.text("type"), "text");
    assert_eq!(field.text("placeholder"), "Seed > phrase");
    assert_eq!(field.text("name"), "seed");
    assert_eq!(field.text("a63"), "x > y");
    assert!(!field.has("a4000"));
    assert!(outline(&document).ends_with("After)))"));
}

#[test]
fn flood_outside_of_tags_is_unchanged() {
    let flood: String = (0..300).map(|n| format!("w{n} ")).collect();
    let cases = [
        format!("<script>if (a<b {flood}) c()</script>"),
        format!("<textarea><b {flood}></textarea>"),
        format!("<p>a < b {flood}</p>"),
        format!("<p title='<b {flood}>'>"),
        format!("<svg><style><![CDATA[<b {flood}>]]></style></svg>"),
    ];
    for html in cases {
        assert!(outline(&parse_html(&html)).contains(flood.trim_end()), "{}", &html[..40]);
    }
}

#[test]
fn xml_is_read_with_its_namespaces() {
    let h = "http://www.w3.org/1999/xhtml";
    let cases = [
        (
            "a page",
            format!("<html xmlns='{h}'><body><input name='a'/>b</body></html>"),
            "(html:(body:(input name=a:)b))",
        ),
        (
            "prefixes",
            format!("<h:html xmlns:h='{h}'><h:input/><input/></h:html>"),
            "(html:(input:)(~input:))",
        ),
        (
            "a page in a drawing",
            format!(
                "<svg xmlns='http://www.w3.org/2000/svg'><foreignObject><input xmlns='{h}'/><input/></foreignObject></svg>"
            ),
            "(~svg:(~foreignObject:(input:)(~input:)))",
        ),
        ("CDATA is text", format!("<p xmlns='{h}'>a<![CDATA[<input/>]]>b</p>"), "(p:a<input/>b)"),
        ("names are case sensitive", format!("<p xmlns='{h}'><INPUT/></p>"), "(p:(INPUT:))"),
        ("titles close themselves", format!("<p xmlns='{h}'><title/><input/></p>"), "(p:(title:)(input:))"),
        ("a fault after the form", format!("<p xmlns='{h}'><input/></q><br>"), "(p:(input:)(br:))"),
        (
            "a prefix means what is nearest",
            format!("<a:p xmlns:a='{h}'><a:q xmlns:a='x'/><a:input/></a:p>"),
            "(p:(~q:)(input:))",
        ),
        (
            "a namespace told by an entity",
            format!("<!DOCTYPE p [<!ENTITY h '{h}'>]><p xmlns='&h;'/>"),
            "(p:)",
        ),
    ];
    for (name, xml, expected) in cases {
        assert_eq!(outline(&parse_xml(&xml)), expected, "{name}");
    }
}

#[test]
fn invalid_xml_is_parsed_as_html() {
    for text in ["<p>Hi<br><input name=a>", "<?xml version='1.0'?><form><input name=a>"] {
        assert!(outline(&parse_xml(text)).contains("(input name=a:"), "{text}");
    }
}

#[test]
fn document_entities_are_expanded() {
    let page = |subset: &str, body: &str| {
        let xml =
            format!("<!DOCTYPE html [{subset}]><html xmlns='http://www.w3.org/1999/xhtml'>{body}</html>");
        outline(&parse_xml(&xml))
    };
    let cases = [
        ("markup", "<!ENTITY f '<input/>'>", "&f;", "(input:)"),
        ("characters that make markup", "<!ENTITY f '&#60;input/&#x3e;'>", "&f;", "(input:)"),
        ("one in another", "<!ENTITY a '<i&b;/>'><!ENTITY b \"nput\">", "&a;", "(input:)"),
        ("brackets and quotes that are none", "<!-- ]' --><?x don't?><!ENTITY f ']<p/>'>", "&f;", "](p:)"),
        ("the first of two counts", "<!ENTITY f 'a'><!ENTITY f 'b'>", "&f;&amp;", "a&"),
    ];
    for (name, subset, body, expected) in cases {
        assert_eq!(page(subset, body), format!("(html:{expected})"), "{name}");
    }
}

#[test]
fn text_below_joins_inline_text_and_separates_blocks() {
    let html = "<body><p>se<b>ed</b> <i>phr</i>ase</p><p>two</p><script>x</script><template>y</template><noscript>z</noscript>three";
    let document = parse_html(html);
    assert_eq!(document.text_below(document.root(), 1000), "seed phrase two three");
    assert_eq!(document.text_below(document.root(), 7), "seed ph");
    assert_eq!(document.text_below(document.root(), 0), "");
}

#[test]
fn tree_walk_skips_nodes_on_request() {
    let document = parse_html("<div><p>a</p></div><p>b</p>");
    let div =
        document.nodes().find(|node| document.element(*node).is_some_and(|it| it.name() == "div")).unwrap();
    let mut steps = 0;
    document.walk(div, |_| {
        steps += 1;
        Onward::Inside
    });
    assert_eq!(steps, 6);
    let mut text = String::new();
    document.walk(document.root(), |step| {
        if let Content::Text(more) = document.content(step_node(step))
            && matches!(step, Step::Enter(_))
        {
            text.push_str(more);
        }
        if step == Step::Enter(div) { Onward::Past } else { Onward::Inside }
    });
    assert_eq!(text, "b");
}
