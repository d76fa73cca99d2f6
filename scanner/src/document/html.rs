//! Parses HTML to a tree with the parser that follows the HTML standard. It limits what would make the
//! parser's time superlinear: deep nesting, unclosed formatting elements and very many attributes.

use std::cell::RefCell;
use std::sync::LazyLock;

use html5ever::buffer_queue::BufferQueue;
use html5ever::tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use html5ever::{LocalName, TokenizerResult, local_name};

use super::Document;
use super::feed::{InsertionPoint, feed};
use super::name::is_any;
use super::sieve::Sieve;
use super::tree::{Handle, Tree};
use super::unknown::AddedNames;

/// Deeper elements become siblings, as in browsers, whose limit is higher. No page made by people is as deep.
/// The parser searches all open elements at almost every tag, so that depth costs time.
pub(super) const DEPTH_MAX: u32 = 64;

/// The prefix of the names of formatting elements in the tree.
const PLAIN: &str = "x-plain-";

/// The formatting elements, each with its name in the tree.
static FORMATTING: LazyLock<[(LocalName, LocalName); 13]> = LazyLock::new(|| {
    ["b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"]
        .map(|name| (LocalName::from(name), LocalName::from(format!("{PLAIN}{name}"))))
});

/// Parses a text as a browser does for `text/html`. Any text yields a tree.
pub(crate) fn parse_html(text: &str) -> Document {
    // Browsers drop NUL characters from text, and the tokenizer is slow at reporting each as an error.
    let without_nulls = text.contains('\0').then(|| text.replace('\0', ""));
    let builder = TreeBuilder::new(Tree::new(), TreeBuilderOpts::default());
    let tamed = TagFilter {
        builder,
        insertion_point: RefCell::new(InsertionPoint::Html),
        added_names: AddedNames::default(),
        sieve: Sieve::default(),
    };
    let tokenizer = Tokenizer::new(tamed, TokenizerOpts::default());
    let input = BufferQueue::default();
    feed(
        without_nulls.as_deref().unwrap_or(text),
        || tokenizer.sink.insertion_point(),
        |piece| {
            if tokenizer.sink.builder.sink.is_full() {
                return;
            }
            input.push_back(piece);
            // The tokenizer pauses after scripts and at declared encodings, neither of which matters here.
            while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
        },
    );
    tokenizer.end();
    tokenizer.sink.builder.sink.freeze()
}

/// The name of an element as it was in the source.
pub(super) fn name_as_written(name: &str) -> &str {
    name.strip_prefix(PLAIN).unwrap_or(name)
}

/// A filter between the tokenizer and the tree builder.
struct TagFilter {
    builder: TreeBuilder<Handle, Tree>,
    insertion_point: RefCell<InsertionPoint>,
    added_names: AddedNames,
    sieve: Sieve,
}

impl TokenSink for TagFilter {
    type Handle = Handle;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<Handle> {
        let mut tag = match token {
            Token::TagToken(tag) => tag,
            Token::CharacterTokens(text) => {
                self.sieve.note_text(&text);
                return self.builder.process_token(Token::CharacterTokens(text), line);
            }
            other => return self.builder.process_token(other, line),
        };
        self.added_names.admit(&mut tag.attrs);
        tag.name = self.added_names.name_of(tag.name);
        let name = tag.name.clone();
        let plain = plain_name(&tag.name);
        let passes = match plain {
            Some(_) => self.sieve.passes_formatting(&tag),
            None => self.sieve.passes(&tag),
        };
        if let Some(plain) = plain {
            self.leave_drawing(&tag, line);
            tag.name = plain.clone();
        }
        let result = if passes { self.process_tag(tag, line) } else { TokenSinkResult::Continue };
        *self.insertion_point.borrow_mut() = match result {
            TokenSinkResult::RawData(_) => InsertionPoint::Raw(name),
            TokenSinkResult::Plaintext => InsertionPoint::Plain,
            _ => InsertionPoint::Html,
        };
        result
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

impl TagFilter {
    fn insertion_point(&self) -> InsertionPoint {
        match &*self.insertion_point.borrow() {
            InsertionPoint::Html if self.adjusted_current_node_present_but_not_in_html_namespace() => {
                InsertionPoint::Foreign
            }
            insertion_point => insertion_point.clone(),
        }
    }

    fn process_tag(&self, tag: Tag, line: u64) -> TokenSinkResult<Handle> {
        let opens = (tag.kind == TagKind::StartTag && !is_void(&tag.name)).then(|| tag.name.clone());
        self.builder.sink.expect_insertion();
        let result = self.builder.process_token(Token::TagToken(tag), line);
        let is_too_deep = self.builder.sink.inserted_at_depth().is_some_and(|depth| depth > DEPTH_MAX);
        if let Some(name) = opens
            && is_too_deep
            && matches!(result, TokenSinkResult::Continue)
        {
            // The builder searches all open elements at almost every tag, so that their number must be
            // bounded.
            return self.builder.process_token(Token::TagToken(end_of(name)), line);
        }
        result
    }

    /// A formatting tag ends an SVG or MathML element around it. The renamed element would not, so that this
    /// first inserts an empty element that does.
    fn leave_drawing(&self, tag: &Tag, line: u64) {
        let is_plain_font = tag.name == local_name!("font")
            && !tag.attrs.iter().any(|attribute| matches!(&*attribute.name.local, "color" | "face" | "size"));
        if tag.kind == TagKind::EndTag
            || is_plain_font
            || !self.adjusted_current_node_present_but_not_in_html_namespace()
        {
            return;
        }
        let start = Tag { kind: TagKind::StartTag, ..end_of(local_name!("span")) };
        for tag in [start, end_of(local_name!("span"))] {
            // Only the results of raw text elements and scripts matter.
            let _ = self.builder.process_token(Token::TagToken(tag), line);
        }
    }
}

/// Browsers reopen unclosed formatting elements in every block that follows, so that a small page could
/// create a huge tree. They do not change what a page asks for. This renames them to elements without
/// formatting.
fn plain_name(name: &LocalName) -> Option<&'static LocalName> {
    FORMATTING.iter().find(|(formatting, _)| formatting == name).map(|(_, plain)| plain)
}

/// Elements without an end tag, which add no depth.
fn is_void(name: &LocalName) -> bool {
    is_any!(
        *name;
        "area" "base" "basefont" "bgsound" "br" "col" "embed" "frame" "hr" "image" "img" "input" "keygen" "link"
        "meta" "param" "source" "track" "wbr"
    )
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
