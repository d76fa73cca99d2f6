//! The cascade: which declarations win for an element, by importance, origin, specificity and order.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use selectors::context::{
    MatchingContext, MatchingForInvalidation, MatchingMode, NeedsSelectorFlags, QuirksMode, SelectorCaches,
};
use selectors::matching::matches_selector;
use selectors::parser::{Component, Selector};

use super::declaration::{self, Declaration, Property, Value};
use super::matching::{Budget, Candidate};
use super::selector::{self, Names, Pseudo};
use super::sheet::{self, Rule};
use super::variables::Variables;

/// Further rules are ignored. What they would hide counts as visible.
const RULES_MAX: usize = 200_000;
/// The number of element comparisons for all rules of a document.
const COMPARISONS_MAX: usize = 3_000_000;
const IMPORTANT: u64 = 1 << 63;
const INLINE: u64 = 1 << 62;

/// The winning declarations, one for each property.
#[derive(Debug, Default)]
pub(super) struct Won(Vec<(Property, u64, Value)>);

impl Won {
    pub(super) fn get(&self, property: Property) -> Option<&Value> {
        self.0.iter().find(|(of, ..)| *of == property).map(|(.., value)| value)
    }

    pub(super) fn is(&self, property: Property) -> bool {
        self.get(property) == Some(&Value::Is(true))
    }

    pub(super) fn pixels(&self, property: Property) -> Option<f32> {
        match self.get(property) {
            Some(Value::Px(pixels)) => Some(*pixels),
            _ => None,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn enter(&mut self, declaration: &Declaration, weight: u64) {
        let weight = weight | if declaration.is_important { IMPORTANT } else { 0 };
        match self.0.iter_mut().find(|(property, ..)| *property == declaration.property) {
            Some(slot) if slot.1 > weight => {}
            Some(slot) => (slot.1, slot.2) = (weight, declaration.value.clone()),
            None => self.0.push((declaration.property, weight, declaration.value.clone())),
        }
    }

    /// Sets a value from a presentational attribute such as `bgcolor`. Any rule overrides it.
    pub(super) fn hint(&mut self, property: Property, value: Value) {
        if self.get(property).is_none() {
            self.0.push((property, 0, value));
        }
    }
}

/// The winning declarations for an element and for its generated content.
#[derive(Debug, Default)]
pub(super) struct Dressed {
    pub(super) own: Won,
    pub(super) before: Won,
    pub(super) after: Won,
}

impl Dressed {
    /// Clears everything for reuse with the next element.
    pub(super) fn clear(&mut self) {
        for won in [&mut self.own, &mut self.before, &mut self.after] {
            won.0.clear();
        }
    }
}

struct Styled {
    selector: Selector<Names>,
    declarations: Rc<[Declaration]>,
    weight: u64,
}

/// All rules of a page, indexed by the last part of their selectors.
#[derive(Default)]
pub(super) struct Cascade {
    rules: Vec<Styled>,
    by_id: HashMap<Box<str>, Vec<usize>>,
    by_class: HashMap<Box<str>, Vec<usize>>,
    by_name: HashMap<Box<str>, Vec<usize>>,
    for_any: Vec<usize>,
    variables: Variables,
    caches: SelectorCaches,
    pub(super) may_reveal: bool,
}

impl Cascade {
    pub(super) fn of(sheets: &[&str]) -> Self {
        let rules: Vec<Rule<'_>> = sheets.iter().flat_map(|sheet| sheet::read(sheet).0).collect();
        let mut cascade = Self { variables: Variables::of(&rules), ..Self::default() };
        for rule in &rules {
            if cascade.rules.len() >= RULES_MAX {
                break;
            }
            cascade.add(rule);
        }
        cascade
    }

    pub(super) fn budget() -> Budget {
        Budget::of(COMPARISONS_MAX)
    }

    /// The declarations of a block, one for each property.
    fn declarations(&self, texts: &[&str]) -> Vec<Declaration> {
        let mut declarations: Vec<Declaration> = Vec::new();
        for text in texts {
            let Some((name, value, is_important)) = declaration::split(text) else { continue };
            let Some(value) = self.variables.put_into(value) else { continue };
            for new in declaration::read(&name, &value, is_important) {
                let same = |old: &&mut Declaration| old.property == new.property;
                match declarations.iter_mut().find(same) {
                    Some(old) if old.is_important && !new.is_important => {}
                    Some(old) => *old = new,
                    None => declarations.push(new),
                }
            }
        }
        declarations
    }

    fn add(&mut self, rule: &Rule<'_>) {
        let declarations = self.declarations(&rule.declarations);
        if declarations.is_empty() {
            return;
        }
        self.may_reveal |= selector::is_dynamic(&rule.selectors) && declarations.iter().any(shows);
        let Some(selectors) = selector::parse(&rule.selectors) else { return };
        let declarations: Rc<[Declaration]> = declarations.into();
        for selector in selectors.slice() {
            let number = self.rules.len();
            let order = u64::try_from(number).unwrap_or(u64::MAX) & u64::from(u32::MAX);
            let weight = (u64::from(selector.specificity()) << 32 | order) + 1;
            self.bucket(selector).push(number);
            self.rules.push(Styled {
                selector: selector.clone(),
                declarations: declarations.clone(),
                weight,
            });
        }
    }

    /// The index for rules that can only match elements with the same id, class or name.
    fn bucket(&mut self, selector: &Selector<Names>) -> &mut Vec<usize> {
        let (mut id, mut class, mut name) = (None, None, None);
        for component in selector.iter_raw_match_order() {
            match component {
                Component::ID(word) => id = Some(&word.0),
                Component::Class(word) => class = Some(&word.0),
                Component::LocalName(local) => name = Some(&local.lower_name.0),
                Component::Combinator(combinator) if !combinator.is_pseudo_element() => break,
                _ => {}
            }
        }
        match (id, class, name) {
            (Some(id), ..) => self.by_id.entry(id.clone()).or_default(),
            (_, Some(class), _) => self.by_class.entry(class.clone()).or_default(),
            (.., Some(name)) => self.by_name.entry(name.clone()).or_default(),
            _ => &mut self.for_any,
        }
    }

    /// Applies all rules and the `style` attribute to an element.
    pub(super) fn dress(&mut self, candidate: &Candidate<'_>, dressed: &mut Dressed) {
        dressed.clear();
        let element = candidate.element;
        if self.rules.is_empty() && element.is_bare() {
            return;
        }
        let Self { rules, by_id, by_class, by_name, for_any, caches, .. } = self;
        let lower_name = lower(element.name());
        let classes = element.text("class").split_ascii_whitespace().filter_map(|class| by_class.get(class));
        let buckets = by_id.get(element.text("id")).into_iter().chain(classes);
        let buckets = buckets.chain(by_name.get(&*lower_name)).chain([&*for_any]);
        for styled in buckets.flatten().filter_map(|number| rules.get(*number)) {
            if !candidate.budget.spend(1) {
                break;
            }
            let Some(won) = dressed.part(&styled.selector) else { continue };
            if matches(&styled.selector, candidate, caches) {
                styled.declarations.iter().for_each(|declaration| won.enter(declaration, styled.weight));
            }
        }
        let inline = element.text("style");
        if !inline.is_empty() {
            for declaration in self.declarations(&sheet::declarations(inline)) {
                dressed.own.enter(&declaration, INLINE);
            }
        }
    }
}

fn lower(name: &str) -> Cow<'_, str> {
    match name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => Cow::Owned(name.to_ascii_lowercase()),
        false => Cow::Borrowed(name),
    }
}

impl Dressed {
    fn part(&mut self, selector: &Selector<Names>) -> Option<&mut Won> {
        match selector.pseudo_element() {
            None => Some(&mut self.own),
            Some(Pseudo::Before) => Some(&mut self.before),
            Some(Pseudo::After) => Some(&mut self.after),
            Some(Pseudo::Other) => None,
        }
    }
}

fn matches(selector: &Selector<Names>, candidate: &Candidate<'_>, caches: &mut SelectorCaches) -> bool {
    let mode = if selector.has_pseudo_element() {
        MatchingMode::ForStatelessPseudoElement
    } else {
        MatchingMode::Normal
    };
    let mut context = MatchingContext::new(
        mode,
        None,
        caches,
        QuirksMode::NoQuirks,
        NeedsSelectorFlags::No,
        MatchingForInvalidation::No,
    );
    // Once the budget is spent, a negated selector could match by mistake.
    matches_selector(selector, 0, None, candidate, &mut context) && !candidate.budget.is_spent()
}

/// Whether a declaration can show content that another hides.
fn shows(declaration: &Declaration) -> bool {
    match declaration.property {
        Property::Display | Property::Visibility | Property::ContentVisibility | Property::Opacity => {
            declaration.value == Value::Is(false)
        }
        Property::Left | Property::Top | Property::HeightMax | Property::Height | Property::Transform => true,
        Property::Colour | Property::FontSize | Property::ClipPath | Property::Clip => true,
        _ => false,
    }
}
