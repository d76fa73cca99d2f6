//! The minimum for reading a page: html5ever splits it into tokens, which are dropped.

use html5ever::TokenizerResult;
use html5ever::buffer_queue::BufferQueue;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};

pub fn tokenize(html: &str) {
    let input = BufferQueue::default();
    input.push_back(StrTendril::from_slice(html));
    let tokenizer = Tokenizer::new(IgnoreTokens, TokenizerOpts::default());
    // The tokenizer pauses after each script.
    while let TokenizerResult::Script(()) = tokenizer.feed(&input) {}
    tokenizer.end();
}

/// A sink that only sets the tokenizer's state for raw text.
struct IgnoreTokens;

impl TokenSink for IgnoreTokens {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let Token::TagToken(tag) = token else { return TokenSinkResult::Continue };
        match (tag.kind, &*tag.name) {
            (TagKind::StartTag, "script") => TokenSinkResult::RawData(RawKind::ScriptData),
            (TagKind::StartTag, "style") => TokenSinkResult::RawData(RawKind::Rawtext),
            (TagKind::StartTag, "title" | "textarea") => TokenSinkResult::RawData(RawKind::Rcdata),
            _ => TokenSinkResult::Continue,
        }
    }
}
