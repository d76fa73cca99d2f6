//! Our own Markdown as HTML. HTML in the text is shown as text.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd, html};

use super::super::reference::anchor;

/// A text with its title, its parts and its HTML.
#[derive(Debug, Default)]
pub struct Article {
    pub title: String,
    /// The text of the first paragraph.
    pub lead: String,
    pub parts: Vec<Part>,
    /// Everything except the title.
    pub html: String,
}

/// A section of an article.
#[derive(Debug, PartialEq, Eq)]
pub struct Part {
    /// Unique in the article.
    pub id: String,
    pub title: String,
    pub text: String,
}

impl Article {
    pub fn of(markdown: &str) -> Self {
        let (mut article, mut written, mut codes) = (Self::default(), Vec::new(), 0);
        let mut events = events(markdown).into_iter();
        while let Some(event) = events.next() {
            match event {
                Event::Start(Tag::Heading { level, .. }) => {
                    let title =
                        take_text(&mut events, |event| matches!(event, Event::End(TagEnd::Heading(_))));
                    if article.title.is_empty() {
                        article.title = title;
                    } else {
                        written.push(article.heading(level as usize, title));
                    }
                }
                Event::Start(Tag::CodeBlock(kind)) => {
                    codes += 1;
                    let code = take_text(&mut events, |event| matches!(event, Event::End(TagEnd::CodeBlock)));
                    article.note(&code);
                    written.push(code_block(&kind, &code, codes));
                }
                event => {
                    article.note_event(&event);
                    written.push(event);
                }
            }
        }
        html::push_html(&mut article.html, written.into_iter());
        article
    }

    /// A heading with its id.
    fn heading(&mut self, level: usize, title: String) -> Event<'static> {
        let name = anchor(&title);
        let others = self.parts.iter().filter(|part| part.id == name).count();
        let id = if others == 0 { name } else { format!("{name}-{}", others + 1) };
        let html = format!("<h{level} id=\"{id}\">{}</h{level}>\n", escaped(&title));
        self.parts.push(Part { id, title, text: String::new() });
        Event::Html(html.into())
    }

    fn note_event(&mut self, event: &Event<'_>) {
        match event {
            Event::Text(text) | Event::Code(text) => self.note(text),
            // Words of different blocks do not join.
            Event::SoftBreak | Event::HardBreak | Event::End(_) => self.note(" "),
            _ => {}
        }
    }

    fn note(&mut self, text: &str) {
        match self.parts.last_mut() {
            Some(part) => part.text.push_str(text),
            None => self.lead.push_str(text),
        }
    }
}

/// The HTML of a text without headings.
pub fn block(markdown: &str) -> String {
    let mut text = String::new();
    html::push_html(&mut text, events(markdown).into_iter());
    text
}

/// The HTML of a text within a line.
pub fn inline(markdown: &str) -> String {
    let text = block(markdown);
    let only = text.trim_end().strip_prefix("<p>").and_then(|rest| rest.strip_suffix("</p>"));
    only.filter(|line| !line.contains("<p>")).map_or(text.clone(), str::to_owned)
}

fn events(markdown: &str) -> Vec<Event<'_>> {
    let as_text = |event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        event => event,
    };
    Parser::new_ext(markdown, Options::ENABLE_TABLES).map(as_text).collect()
}

/// The text up to an event.
fn take_text<'a>(events: impl Iterator<Item = Event<'a>>, is_end: fn(&Event<'a>) -> bool) -> String {
    let inner = events.take_while(|event| !is_end(event));
    inner
        .filter_map(|event| match event {
            Event::Text(text) | Event::Code(text) => Some(text.into_string()),
            _ => None,
        })
        .collect()
}

/// A block of code. Commands get a button that copies them.
fn code_block(kind: &CodeBlockKind<'_>, code: &str, number: usize) -> Event<'static> {
    let block = format!("<pre id=\"code-{number}\"><code>{}</code></pre>", escaped(code.trim_end()));
    let is_command = matches!(kind, CodeBlockKind::Fenced(language) if &**language == "sh");
    let button = if is_command { copy_button(number) } else { String::new() };
    Event::Html(format!("<div class=\"copy\">\n{block}\n{button}</div>\n").into())
}

fn copy_button(number: usize) -> String {
    format!(
        "<button type=\"button\" class=\"second small\" data-copy=\"code-{number}\" hidden>Copy\
         <span class=\"unseen\"> command {number}</span></button>\n"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Title\n\nA `lead` with <b>.\n\n## Part & more\n\nText.\n\n```sh\ncurl <url> > x\n```\n\n\
                        ## Part & more\n\n```json\n{}\n```\n";

    #[test]
    fn an_article_has_a_title_a_lead_and_parts_with_unique_ids() {
        let article = Article::of(TEXT);
        assert_eq!((article.title.as_str(), article.lead.trim()), ("Title", "A lead with <b>."));
        let ids: Vec<_> = article.parts.iter().map(|part| part.id.as_str()).collect();
        assert_eq!(ids, ["part--more", "part--more-2"]);
        assert!(article.parts[0].text.contains("Text.") && article.parts[0].text.contains("curl <url>"));
    }

    #[test]
    fn html_in_a_text_is_escaped_and_only_commands_get_a_button() {
        let html = Article::of(TEXT).html;
        assert!(!html.contains("<b>") && !html.contains("Title"), "{html}");
        assert!(html.contains("&lt;b&gt;"), "{html}");
        assert!(html.contains("<h2 id=\"part--more\">Part &amp; more</h2>"), "{html}");
        assert!(html.contains("<pre id=\"code-1\"><code>curl &lt;url&gt; &gt; x</code></pre>"), "{html}");
        assert!(html.contains("data-copy=\"code-1\"") && !html.contains("data-copy=\"code-2\""), "{html}");
    }

    #[test]
    fn a_line_is_no_paragraph() {
        assert_eq!(inline("a `b` [c](#d)"), "a <code>b</code> <a href=\"#d\">c</a>");
        assert_eq!(inline("a\n\nb"), "<p>a</p>\n<p>b</p>\n");
        assert_eq!(inline("<script>"), "&lt;script&gt;");
    }
}
