//! The state while a document is read: open elements, hidden elements and labels.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use html5ever::local_name;

use super::field::Field;
use super::label::Labels;
use super::run::{Run, SetAs};
use super::{Form, Part, Region, Role, Spot, raised};
use crate::document::{Document, Element, NodeId};
use crate::style::{ElementVisibility, Looks};

/// The number of templates of a document whose names are searched for in its scripts.
const TEMPLATES_MAX: usize = 50;

pub(super) struct ElementContext<'d> {
    pub(super) document: &'d Document,
    pub(super) looks: &'d Looks,
    /// The number of frames around it.
    pub(super) depth: usize,
    /// The region that the frame itself is in.
    outer: Option<Region>,
    regions: HashMap<NodeId, Region>,
    /// For each node, whether it contains a field. If such an element is hidden, it is a later step of the
    /// page.
    holding: Vec<bool>,
    /// Templates that no script of the document can refer to.
    dead: HashSet<NodeId>,
    pub(super) labels: Labels<'d>,
    forms: Vec<Form>,
    form_ids: HashMap<&'d str, Form>,
    /// Fields with a `form` attribute: their numbers and the attribute's values.
    form_wanted: Vec<(usize, &'d str)>,
    stories: Vec<u32>,
    margins: Vec<u32>,
    open: Open,
}

/// The number of open elements of each kind.
#[derive(Default)]
struct Open {
    headings: usize,
    buttons: usize,
    links: usize,
    samples: usize,
    /// Superscripts and subscripts.
    raised: usize,
    editables: usize,
}

impl<'d> ElementContext<'d> {
    pub(super) fn new(document: &'d Document, looks: &'d Looks, depth: usize, outer: Option<Region>) -> Self {
        Self {
            document,
            looks,
            depth,
            outer,
            regions: HashMap::new(),
            holding: holding_fields(document),
            dead: dead_templates(document),
            labels: Labels::default(),
            forms: Vec::new(),
            form_ids: HashMap::new(),
            form_wanted: Vec::new(),
            stories: Vec::new(),
            margins: Vec::new(),
            open: Open::default(),
        }
    }

    /// Whether visitors can see it, now or at a later step.
    pub(super) fn is_readable(&mut self, node: NodeId, regions_seen: &mut u32) -> bool {
        self.looks.shown(node) == ElementVisibility::Seen || self.region(node, regions_seen) != self.outer
    }

    /// The region of a node: that of the frame if the node is visible, otherwise one for each outermost
    /// hidden element that contains a field. Hidden elements without a field stay hidden.
    pub(super) fn region(&mut self, node: NodeId, regions_seen: &mut u32) -> Option<Region> {
        let Some(by) = self.looks.hidden_by(node).filter(|by| self.holds_field(*by)) else {
            return self.outer;
        };
        let is_template = self.document.element(by).is_some_and(is_inert_template);
        Some(*self.regions.entry(by).or_insert_with(|| {
            *regions_seen += 1;
            Region { number: *regions_seen, is_template }
        }))
    }

    fn holds_field(&self, node: NodeId) -> bool {
        let holds = self.holding.get(node.index()) == Some(&true)
            || self.document.element(node).is_some_and(Field::is);
        holds && !self.dead.contains(&node)
    }

    pub(super) fn open_form(&mut self, element: Element<'d>, form: Form) {
        self.forms.push(form);
        if let Some(id) = element.get("id") {
            self.form_ids.entry(id).or_insert(form);
        }
    }

    pub(super) fn close_form(&mut self) {
        self.forms.pop();
    }

    /// The position of the next content, in a region.
    pub(super) fn spot(&self, region: Option<Region>) -> Spot {
        let form = self.forms.last().copied().unwrap_or(Form::None);
        Spot { form, region, story: self.stories.last().copied(), margin: self.margins.last().copied() }
    }

    /// Records that a story or a margin with a number of its own opens.
    pub(super) fn open_part(&mut self, element: Element<'_>, number: u32) {
        if let Some(parts) = self.parts_like(element) {
            parts.push(number);
        }
    }

    pub(super) fn close_part(&mut self, element: Element<'_>) {
        if let Some(parts) = self.parts_like(element) {
            parts.pop();
        }
    }

    fn parts_like(&mut self, element: Element<'_>) -> Option<&mut Vec<u32>> {
        match (element.local(), element.text("role")) {
            (&local_name!("article") | &local_name!("blockquote") | &local_name!("figure"), _) => {
                Some(&mut self.stories)
            }
            (&local_name!("nav") | &local_name!("footer"), _) | (_, "navigation" | "contentinfo") => {
                Some(&mut self.margins)
            }
            _ => None,
        }
    }

    pub(super) fn want_form(&mut self, element: Element<'d>, field: usize) {
        if let Some(id) = element.get("form") {
            self.form_wanted.push((field, id));
        }
    }

    /// Adds to the fields what is known only at the end of the document: labels with `for`, and the forms
    /// that they refer to.
    pub(super) fn finish(self, part: &mut Part) {
        self.labels.put(self.document, part);
        for (field, id) in self.form_wanted {
            if let (Some(field), Some(form)) = (part.fields.get_mut(field), self.form_ids.get(id)) {
                field.spot.form = *form;
            }
        }
    }

    /// Records that an element opens (1) or closes (-1).
    pub(super) fn count(&mut self, element: Element<'_>, by: isize) {
        let open = &mut self.open;
        if Field::is_by_editing(element) {
            open.editables = open.editables.saturating_add_signed(by);
        }
        let counter = match *element.local() {
            local_name!("h1") | local_name!("h2") | local_name!("h3") => &mut open.headings,
            local_name!("h4") | local_name!("h5") | local_name!("h6") => &mut open.headings,
            local_name!("legend") | local_name!("caption") => &mut open.headings,
            local_name!("button") => &mut open.buttons,
            local_name!("a") => &mut open.links,
            local_name!("pre") | local_name!("xmp") | local_name!("listing") => &mut open.samples,
            local_name!("sup") | local_name!("sub") => &mut open.raised,
            local_name!("plaintext") | local_name!("samp") => &mut open.samples,
            _ => match element.text("role") {
                "heading" => &mut open.headings,
                "button" => &mut open.buttons,
                _ => return,
            },
        };
        *counter = counter.saturating_add_signed(by);
    }

    pub(super) fn is_in_link(&self) -> bool {
        self.open.links > 0
    }

    pub(super) fn is_in_button(&self) -> bool {
        self.open.buttons > 0
    }

    /// Whether the editable element that was just opened is inside of another, and so is not a field of its
    /// own.
    pub(super) fn is_in_other_editable(&self) -> bool {
        self.open.editables > 1
    }

    /// A text as visitors read it at this position.
    pub(super) fn as_read<'t>(&self, node: NodeId, text: &'t str) -> Cow<'t, str> {
        if self.looks.is_reversed(node) {
            return Cow::Owned(text.chars().rev().collect());
        }
        let mark = if self.open.raised > 0 { raised::mark(text) } else { None };
        mark.map_or(Cow::Borrowed(text), Cow::Owned)
    }

    pub(super) fn role_of(&self, run: &Run) -> Role {
        let set_as = if self.open.samples > 0 { SetAs::Code } else { SetAs::Text };
        if run.is_sample(set_as) {
            Role::Code
        } else if self.open.headings > 0 {
            Role::Heading
        } else if self.open.buttons > 0 {
            Role::Button
        } else if run.is_link() {
            Role::Link
        } else {
            Role::Plain
        }
    }
}

/// A template that is not rendered without a script. Libraries such as Vue and Alpine render those with one
/// of their attributes.
fn is_inert_template(element: Element<'_>) -> bool {
    let is_marked = |name: &str| ["x-", "v-", ":", "@", "#"].iter().any(|mark| name.starts_with(mark));
    *element.local() == local_name!("template") && !element.attributes().any(|(name, _)| is_marked(name))
}

/// Templates that no script refers to by id, by class or by the word `template`. A script in another file may
/// refer to any.
fn dead_templates(document: &Document) -> HashSet<NodeId> {
    let (mut templates, mut scripts) = (Vec::new(), Vec::new());
    for node in document.nodes() {
        match document.element(node) {
            Some(element) if is_inert_template(element) => templates.push((node, element)),
            Some(element) if *element.local() != local_name!("script") => {}
            Some(element) if element.has("src") => return HashSet::new(),
            Some(_) => scripts.push(document.source_in(node)),
            _ => {}
        }
    }
    let says = |name: &str| scripts.iter().any(|script| script.contains(name));
    if scripts.iter().any(|script| goes_by_kind(script)) || templates.len() > TEMPLATES_MAX {
        return HashSet::new();
    }
    let is_named = |element: Element<'_>| {
        element.text("id").split_whitespace().chain(element.text("class").split_whitespace()).any(says)
    };
    templates.into_iter().filter(|(_, element)| !is_named(*element)).map(|(node, _)| node).collect()
}

/// Whether a script selects templates by their element name. `createElement('template')` does not count.
fn goes_by_kind(script: &str) -> bool {
    let is_quote = |one: Option<char>| one.is_some_and(|one| matches!(one, '\'' | '"' | '`'));
    script.match_indices("template").any(|(at, word)| {
        let (before, after) = (&script[..at], &script[at + word.len()..]);
        let begins = is_quote(before.chars().next_back());
        let is_made = begins && before[..before.len() - 1].ends_with("createElement(");
        !is_made && (begins || is_quote(after.chars().next()))
    })
}

/// For each node, whether it contains a field at any depth. The climb stops at the first marked ancestor, so
/// that the time is linear.
fn holding_fields(document: &Document) -> Vec<bool> {
    let mut holding = vec![false; document.node_count()];
    let is_inset = |element: Element<'_>| *element.local() == local_name!("iframe");
    for node in document.nodes() {
        if document.element(node).is_none_or(|element| !Field::is(element) && !is_inset(element)) {
            continue;
        }
        let mut above = document.parent(node);
        while let Some(parent) = above
            && let Some(slot) = holding.get_mut(parent.index())
            && !std::mem::replace(slot, true)
        {
            above = document.parent(parent);
        }
    }
    holding
}
