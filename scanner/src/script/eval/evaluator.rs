//! Goes through the tokens of a script once, puts its constants together and notes what becomes of them. Nesting
//! is kept on a stack of its own. Functions and loops over known values are gone through again with those values,
//! as long as the allowance lasts.

use std::borrow::Cow;
use std::collections::HashMap;

use super::choices::Choices;
use super::frame::{Expected, Frame, Level, Statement};
use super::functions::{Body, Function, Reading};
use crate::budget::Budget;
use crate::script::bound::Bound;
use crate::script::effects::described::Described;
use crate::script::effects::elements::Elements;
use crate::script::effects::sinks::Page;
use crate::script::encodings;
use crate::script::memory::texts::{TextId, Texts, Usage};
use crate::script::memory::values::{
    Base, FunctionId, Heap, NameId, Names, Operand, Reference, Scopes, Value,
};
use crate::script::syntax::tokens::{Kind, Token, Tokens};

/// Brackets nested deeper are read as if they were not there. Browsers run out of stack not far from it.
const DEPTH_MAX: usize = 512;
/// How much may be gone through again for calls and loops, in proportion to the script and beyond it.
const REPLAYED_FACTOR: usize = 1;
const REPLAYED_TOKENS_MORE: usize = 100_000;
/// So much of a long literal counts as a token: what is written in codes is gone through piece by piece.
const LITERAL_BYTES: usize = 4;
/// How much may be copied and decoded, likewise.
const WORK_FACTOR: usize = 4;
const WORK_BYTES_MORE: usize = 4 << 20;
/// What goes beyond the proportion is no more than this many times the script: a page may have very many small ones.
const MORE_FACTOR: usize = 64;
/// What one more item of a list takes of that, since each becomes more than a byte.
const ITEM_BYTES: usize = 32;

/// An allowance for something of a size.
pub(crate) fn allowance(size: usize, factor: usize, more: usize) -> usize {
    size.saturating_mul(factor).saturating_add(size.saturating_mul(MORE_FACTOR).min(more))
}

pub(crate) struct Evaluator<'s> {
    pub(crate) source: &'s str,
    pub(crate) tokens: Tokens,
    pub(crate) at: usize,
    pub(crate) frames: Vec<Frame>,
    pub(crate) texts: Texts,
    pub(crate) heap: Heap,
    pub(crate) names: Names<'s>,
    pub(crate) scopes: Scopes,
    pub(crate) elements: Elements,
    pub(crate) functions: Vec<Function>,
    pub(crate) function_at: HashMap<usize, FunctionId>,
    pub(crate) bodies: Vec<Body>,
    pub(crate) readings: Vec<Reading>,
    /// The function that was read last, if that was just before.
    pub(crate) last_read: Option<Body>,
    pub(crate) choices: Choices,
    /// Functions outside of any other that have turns to take.
    pub(crate) scheduled: Vec<FunctionId>,
    pub(crate) applied_depth: usize,
    pub(crate) page: Page,
    pub(crate) literals_read: usize,
    /// Names that were met before anything was known of them: whether they were shown, whether used otherwise.
    pub(crate) early_uses: HashMap<NameId, (bool, bool)>,
    pub(crate) declared: HashMap<NameId, Option<usize>>,
    /// Objects that were looked at for fields, and fields that they described.
    pub(crate) described: Described,
    /// What the page shows of data.
    pub(crate) bound: &'s Bound,
    pub(crate) budget: &'s Budget<'s>,
    pub(crate) work_left: usize,
    steps: usize,
    furthest: usize,
    replayed_max: usize,
}

impl<'s> Evaluator<'s> {
    pub(crate) fn new(source: &'s str, tokens: Tokens, bound: &'s Bound, budget: &'s Budget<'s>) -> Self {
        // A script of few tokens may have a long code in one of them, which it goes through letter by letter.
        let replayed_size = tokens.len().max(source.len() / LITERAL_BYTES);
        let replayed_max = allowance(replayed_size, REPLAYED_FACTOR, REPLAYED_TOKENS_MORE);
        Self {
            source,
            tokens,
            at: 0,
            frames: vec![Frame::new(Level::Block, 0)],
            texts: Texts::default(),
            heap: Heap::default(),
            names: Names::default(),
            scopes: Scopes::default(),
            elements: Elements::default(),
            functions: Vec::new(),
            function_at: HashMap::new(),
            bodies: Vec::new(),
            readings: Vec::new(),
            last_read: None,
            choices: Choices::default(),
            scheduled: Vec::new(),
            applied_depth: 0,
            page: Page::default(),
            literals_read: 0,
            early_uses: HashMap::new(),
            declared: HashMap::new(),
            described: Described::default(),
            bound,
            budget,
            work_left: allowance(source.len(), WORK_FACTOR, WORK_BYTES_MORE),
            steps: 0,
            furthest: 0,
            replayed_max,
        }
    }

    pub(crate) fn run(&mut self) {
        self.find_declarations();
        self.find_reassigned();
        loop {
            while let Some(token) = self.tokens.get(self.at) {
                let weight = self.weight(token);
                if !self.budget.take(weight) {
                    return;
                }
                self.steps += weight;
                self.furthest = self.furthest.max(self.at + 1);
                self.step(token);
            }
            if self.frames.len() > 1 {
                self.close_frame();
            } else {
                self.end_statement();
                if !self.begin_scheduled() {
                    break;
                }
            }
        }
    }

    /// What a token takes of the allowance. One that is read again takes as much as it is long.
    fn weight(&self, token: Token) -> usize {
        let is_long = matches!(
            token.kind,
            Kind::Name | Kind::Number | Kind::Text | Kind::Chunk | Kind::Regex | Kind::Jsx
        );
        let is_replayed = self.furthest > self.at;
        if is_long && is_replayed { 1 + token.text(self.source).len() / LITERAL_BYTES } else { 1 }
    }

    /// Whether a part of the script may be gone through once more.
    pub(crate) fn may_replay(&self) -> bool {
        self.steps - self.furthest.min(self.steps) < self.replayed_max
    }

    /// Whether so much of that is left that some may be spent on what people rarely get to see.
    pub(crate) fn may_replay_more(&self) -> bool {
        self.steps - self.furthest.min(self.steps) < self.replayed_max / 2
    }

    /// Takes from the allowance for copying.
    pub(crate) fn may_copy(&mut self, bytes: usize) -> bool {
        let is_enough = bytes <= self.work_left;
        if is_enough {
            self.work_left -= bytes;
        }
        is_enough
    }

    pub(crate) fn may_copy_items(&mut self, count: usize) -> bool {
        self.may_copy(count.saturating_mul(ITEM_BYTES))
    }

    pub(crate) fn name_id(&mut self, token: Token) -> NameId {
        let raw = token.text(self.source);
        if !raw.contains('\\') {
            return self.names.id(Cow::Borrowed(self.source_of(token)));
        }
        let mut text = String::new();
        encodings::unescape(raw, &mut text);
        self.names.id(Cow::Owned(text))
    }

    fn source_of(&self, token: Token) -> &'s str {
        token.text(self.source)
    }

    fn step(&mut self, token: Token) {
        if self.ends_arrow(token.kind) || self.ends_single_statement(token.kind) {
            // The token is read again, outside of it.
            return self.close_frame();
        }
        if self.has_scheduled(token.kind) && self.begin_scheduled() {
            return;
        }
        let at = self.at;
        self.at += 1;
        match token.kind {
            Kind::Name => self.name(token, at),
            Kind::Number => {
                let value = encodings::number(token.text(self.source)).map_or(Value::Unknown, Value::Number);
                self.push_value(value.into());
            }
            Kind::Text => self.literal(token),
            Kind::Regex => self.pattern(token),
            Kind::Jsx => {
                let id = self.cooked(token);
                self.literals_read += 1;
                self.push_value(Value::Text(id).into());
            }
            Kind::Chunk => {
                let id = self.cooked(token);
                self.add_to_template(Value::Text(id));
            }
            Kind::TemplateOpen => {
                self.literals_read += 1;
                let tag = self.frame().operand.take();
                self.push_frame(Level::Template { text: None, tag }, at);
            }
            Kind::HoleOpen => self.push_frame(Level::Hole, at),
            Kind::ParenOpen => self.open_paren(at),
            Kind::SquareOpen => self.open_square(at),
            Kind::BraceOpen => self.open_brace(at),
            Kind::ParenClose
            | Kind::SquareClose
            | Kind::BraceClose
            | Kind::HoleClose
            | Kind::TemplateClose => {
                self.close(at);
            }
            Kind::Semicolon => self.end_statement(),
            Kind::Comma => self.comma(),
            Kind::Arrow => self.arrow(at),
            _ => self.operator(token),
        }
    }

    fn ends_arrow(&mut self, kind: Kind) -> bool {
        let frame = self.frame();
        if !matches!(frame.kind, Level::Arrow) {
            return false;
        }
        match kind {
            Kind::Comma | Kind::Semicolon => true,
            Kind::Colon => frame.questions == 0,
            Kind::ParenClose | Kind::SquareClose | Kind::BraceClose | Kind::HoleClose => {
                let opened_at = frame.opened_at;
                self.tokens.partner(self.at).is_some_and(|partner| partner < opened_at)
            }
            Kind::Name | Kind::Text | Kind::Number => self.begins_statement(),
            _ => false,
        }
    }

    /// Whether something else begins at a word, where an expression has come to its end without saying so.
    pub(crate) fn begins_statement(&mut self) -> bool {
        self.frame().operand.is_some() && !self.is_after_dot(self.at) && !self.is_infix(self.at)
    }

    fn is_infix(&self, at: usize) -> bool {
        let token = self.tokens.get(at).filter(|token| token.kind == Kind::Name);
        token.is_some_and(|token| matches!(token.text(self.source), "in" | "of" | "instanceof" | "as"))
    }

    pub(crate) fn is_after_dot(&self, at: usize) -> bool {
        at.checked_sub(1).and_then(|before| self.tokens.kind(before)) == Some(Kind::Dot)
    }

    pub(crate) fn frame(&mut self) -> &mut Frame {
        if self.frames.is_empty() {
            self.frames.push(Frame::new(Level::Block, 0));
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// A value was read. Where one stands already, a statement ended without saying so.
    pub(crate) fn push_value(&mut self, operand: Operand) {
        if self.frame().operand.is_some() {
            if self.frame().is_block() {
                self.end_statement();
            } else {
                let left = self.frame().operand.take().unwrap_or_default();
                self.mark_use(left, Usage::Unclear);
            }
        }
        self.frame().operand = Some(operand);
    }

    fn cooked(&mut self, token: Token) -> TextId {
        let raw = token.text(self.source);
        let is_replayed = self.furthest > self.at;
        if is_replayed && !self.may_copy(raw.len()) {
            self.replayed_max = 0;
            return self.texts.add("");
        }
        self.texts.add_with(|buffer| match token.kind {
            Kind::Jsx => buffer.push_str(&crate::script::syntax::jsx::markup(raw)),
            _ => encodings::unescape(raw, buffer),
        })
    }

    fn literal(&mut self, token: Token) {
        self.literals_read += 1;
        let id = self.cooked(token);
        if self.frame().statement == Statement::Import {
            let address = self.texts.flat(id, usize::MAX);
            self.texts.mark(id, Usage::Consumed);
            self.page.fetched.push((id.order(), address));
            self.frame().operand = None;
            return self.frame().end_statement();
        }
        self.push_value(Value::Text(id).into());
    }

    pub(crate) fn add_to_template(&mut self, value: Value) {
        let is_tagged = matches!(self.frame().kind, Level::Template { tag: Some(_), .. });
        let Some(part) = self.text_of(value, if is_tagged { "" } else { "," }) else { return };
        let Level::Template { text, .. } = self.frame().kind else { return };
        let whole = match text {
            Some(text) => self.texts.sum(text, part),
            None => part,
        };
        if let Level::Template { text, .. } = &mut self.frame().kind {
            *text = Some(whole);
        }
    }

    pub(crate) fn push_frame(&mut self, kind: Level, at: usize) {
        if self.frames.len() >= DEPTH_MAX {
            let left = self.frame().operand.take().unwrap_or_default();
            return self.mark_use(left, Usage::Unclear);
        }
        self.frames.push(Frame::new(kind, at));
    }

    pub(crate) fn is_too_deep(&self) -> bool {
        self.frames.len() + 2 >= DEPTH_MAX
    }

    fn open_paren(&mut self, at: usize) {
        let frame = self.frame();
        match frame.expected {
            Expected::Head | Expected::Loop => {
                let kind = if frame.expected == Expected::Head { Level::Head } else { Level::Loop };
                frame.expected = Expected::Nothing;
                self.push_frame(kind, at);
            }
            Expected::Function { name, is_declaration } => {
                let function = self.add_function(at, at);
                self.frame().expected = Expected::Body { function, name, is_declaration };
                self.push_frame(Level::Params, at);
            }
            _ => match frame.operand.take() {
                Some(callee) => {
                    let is_new = std::mem::take(&mut frame.is_new);
                    self.push_frame(Level::Call { callee, arguments: Vec::new(), is_new }, at);
                }
                None => self.push_frame(Level::Group, at),
            },
        }
    }

    fn open_square(&mut self, at: usize) {
        match self.frame().operand.take() {
            Some(object) => self.push_frame(Level::Index { object }, at),
            None => self.push_frame(Level::Array { items: Vec::new() }, at),
        }
    }

    fn open_brace(&mut self, at: usize) {
        let frame = self.frame();
        if let Expected::Body { function, .. } = frame.expected {
            return self.open_body(function, at);
        }
        let is_statement = frame.is_at_statement();
        let follows_value = frame.operand.is_some() && frame.statement != Statement::Import;
        let is_class = frame.expected == Expected::Class;
        if follows_value && !is_class && self.begins_method(at) {
            return;
        }
        if is_statement || follows_value || is_class {
            let iteration = self.frame().iteration.take();
            if let Some(left) = self.frame().operand.take() {
                self.mark_use(left, Usage::Unclear);
            }
            if self.frame().is_block() && !is_class {
                self.end_statement();
            }
            self.push_frame(Level::Block, at);
            return self.begin_iterations(iteration, at);
        }
        let object = self.heap.object();
        self.push_frame(Level::Object { object, key: None }, at);
    }

    /// Closes what a bracket closes, and everything in it that was left open.
    fn close(&mut self, at: usize) {
        let Some(partner) = self.tokens.partner(at) else { return };
        while self.frames.len() > 1
            && self.frame().opened_at > partner
            && !matches!(self.frame().kind, Level::Apply(_))
        {
            // What was left open is gone through once.
            self.frame().iteration = None;
            let kept = self.at;
            self.close_frame();
            self.at = kept;
        }
        if self.frames.len() > 1 && self.frame().opened_at == partner {
            self.close_frame();
        } else {
            // It was too deep to be followed.
            self.push_value(Operand::default());
        }
    }

    pub(crate) fn add_place(&mut self, name: NameId) -> Operand {
        let value = self.scopes.get(name);
        if value.is_none()
            && let Some(Some(at)) = self.declared.get(&name).copied()
        {
            let function = self.add_function(at, at);
            self.scopes.assign(name, Value::Function(function));
            return self.add_place(name);
        }
        Operand {
            value: value.unwrap_or_default(),
            reference: Some(Reference { name, base: Base::None }),
            owner: Value::Unknown,
        }
    }
}
