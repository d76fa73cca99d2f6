//! One level of nesting while a script is read: the kind of its bracket, and the current expression in it.

use super::params::Param;
use crate::script::builtins::Purpose;
use crate::script::memory::{FunctionId, NameId, ObjectId, Operand, Reference, TextId, Value};

/// The length of a chain of assignments such as `a = b = c`.
const TARGETS_MAX: usize = 64;
/// The number of further values of a conditional expression.
const OTHERS_MAX: usize = 8;

#[derive(Default)]
pub(super) enum Level {
    #[default]
    Block,
    /// The body of a function, which may be a single expression.
    Body,
    Arrow,
    Group,
    /// The parentheses after `if`, `while`, `switch`, `catch`.
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
    /// A function is called above it, once or for each of several items, and returns its result here.
    Apply(Continuation),
}

/// What the previous keyword announces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Expected {
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

/// The kind of a statement, if it affects the use of its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Statement {
    #[default]
    None,
    Return,
    Import,
    /// `throw`, `case` and similar: a value follows and is not used.
    Other,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) reference: Option<Reference>,
    /// The object of a member reference, or the pattern of a destructuring assignment.
    pub(super) owner: Value,
    pub(super) current: Value,
    pub(super) adds: bool,
    pub(super) declares: bool,
    /// The number of open conditions when it was read.
    questions: u32,
}

#[derive(Default)]
pub(super) struct Frame {
    pub(super) kind: Level,
    pub(super) opened_at: usize,
    pub(super) operand: Option<Operand>,
    pub(super) product: Option<(Value, u8)>,
    pub(super) sum: Option<(Value, u8)>,
    pub(super) unary: u8,
    pub(super) choice: Option<Operand>,
    pub(super) others: Vec<Value>,
    pub(super) is_compared: bool,
    pub(super) questions: u32,
    targets: Vec<Target>,
    pub(super) statement: Statement,
    pub(super) expected: Expected,
    pub(super) declares: bool,
    pub(super) is_new: bool,
    pub(super) spreads: bool,
    pub(super) iteration: Option<Box<Iteration>>,
    /// A block of one statement without braces.
    pub(super) is_single_statement: bool,
}

impl Frame {
    pub(super) fn new(kind: Level, opened_at: usize) -> Self {
        Self { kind, opened_at, ..Self::default() }
    }

    pub(super) fn is_block(&self) -> bool {
        matches!(self.kind, Level::Block | Level::Body)
    }

    /// Whether a statement begins here, so that a brace opens a block.
    pub(super) fn is_at_statement(&self) -> bool {
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

    pub(super) fn begin_assignment(&mut self, adds: bool) {
        let Some(operand) = self.operand.take() else { return };
        if self.targets.len() >= TARGETS_MAX {
            return;
        }
        let is_variable = operand.variable().is_some();
        self.targets.push(Target {
            reference: operand.reference,
            owner: if operand.reference.is_some() { operand.owner } else { operand.value },
            current: operand.value,
            adds,
            declares: self.declares && (is_variable || operand.reference.is_none()),
            questions: self.questions,
        });
    }

    /// The next assignment that ends here: those inside of the condition that closes, or all.
    pub(super) fn next_target(&mut self, within_questions: u32) -> Option<Target> {
        self.targets.pop_if(|target| target.questions >= within_questions)
    }

    pub(super) fn add_other(&mut self, value: Value) -> bool {
        let fits = self.others.len() < OTHERS_MAX;
        if fits {
            self.others.push(value);
        }
        fits
    }

    pub(super) fn end_statement(&mut self) {
        self.statement = Statement::None;
        self.declares = false;
        self.is_new = false;
        self.spreads = false;
        self.questions = 0;
        self.expected = Expected::Nothing;
    }
}

/// Where evaluation continues when the function has returned.
pub(super) struct Continuation {
    pub(super) resume: usize,
    pub(super) calls: Option<CallSeries>,
}

/// One call for each item of a list.
pub(super) struct CallSeries {
    pub(super) function: FunctionId,
    pub(super) items: Vec<Value>,
    pub(super) next: usize,
    pub(super) results: Vec<Value>,
    pub(super) purpose: Purpose,
}

/// A loop whose block is being read.
pub(super) struct Iteration {
    pub(super) plan: CallPlan,
    pub(super) start: usize,
    pub(super) literals_before: usize,
}

/// What a loop iterates over.
#[derive(Clone, Debug)]
pub(super) enum CallPlan {
    Count { name: NameId, next: f64, last: f64, step: f64 },
    Each { param: Param, items: Vec<Value>, next: usize },
}
