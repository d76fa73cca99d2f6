//! Reads tags as they are written. The tokenizers compare every attribute of a tag with all before it, which
//! takes hours for a million attributes. So this trims tags that no person writes.

/// The number of attributes of a tag that are always kept. Beyond it only relevant attributes are kept, so
/// that very many attributes cannot hide what a field asks for.
const ATTRIBUTES_MAX: usize = 64;
const NAME_BYTES_MAX: usize = 200;
/// Meaningless bytes between attributes. The tokenizer is slow, because it reports each as an error.
const LITTER_BYTES_MAX: usize = 1000;

/// Attributes that affect what an element is, contains, asks for or looks like.
const ATTRIBUTES_THAT_MATTER: [&str; 44] = [
    "accept",
    "action",
    "alt",
    "aria-describedby",
    "aria-description",
    "aria-hidden",
    "aria-label",
    "aria-labelledby",
    "aria-placeholder",
    "autocomplete",
    "bgcolor",
    "class",
    "color",
    "content",
    "contenteditable",
    "data",
    "disabled",
    "for",
    "form",
    "height",
    "hidden",
    "href",
    "http-equiv",
    "id",
    "inert",
    "inputmode",
    "label",
    "maxlength",
    "name",
    "open",
    "placeholder",
    "popover",
    "readonly",
    "rel",
    "role",
    "shadowrootmode",
    "src",
    "srcdoc",
    "style",
    "title",
    "type",
    "value",
    "width",
    "xmlns",
];

/// The end of a tag, and its new text if it had to be trimmed.
pub(super) struct Tag {
    /// The position after its `>`, or the end of the text.
    pub(super) end: usize,
    pub(super) cut_down: Option<String>,
}

pub(super) fn read(text: &str, start: usize) -> Tag {
    let mut attributes = Attributes::of(text, start);
    let (mut count, mut name_bytes) = (0, attributes.at - start);
    for attribute in attributes.by_ref() {
        count += 1;
        name_bytes = name_bytes.max(attribute.name.len());
    }
    let is_tame = count <= ATTRIBUTES_MAX
        && name_bytes <= NAME_BYTES_MAX
        && attributes.litter_bytes <= LITTER_BYTES_MAX;
    let cut_down = (!is_tame).then(|| cut_down(text, start));
    Tag { end: attributes.end(), cut_down }
}

fn cut_down(text: &str, start: usize) -> String {
    let mut attributes = Attributes::of(text, start);
    let name: String = text.get(start..attributes.at).unwrap_or("<").chars().take(NAME_BYTES_MAX).collect();
    let mut tag = name;
    let mut kept = Vec::new();
    for (number, attribute) in attributes.by_ref().enumerate() {
        if attribute.name.len() > NAME_BYTES_MAX {
            continue;
        }
        let known = ATTRIBUTES_THAT_MATTER.iter().find(|known| known.eq_ignore_ascii_case(attribute.name));
        let is_first_of_known = known.is_some_and(|known| !kept.contains(known));
        if number < ATTRIBUTES_MAX || is_first_of_known || is_namespace(attribute.name, number) {
            tag.push(' ');
            tag.push_str(attribute.text);
            kept.extend(known);
        }
    }
    if attributes.end() <= text.len() && text.get(..attributes.end()).is_some_and(|tag| tag.ends_with('>')) {
        tag.push_str(if attributes.closes_itself { " />" } else { " >" });
    }
    tag
}

/// Attributes that declare namespaces are kept within limits, because prefixes depend on them.
fn is_namespace(name: &str, number: usize) -> bool {
    number < 4 * ATTRIBUTES_MAX && name.starts_with("xmlns:")
}

pub(super) fn is_attribute_that_matters(name: &str) -> bool {
    ATTRIBUTES_THAT_MATTER.contains(&name)
}

struct Attribute<'a> {
    name: &'a str,
    /// The name and the quoted value.
    text: &'a str,
}

/// The attributes of a tag, split as in the HTML standard.
struct Attributes<'a> {
    text: &'a str,
    at: usize,
    litter_bytes: usize,
    closes_itself: bool,
}

impl<'a> Attributes<'a> {
    fn of(text: &'a str, start: usize) -> Self {
        let mut attributes = Self { text, at: start + 1, litter_bytes: 0, closes_itself: false };
        if attributes.byte() == Some(b'/') {
            attributes.at += 1;
        }
        attributes.pass(|byte| !is_space(byte) && !matches!(byte, b'/' | b'>'));
        attributes
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn pass(&mut self, belongs: impl Fn(u8) -> bool) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        self.at += rest.iter().position(|byte| !belongs(*byte)).unwrap_or(rest.len());
    }

    /// The position after the tag. Valid only after all attributes have been read.
    fn end(&self) -> usize {
        (self.at + 1).min(self.text.len())
    }

    fn skip_value(&mut self) {
        self.at += 1;
        self.pass(is_space);
        match self.byte() {
            Some(quote @ (b'"' | b'\'')) => {
                self.at += 1;
                self.pass(|byte| byte != quote);
                self.at = (self.at + 1).min(self.text.len());
            }
            _ => self.pass(|byte| !is_space(byte) && byte != b'>'),
        }
    }
}

impl<'a> Iterator for Attributes<'a> {
    type Item = Attribute<'a>;

    fn next(&mut self) -> Option<Attribute<'a>> {
        let before = self.at;
        self.pass(|byte| is_space(byte) || byte == b'/');
        self.litter_bytes += self.at - before;
        let start = self.at;
        if matches!(self.byte(), None | Some(b'>')) {
            self.closes_itself = before < start && self.text.as_bytes().get(start - 1) == Some(&b'/');
            return None;
        }
        self.at += 1;
        self.pass(|byte| !is_space(byte) && !matches!(byte, b'/' | b'>' | b'='));
        let (name_end, mut end) = (self.at, self.at);
        self.pass(is_space);
        if self.byte() == Some(b'=') {
            self.skip_value();
            end = self.at;
        } else {
            self.at = name_end;
        }
        let slice = |end| self.text.get(start..end).unwrap_or_default();
        Some(Attribute { name: slice(name_end), text: slice(end) })
    }
}

pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c')
}
