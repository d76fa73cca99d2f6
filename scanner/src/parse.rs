//! Bytes to a tree, with the parser that follows the HTML standard, kept from the two things that make its time grow
//! faster than the page.

use std::borrow::Cow;

use encoding_rs::UTF_8;
use html5ever::buffer_queue::BufferQueue;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use html5ever::{LocalName, TokenizerResult, local_name};

use crate::tree::{Handle, Tree};

/// Elements nested deeper stand beside each other instead, as in browsers, whose bound is a few times higher. It is
/// still far deeper than pages that people make.
const DEPTH_MAX: usize = 128;

/// Reads a text as a browser would that was told it is HTML. Any text makes a tree.
pub(crate) fn parse(text: &str) -> Tree {
    let builder = TreeBuilder::new(Tree::new(), TreeBuilderOpts::default());
    let tokenizer = Tokenizer::new(Tamed { builder }, TokenizerOpts::default());
    let input = BufferQueue::default();
    input.push_back(StrTendril::from(text));
    // It pauses after scripts and at declared encodings, neither of which matters here.
    while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
    tokenizer.end();
    tokenizer.sink.builder.sink
}

/// The text of a file that is served as UTF-8. Only a byte order mark outranks that, in browsers as here.
pub(crate) fn decode(bytes: &[u8]) -> Cow<'_, str> {
    UTF_8.decode(bytes).0
}

/// Stands between the tokenizer and the tree builder.
struct Tamed {
    builder: TreeBuilder<Handle, Tree>,
}

impl TokenSink for Tamed {
    type Handle = Handle;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<Handle> {
        let Token::TagToken(tag) = token else { return self.builder.process_token(token, line) };
        let tag = plain(tag);
        let opens = (tag.kind == TagKind::StartTag && !is_void(&tag.name)).then(|| tag.name.clone());
        self.builder.sink.expect_insertion();
        let result = self.builder.process_token(Token::TagToken(tag), line);
        let is_too_deep = self.builder.sink.inserted_at_depth().is_some_and(|depth| depth > DEPTH_MAX);
        if let Some(name) = opens
            && is_too_deep
            && matches!(result, TokenSinkResult::Continue)
        {
            // The builder looks through all open elements at almost every tag, so their number must have a bound.
            return self.builder.process_token(Token::TagToken(end_of(name)), line);
        }
        result
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// Formatting elements that were not closed are opened again in every block that follows, which lets a small page
/// make a huge tree. They mean nothing for what a page asks, so they become elements that format nothing.
fn plain(mut tag: Tag) -> Tag {
    let name = match &tag.name {
        &local_name!("b") | &local_name!("big") | &local_name!("code") | &local_name!("em") => "span",
        &local_name!("i") | &local_name!("nobr") | &local_name!("s") | &local_name!("small") => "span",
        &local_name!("strike") | &local_name!("strong") | &local_name!("tt") | &local_name!("u") => "span",
        // Not a span: inside of SVG that would end the drawing, and a font does so only sometimes.
        &local_name!("font") => "x-font",
        _ => return tag,
    };
    tag.name = LocalName::from(name);
    tag
}

/// Elements that have no end tag, and so no depth.
fn is_void(name: &LocalName) -> bool {
    matches!(
        &**name,
        "area" | "base" | "basefont" | "bgsound" | "br" | "col" | "embed" | "frame" | "hr" | "image" | "img"
    ) || matches!(&**name, "input" | "keygen" | "link" | "meta" | "param" | "source" | "track" | "wbr")
}

fn end_of(name: LocalName) -> Tag {
    Tag {
        kind: TagKind::EndTag,
        name,
        self_closing: false,
        attrs: Vec::new(),
        had_duplicate_attributes: false,
    }
}
