//! The state of an evaluation: the position in the tokens, the stack of frames, and the functions that are
//! being read.

use std::collections::HashMap;

use super::frame::{Frame, Level};
use crate::script::memory::{FunctionId, Memory, NameId, ReadingId, Usage, Value};
use crate::script::syntax::{Token, TokenKind, Tokens};

/// Deeper brackets are ignored. Browsers run out of stack at a similar depth.
const DEPTH_MAX: usize = 512;

/// The body of a function that is being read.
pub(super) struct Body {
    pub(super) function: FunctionId,
    pub(super) result: Option<Value>,
    pub(super) is_applied: bool,
    pub(super) reader_before: Option<ReadingId>,
    pub(super) literals_before: usize,
    /// The choices of the function around it.
    pub(super) outer_choices: usize,
    /// Functions in it that are repeated for each choice.
    pub(super) scheduled: Vec<FunctionId>,
    /// The values of outer variables before it was read, if it changed them.
    pub(super) undo: Vec<(NameId, Value)>,
}

pub(super) struct Evaluator<'s> {
    pub(super) memory: Memory<'s>,
    pub(super) tokens: Tokens<'s>,
    pub(super) at: usize,
    pub(super) frames: Vec<Frame>,
    pub(super) bodies: Vec<Body>,
    /// The last function, if the evaluator read it just now.
    pub(super) last_read: Option<Body>,
    /// Functions at the top level that are repeated for each choice.
    pub(super) scheduled: Vec<FunctionId>,
    pub(super) applied_depth: usize,
    /// The position of each function declaration. `None` for a name that is declared twice.
    pub(super) declared: HashMap<NameId, Option<usize>>,
}

impl<'s> Evaluator<'s> {
    pub(super) fn new(tokens: Tokens<'s>, memory: Memory<'s>) -> Self {
        Self {
            memory,
            tokens,
            at: 0,
            frames: vec![Frame::new(Level::Block, 0)],
            bodies: Vec::new(),
            last_read: None,
            scheduled: Vec::new(),
            applied_depth: 0,
            declared: HashMap::new(),
        }
    }

    pub(super) fn name_id(&mut self, token: Token) -> NameId {
        self.memory.names.written(self.tokens.text(token))
    }

    pub(super) fn frame(&mut self) -> &mut Frame {
        if self.frames.is_empty() {
            self.frames.push(Frame::new(Level::Block, 0));
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    pub(super) fn push_frame(&mut self, kind: Level, at: usize) {
        if self.frames.len() >= DEPTH_MAX {
            return self.drop_operand();
        }
        self.frames.push(Frame::new(kind, at));
    }

    /// Drops a value whose use is not known.
    pub(super) fn drop_operand(&mut self) {
        let operand = self.frame().operand.take().unwrap_or_default();
        self.memory.mark_use(operand, Usage::Unclear);
    }

    pub(super) fn is_too_deep(&self) -> bool {
        self.frames.len() + 2 >= DEPTH_MAX
    }

    /// Whether a new statement begins at a word, because the expression before it is complete.
    pub(super) fn begins_statement(&mut self) -> bool {
        let is_infix = self.tokens.is_word_at(self.at, &["in", "of", "instanceof", "as"]);
        self.frame().operand.is_some() && !self.tokens.is_after(self.at, TokenKind::Dot) && !is_infix
    }

    /// Whether the bracket here closes one that was opened before a position.
    pub(super) fn closes_before(&self, at: usize) -> bool {
        self.tokens.partner(self.at).is_some_and(|partner| partner < at)
    }
}
