//! Classifies the use of a thing in a sentence: a request for it, a label, or a mention.

use super::found::{Whole, is_plain};
use super::lures::LureAt;
use super::reader::{Gap, Manner, TextWord};
use super::roles::{Role::*, Roles};
use super::{Hint, Sense, Sensed, Text, Thing};

const OBJECT_WORDS_MAX: usize = 10;
const BEFORE_WORDS_MAX: usize = 60;
/// The first letters of the word for the phrase of a wallet, in most languages.
const MNEMONIC: [&str; 2] = ["mnemo", "мнемо"];

pub(super) struct PhraseMatch<'a> {
    pub(super) words: &'a [TextWord],
    is_question: bool,
    manner: Manner,
    pub(super) roles: Vec<Roles>,
    pub(super) lures: Vec<LureAt>,
    things: Vec<PhrasePosition>,
    pub(super) plain_words: usize,
    pub(super) whole: Whole,
}

/// The position of words that name a thing. Without a `thing` they only sound like one.
#[derive(Clone, Copy)]
pub(super) struct PhrasePosition {
    thing: Option<Thing>,
    pub(super) from: usize,
    pub(super) to: usize,
}

/// Reads the sentences of a text. Remembers the things of the last one, for "Enter it below".
#[derive(Default)]
pub(super) struct PhraseClassifier {
    last: Vec<(Thing, String)>,
    /// Things that the last sentence forbids to enter: "Never enter it elsewhere. Enter it only here."
    denied: Vec<(Thing, String)>,
    /// The text mentioned a secret phrase, and a number of words. Together they mean a seed phrase.
    has_phrase: bool,
    has_count: bool,
    demanded_mnemonic: Option<String>,
    /// Requests in quotation marks. They are reported speech unless the whole text is a quotation.
    reported: Vec<(Thing, String)>,
}

impl PhraseClassifier {
    pub(super) fn classifier(&mut self, sentence: &PhraseMatch<'_>, text: &mut Text) {
        if sentence.things.is_empty() && self.last.is_empty() && self.denied.is_empty() {
            return;
        }
        let it_here_at = sentence.it_here_at();
        let it_at = it_here_at.or_else(|| sentence.it_at());
        let (mut here, mut denied) = (Vec::new(), Vec::new());
        for (at, place) in sentence.things.iter().enumerate() {
            let Some(thing) = sentence.thing_of(at) else { continue };
            self.count(thing, place, sentence);
            if here.iter().any(|(known, _)| *known == thing)
                && text.sensed(thing).is_some_and(|sensed| sensed.sense == Sense::Requested)
            {
                continue;
            }
            // A promise of the page does not forbid what follows: "We never store it. Paste it below."
            let is_meant = !sentence.is_warned_of(place) || sentence.is_ours(place);
            let is_it = it_at.is_some_and(|it_at| {
                place.to <= it_at && (is_meant || place.to <= sentence.clause_start(it_at))
            });
            let sense = if is_it { Sense::Requested } else { sentence.sense_of(place) };
            let sense = self.unless_reported(sense, thing, place, sentence);
            if sense == Sense::Requested && sentence.is_typed_mnemonic(place) {
                self.demanded_mnemonic.get_or_insert_with(|| sentence.evidence(place));
            }
            text.put_sense(thing, sense, || sentence.evidence(place));
            if is_meant && !here.iter().any(|(known, _)| *known == thing) {
                here.push((thing, sentence.evidence(place)));
            } else if !is_meant && !denied.iter().any(|(known, _)| *known == thing) {
                denied.push((thing, sentence.evidence(place)));
            }
        }
        if it_here_at.is_some() && here.is_empty() && denied.is_empty() {
            self.last.append(&mut self.denied);
        }
        if it_at.is_some() && here.is_empty() {
            for (thing, words) in self.last.drain(..) {
                text.put_sense(thing, Sense::Requested, || words);
            }
        }
        (self.last, self.denied) = (here, denied);
    }

    fn count(&mut self, thing: Thing, place: &PhrasePosition, sentence: &PhraseMatch<'_>) {
        if thing == Thing::MaybeSeedPhrase {
            let is_count = sentence.words[place.from].folded.bytes().all(|byte| byte.is_ascii_digit());
            self.has_count |= is_count;
            self.has_phrase |= !is_count && place.to > place.from + 1;
        }
    }

    fn unless_reported(
        &mut self,
        sense: Sense,
        thing: Thing,
        place: &PhrasePosition,
        sentence: &PhraseMatch<'_>,
    ) -> Sense {
        if sense != Sense::Requested || !sentence.is_reported(place) {
            return sense;
        }
        if !self.reported.iter().any(|(known, _)| *known == thing) {
            self.reported.push((thing, sentence.evidence(place)));
        }
        Sense::Mentioned
    }

    /// Decides at the end whether quotations count, and resolves things that depend on other words.
    pub(super) fn settle(&mut self, are_quotes_reported: bool, manner: Manner, text: &mut Text) {
        if !are_quotes_reported {
            self.reported
                .drain(..)
                .for_each(|(thing, words)| text.put_sense(thing, Sense::Requested, || words));
        }
        let has_wallet = text.has(Hint::Wallet);
        // Without a wallet nearby, a seed that is only mentioned means a plant.
        let is_passing = |seed: &Sensed| seed.sense == Sense::Mentioned && seed.words == "seed";
        if !has_wallet && text.sensed(Thing::MaybeSeedPhrase).is_some_and(is_passing) {
            text.take_sense(Thing::MaybeSeedPhrase);
        }
        let is_about_words = has_wallet || text.sensed(Thing::MaybeSeedPhrase).is_some();
        if let Some(phrase) = text.take_sense(Thing::BarePhrase)
            && (is_about_words || manner == Manner::Name)
        {
            text.put_sense(Thing::MaybeSeedPhrase, phrase.sense, || phrase.words);
        }
        // A mnemonic phrase for learning, such as for the planets, is never requested.
        if let Some(words) = self.demanded_mnemonic.take()
            && !text.has(Hint::Quiz)
            && !text.has(Hint::Elsewhere)
        {
            text.put_sense(Thing::SeedPhrase, Sense::Requested, || words);
        }
        if self.has_phrase
            && self.has_count
            && let Some(phrase) = text.sense(Thing::MaybeSeedPhrase)
        {
            text.put_sense(Thing::SeedPhrase, phrase.sense, || phrase.words);
        }
        if let Some(phrase) = text.take_sense(Thing::RecoveryPhrase) {
            let is_certain = is_about_words || phrase.sense >= Sense::Named;
            let thing = if is_certain { Thing::SeedPhrase } else { Thing::MaybeSeedPhrase };
            text.put_sense(thing, phrase.sense, || phrase.words);
        }
    }
}

impl<'a> PhraseMatch<'a> {
    pub(super) fn new(words: &'a [TextWord], is_question: bool, manner: Manner) -> Self {
        let roles = vec![Roles::default(); words.len()];
        PhraseMatch {
            words,
            is_question,
            manner,
            roles,
            lures: Vec::new(),
            things: Vec::new(),
            plain_words: 0,
            whole: Whole::default(),
        }
    }

    pub(super) fn add_thing(&mut self, thing: Option<Thing>, from: usize, to: usize) {
        self.things.push(PhrasePosition { thing, from, to });
    }

    /// Runs after all phrases are found: numbers become fillers, and the words of a thing lose their roles.
    pub(super) fn settle(&mut self) {
        for (roles, word) in self.roles.iter_mut().zip(self.words) {
            if word.folded.bytes().all(|byte| byte.is_ascii_digit()) || word.folded.chars().count() == 1 {
                *roles |= Filler;
            }
        }
        for place in &self.things {
            if place.thing.is_some() {
                self.roles[place.from..place.to].fill(Roles::default());
            }
            // `du` is a German subject and a French preposition. After a noun it is the latter.
            if let Some(roles) = self.roles.get_mut(place.to).filter(|roles| roles.has_any(Link)) {
                roles.remove(Subject);
            }
        }
        self.plain_words =
            self.roles.iter().filter(|roles| is_plain(**roles) && !roles.has_any(Kind)).count();
    }

    /// A recovery phrase that is shared with other people is not necessarily that of a wallet.
    fn thing_of(&self, at: usize) -> Option<Thing> {
        let place = &self.things[at];
        if self.is_inside_row(at) {
            return None;
        }
        let is_shared = self.any(self.clause_start(place.from)..place.from, Share);
        place.thing.map(|thing| {
            if thing == Thing::RecoveryPhrase && is_shared { Thing::MaybeSeedPhrase } else { thing }
        })
    }

    /// `mnemonic phrase`, to be typed here and not to be shared or written on paper.
    fn is_typed_mnemonic(&self, place: &PhrasePosition) -> bool {
        let mut words = self.words[place.from..place.to].iter();
        let is_mnemonic =
            words.len() > 1 && words.any(|word| MNEMONIC.iter().any(|stem| word.folded.starts_with(stem)));
        is_mnemonic && !self.any(self.scope_start(place.from)..place.from, Share | Write)
    }

    /// The same thing is directly before and after it, so that it adds nothing: `seed seed seed`.
    fn is_inside_row(&self, at: usize) -> bool {
        let is_next = |first: &PhrasePosition, second: &PhrasePosition| {
            first.to == second.from && first.thing == second.thing && self.words[second.from].gap == Gap::None
        };
        at > 0
            && self
                .things
                .get(at - 1..at + 2)
                .is_some_and(|row| row.windows(2).all(|two| is_next(&two[0], &two[1])))
    }

    fn sense_of(&self, place: &PhrasePosition) -> Sense {
        if self.manner == Manner::Name {
            return self.sense_in_name(place);
        }
        if self.is_threat(place) {
            return Sense::Requested;
        }
        if self.is_tailed(place) || self.is_warned_of(place) || self.is_for_elsewhere(place) {
            return Sense::Mentioned;
        }
        if self.is_questioned(place) {
            return if self.is_inquired(place) { Sense::Requested } else { Sense::Mentioned };
        }
        if self.is_requested(place) {
            Sense::Requested
        } else if self.is_label(place) {
            Sense::Named
        } else {
            Sense::Mentioned
        }
    }

    /// An identifier with a thing names its field after it, unless it also contains one of a few words.
    fn sense_in_name(&self, place: &PhrasePosition) -> Sense {
        let is_other = self.any(0..self.words.len(), No | Keep | Talk | Tail | Other);
        if is_other && !self.is_clearly_given(place) { Sense::Mentioned } else { Sense::Named }
    }

    fn is_clearly_given(&self, place: &PhrasePosition) -> bool {
        place.from > 0 && self.roles[place.from - 1].has_any(Give) && !self.is_tailed(place)
    }

    /// `seed phrase generator`: the thing only qualifies the noun after it.
    fn is_tailed(&self, place: &PhrasePosition) -> bool {
        let mut rest = place.to..self.clause_end(place.to);
        // `seed phrase or private key generator`
        if let Some(next) = self.things.iter().find(|next| next.from == place.to + 1)
            && self.roles[place.to].has_any(And)
        {
            rest.start = next.to.min(rest.end);
        }
        rest.start < rest.end && self.roles[rest.start].has_any(Tail)
    }

    /// It is in the scope of a negation, or the text says that somebody else asks for it.
    fn is_warned_of(&self, place: &PhrasePosition) -> bool {
        let scope = self.scope_start(place.from);
        let before = scope..place.from;
        let is_given_before = self.any(before.clone(), Give);
        let after =
            place.to..if is_given_before { self.demand_end(place.to) } else { self.clause_end(place.to) };
        if self.any(before.clone(), No) || self.any(after.clone(), NoLast) {
            return true;
        }
        if !is_given_before && self.any(after, No) && self.manner == Manner::Prose {
            return true;
        }
        self.any(before, Other)
            || (!self.is_imperative(scope) && self.any(self.far_before(scope), Other))
            || (self.follows_colon(scope) && self.any(self.far_before(scope), Other))
    }

    fn is_ours(&self, place: &PhrasePosition) -> bool {
        let before = self.scope_start(place.from)..place.from;
        self.any(before, Ours)
    }

    fn far_before(&self, scope: usize) -> std::ops::Range<usize> {
        scope.saturating_sub(BEFORE_WORDS_MAX)..scope
    }

    fn follows_colon(&self, clause: usize) -> bool {
        clause > 0 && self.words.get(clause).is_some_and(|word| word.gap == Gap::Colon)
    }

    /// The clause begins with a verb of giving, or with `please`.
    fn is_imperative(&self, clause: usize) -> bool {
        self.roles.get(clause).is_some_and(|roles| roles.has_any(Give | Please))
    }

    fn is_questioned(&self, place: &PhrasePosition) -> bool {
        let scope = self.scope_start(place.from);
        let opens = |at: usize| self.roles.get(at).is_some_and(|roles| roles.has_any(Question));
        let is_opened = opens(0) || opens(1) || opens(scope) || (scope..place.from).skip(1).any(opens);
        is_opened || (self.is_question && !self.is_imperative(scope) && !self.is_bare(place))
    }

    /// The sentence is only a label, as in `Private key?`.
    fn is_bare(&self, place: &PhrasePosition) -> bool {
        let rest = (0..self.words.len()).filter(|at| !(place.from..place.to).contains(at));
        rest.into_iter().all(|at| self.roles[at].has_any(Filler))
    }

    /// Questions that request it: `What is your CVV?`, `Could you please enter your seed phrase?`
    fn is_inquired(&self, place: &PhrasePosition) -> bool {
        let before = self.scope_start(place.from)..place.from;
        let near = place.from.saturating_sub(4).max(before.start)..place.from;
        let is_end = self.clause_end(place.to) == place.to;
        let is_polite = self.any(before.clone(), Please) && self.any(before, Give);
        is_polite || (is_end && self.any(near, Inquire))
    }

    fn is_requested(&self, place: &PhrasePosition) -> bool {
        let scope = self.scope_start(place.from);
        let near = place.from.saturating_sub(OBJECT_WORDS_MAX).max(scope)..place.from;
        if let Some(verb) = near.clone().rev().find(|at| self.roles[*at].has_any(Give))
            && !self.any(verb + 1..place.from, Keep | Talk | Question | Subject | Nothing)
            && !self.is_statement(verb, scope)
            && !self.any(scope..verb, Talk)
            && !self.is_put_on_paper(verb, place)
        {
            return true;
        }
        let after = place.to..self.verb_last_end(place.to);
        let Some(verb) = after.clone().find(|at| self.roles[*at].has_any(GiveLast)) else { return false };
        !self.any(place.to..verb, Keep | Talk | No | Question)
            && !self.any(near, Talk | Keep | Question)
            && !self.any(verb..self.demand_end(verb), Talk | Tail)
            && !self.is_put_on_paper(verb, place)
    }

    /// `Write it on the steel plate`: something written on paper is not typed into a field.
    fn is_put_on_paper(&self, verb: usize, place: &PhrasePosition) -> bool {
        let end = self.clause_end(place.to.max(verb + 1));
        self.roles[verb].has_any(Write) && self.any(self.scope_start(place.from.min(verb))..end, Paper)
    }

    fn is_reported(&self, place: &PhrasePosition) -> bool {
        let near = self.scope_start(place.from)..self.clause_end(place.to);
        let asks_itself = |at: usize| !self.words[at].is_quoted && self.roles[at].has_any(Give | GiveLast);
        self.words[place.from].is_quoted && !near.into_iter().any(asks_itself)
    }

    /// `when you enter`, `users enter`: a statement and not a request.
    fn is_statement(&self, verb: usize, scope: usize) -> bool {
        let mut first = verb;
        while first > scope && self.roles[first - 1].has_any(Give) {
            first -= 1;
        }
        first > scope && self.roles[first - 1].has_any(Subject)
    }

    /// `If you do not enter it, your account will be deleted.`
    fn is_threat(&self, place: &PhrasePosition) -> bool {
        let clause = self.clause_start(place.from);
        let before = clause..place.from;
        before.len() < OBJECT_WORDS_MAX
            && self.roles.get(clause).is_some_and(|roles| !roles.has_any(Question))
            && self.any(before.clone(), No)
            && self.any(before, Give)
            && self.any(self.clause_end(place.to)..self.words.len(), Threat)
            && self.roles.get(clause).is_some_and(|roles| roles.has_any(If))
    }

    pub(super) fn is_in_thing(&self, at: usize) -> bool {
        let next = self.things.partition_point(|place| place.to <= at);
        self.things.get(next).is_some_and(|place| place.from <= at)
    }

    /// The position of a verb of giving whose only object is `it` or `below`.
    fn it_at(&self) -> Option<usize> {
        if self.manner == Manner::Name {
            return None;
        }
        (0..self.words.len()).find(|at| {
            let scope = self.clause_start(*at);
            self.roles[*at].has_any(It)
                && self.any(at.saturating_sub(2).max(scope)..*at, Give)
                && !self.any(scope..*at, No | Other | Talk | Subject | Keep)
                && !self.any(*at..(at + 4).min(self.words.len()), Only | NoLast)
                && !self.is_placed_elsewhere(scope, at + 1)
                && !self.roles.first().is_some_and(|roles| roles.has_any(Question) && self.is_question)
        })
    }
}
