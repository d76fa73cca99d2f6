//! One level of nesting while a script is read: what kind of bracket it is, and the expression that is being put
//! together in it.

use super::functions::Continuation;
use crate::script::memory::texts::TextId;
use crate::script::memory::values::{FunctionId, NameId, ObjectId, Operand, Reference, Value};

/// Assignments in a row, as in `a = b = c`; more are not followed.
const TARGETS_MAX: usize = 64;
/// Values that a conditional expression may come to beside the first; more are not followed.
const OTHERS_MAX: usize = 8;

pub(crate) enum Level {
    Block,
    /// The body of a function, which may be an expression.
    Body,
    Arrow,
    Group,
    /// What stands in parentheses after `if`, `while`, `switch`, `catch`.
    Head,
    /// The head of a `for`.
    Loop,
    Params,
    Call {
        callee: Operand,
        arguments: Vec<Value>,
        is_new: bool,
    },
    Index {
        object: Operand,
    },
    Array {
        items: Vec<Value>,
    },
    Object {
        object: ObjectId,
        key: Option<NameId>,
    },
    Template {
        text: Option<TextId>,
        tag: Option<Operand>,
    },
    Hole,
    /// Below it a function is called, or called for each of many; the answer comes back here.
    Apply(Continuation),
}

/// What a word just read promises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Expected {
    #[default]
    Nothing,
    Head,
    Loop,
    Function {
        name: Option<NameId>,
        is_declaration: bool,
    },
    Body {
        function: FunctionId,
        name: Option<NameId>,
        is_declaration: bool,
    },
    /// A method of an object or a class is being read.
    Method {
        name: NameId,
    },
    Class,
}

/// The word that a statement begins with, where that matters for its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Statement {
    #[default]
    None,
    Return,
    Import,
    /// `throw`, `case` and the like: a value follows, and nothing is done with it.
    Other,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub(crate) reference: Option<Reference>,
    /// What the place is a member of, or the pattern that is taken apart.
    pub(crate) owner: Value,
    pub(crate) current: Value,
    pub(crate) adds: bool,
    pub(crate) declares: bool,
    /// How many conditions were open when it was met.
    questions: u32,
}

pub(crate) struct Frame {
    pub(crate) kind: Level,
    pub(crate) opened_at: usize,
    pub(crate) operand: Option<Operand>,
    pub(crate) product: Option<(Value, u8)>,
    pub(crate) sum: Option<(Value, u8)>,
    pub(crate) unary: u8,
    pub(crate) choice: Option<Operand>,
    pub(crate) others: Vec<Value>,
    pub(crate) is_compared: bool,
    pub(crate) questions: u32,
    targets: Vec<Target>,
    pub(crate) statement: Statement,
    pub(crate) expected: Expected,
    pub(crate) declares: bool,
    pub(crate) is_new: bool,
    pub(crate) spreads: bool,
    pub(crate) iteration: Option<Box<super::loops::Iteration>>,
    /// A block of one statement without braces.
    pub(crate) is_single_statement: bool,
}

impl Frame {
    pub(crate) fn new(kind: Level, opened_at: usize) -> Self {
        Self {
            kind,
            opened_at,
            operand: None,
            product: None,
            sum: None,
            unary: 0,
            choice: None,
            others: Vec::new(),
            is_compared: false,
            questions: 0,
            targets: Vec::new(),
            statement: Statement::None,
            expected: Expected::Nothing,
            declares: false,
            is_new: false,
            spreads: false,
            iteration: None,
            is_single_statement: false,
        }
    }

    pub(crate) fn is_block(&self) -> bool {
        matches!(self.kind, Level::Block | Level::Body)
    }

    /// Whether nothing of a statement was read yet, so that a brace opens a block.
    pub(crate) fn is_at_statement(&self) -> bool {
        self.is_block()
            && self.operand.is_none()
            && self.sum.is_none()
            && self.product.is_none()
            && self.choice.is_none()
            && self.unary == 0
            && self.questions == 0
            && self.targets.is_empty()
            && self.statement == Statement::None
            && !self.declares
            && !self.is_compared
    }

    pub(crate) fn begin_assignment(&mut self, adds: bool) {
        let Some(operand) = self.operand.take() else { return };
        if self.targets.len() >= TARGETS_MAX {
            return;
        }
        let is_variable = operand
            .reference
            .is_some_and(|reference| reference.base == crate::script::memory::values::Base::None);
        self.targets.push(Target {
            reference: operand.reference,
            owner: if operand.reference.is_some() { operand.owner } else { operand.value },
            current: operand.value,
            adds,
            declares: self.declares && (is_variable || operand.reference.is_none()),
            questions: self.questions,
        });
    }

    /// The assignments that end here: those inside of the condition that is closing, or all.
    pub(crate) fn next_target(&mut self, within_questions: u32) -> Option<Target> {
        self.targets.pop_if(|target| target.questions >= within_questions)
    }

    pub(crate) fn add_other(&mut self, value: Value) -> bool {
        let fits = self.others.len() < OTHERS_MAX;
        if fits {
            self.others.push(value);
        }
        fits
    }

    pub(crate) fn end_statement(&mut self) {
        self.statement = Statement::None;
        self.declares = false;
        self.is_new = false;
        self.spreads = false;
        self.questions = 0;
        self.expected = Expected::Nothing;
    }
}
