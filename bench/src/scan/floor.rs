//! The least that reading a page takes: html5ever cuts it into tokens, and nobody looks at them.

use html5ever::TokenizerResult;
use html5ever::buffer_queue::BufferQueue;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};

pub fn tokenize(html: &str) {
    let input = BufferQueue::default();
    input.push_back(StrTendril::from_slice(html));
    let tokenizer = Tokenizer::new(Nobody, TokenizerOpts::default());
    // It stops after each script, as if that could write.
    while let TokenizerResult::Script(()) = tokenizer.feed(&input) {}
    tokenizer.end();
}

/// It takes notice only of what says how the text that follows is to be read.
struct Nobody;

impl TokenSink for Nobody {
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
