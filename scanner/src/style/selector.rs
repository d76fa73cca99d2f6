//! Selectors, parsed with the crate that browsers use. Its parser and its matcher recurse along a selector,
//! so selectors that are deeper or longer than any person writes are rejected.

use std::fmt;

use cssparser::{CowRcStr, Parser, ParserInput, SourceLocation, ToCss};
use selectors::parser::{
    NonTSPseudoClass, ParseRelative, PseudoElement, SelectorImpl, SelectorList, SelectorParseErrorKind,
};

const BRACKETS_DEEP_MAX: usize = 6;
const PARTS_MAX: usize = 40;

/// A name in a selector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SelectorName(pub(super) Box<str>);

impl From<&str> for SelectorName {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl AsRef<str> for SelectorName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl ToCss for SelectorName {
    fn to_css<W: fmt::Write>(&self, dest: &mut W) -> fmt::Result {
        dest.write_str(&self.0)
    }
}

impl precomputed_hash::PrecomputedHash for SelectorName {
    /// A constant is enough: only the Bloom filter uses the hash, and it is not in use here.
    fn precomputed_hash(&self) -> u32 {
        0
    }
}

/// A state of an element, as far as it is known without interaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Link,
    Checked,
    Enabled,
    Disabled,
    Required,
    Optional,
    ReadOnly,
    ReadWrite,
    Defined,
    /// A state that depends on the visitor's actions.
    Dynamic,
}

impl ToCss for State {
    fn to_css<W: fmt::Write>(&self, dest: &mut W) -> fmt::Result {
        write!(dest, ":{self:?}")
    }
}

impl NonTSPseudoClass for State {
    type Impl = Names;

    fn is_active_or_hover(&self) -> bool {
        false
    }

    fn is_user_action_state(&self) -> bool {
        false
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pseudo {
    Before,
    After,
    Other,
}

impl ToCss for Pseudo {
    fn to_css<W: fmt::Write>(&self, dest: &mut W) -> fmt::Result {
        write!(dest, "::{self:?}")
    }
}

impl PseudoElement for Pseudo {
    type Impl = Names;
}

/// The selector implementation for this crate.
#[derive(Clone, Debug)]
pub(super) struct Names;

impl SelectorImpl for Names {
    type ExtraMatchingData<'a> = ();
    type AttrValue = SelectorName;
    type Identifier = SelectorName;
    type LocalName = SelectorName;
    type NamespaceUrl = SelectorName;
    type NamespacePrefix = SelectorName;
    type BorrowedNamespaceUrl = SelectorName;
    type BorrowedLocalName = SelectorName;
    type NonTSPseudoClass = State;
    type PseudoElement = Pseudo;
}

/// A parse error without details, because no caller needs them.
#[derive(Debug)]
struct Fault;

impl From<SelectorParseErrorKind<'_>> for Fault {
    fn from(_: SelectorParseErrorKind<'_>) -> Self {
        Self
    }
}

struct Reader;

impl<'i> selectors::Parser<'i> for Reader {
    type Impl = Names;
    type Error = Fault;

    fn parse_is_and_where(&self) -> bool {
        true
    }

    fn is_is_alias(&self, name: &str) -> bool {
        ["matches", "-webkit-any", "-moz-any"].iter().any(|alias| alias.eq_ignore_ascii_case(name))
    }

    fn parse_non_ts_pseudo_class(
        &self,
        _location: SourceLocation,
        name: CowRcStr<'i>,
    ) -> Result<State, cssparser::ParseError<'i, Fault>> {
        Ok(match name.to_ascii_lowercase().as_str() {
            "link" | "any-link" | "-webkit-any-link" => State::Link,
            "checked" => State::Checked,
            "enabled" => State::Enabled,
            "disabled" => State::Disabled,
            "required" => State::Required,
            "optional" => State::Optional,
            "read-only" => State::ReadOnly,
            "read-write" => State::ReadWrite,
            "defined" => State::Defined,
            _ => State::Dynamic,
        })
    }

    fn parse_pseudo_element(
        &self,
        _location: SourceLocation,
        name: CowRcStr<'i>,
    ) -> Result<Pseudo, cssparser::ParseError<'i, Fault>> {
        Ok(match name.to_ascii_lowercase().as_str() {
            "before" => Pseudo::Before,
            "after" => Pseudo::After,
            _ => Pseudo::Other,
        })
    }
}

/// The selectors of a rule. `None` if one is invalid, as in browsers, or exceeds the limits.
pub(super) fn parse(text: &str) -> Option<SelectorList<Names>> {
    if !is_tame(text) {
        return None;
    }
    let mut input = ParserInput::new(text);
    let selectors = SelectorList::parse(&Reader, &mut Parser::new(&mut input), ParseRelative::No).ok()?;
    selectors.slice().iter().all(|selector| selector.len() <= PARTS_MAX).then_some(selectors)
}

fn is_tame(text: &str) -> bool {
    let mut deep = 0_usize;
    text.bytes().all(|byte| {
        match byte {
            b'(' | b'[' | b'{' => deep += 1,
            b')' | b']' | b'}' => deep = deep.saturating_sub(1),
            _ => {}
        }
        deep <= BRACKETS_DEEP_MAX
    })
}

/// Whether the selectors depend on an action of the visitor.
pub(super) fn is_dynamic(text: &str) -> bool {
    const STATES: [&str; 9] = [
        ":hover",
        ":focus",
        ":target",
        ":checked",
        ":active",
        ":has(",
        ":valid",
        ":invalid",
        ":popover-open",
    ];
    STATES.iter().any(|state| text.contains(state)) || text.contains("[open]")
}
