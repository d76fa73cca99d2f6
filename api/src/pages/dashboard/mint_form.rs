//! The form for a new token. Scopes are chosen by a preset, or one by one.

use std::time::Duration;

use domain::{Refusal, Scope, Scopes, Time};
use serde::Deserialize;

const DAY: Duration = Duration::from_secs(24 * 3600);
/// The lifetimes in days to choose from. Without one, a token never expires.
pub const DAYS_OFFERED: [u32; 4] = [1, 7, 30, 365];

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub struct MintForm {
    pub name: String,
    /// A choice of scopes by name. Without one, or with `custom`, the ticked scopes count.
    pub preset: String,
    #[serde(rename = "artifacts:write")]
    pub artifacts_write: Option<String>,
    #[serde(rename = "artifacts:read")]
    pub artifacts_read: Option<String>,
    #[serde(rename = "tokens:manage")]
    pub tokens_manage: Option<String>,
    #[serde(rename = "account:manage")]
    pub account_manage: Option<String>,
    pub page: String,
    pub days: String,
}

/// A usual set of scopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Preset {
    Publish,
    PublishOnly,
    ReadOnly,
    /// Everything that the person may grant.
    Full,
}

pub struct PresetChoice {
    pub value: &'static str,
    pub name: &'static str,
    pub text: &'static str,
    pub is_chosen: bool,
}

/// A scope that this person may grant.
pub struct ScopeChoice {
    pub scope: Scope,
    pub text: &'static str,
    pub is_ticked: bool,
}

/// The choice of scopes one by one.
const CUSTOM: &str = "custom";

impl Preset {
    const ALL: [Preset; 4] = [Preset::Publish, Preset::PublishOnly, Preset::ReadOnly, Preset::Full];

    fn value(self) -> &'static str {
        match self {
            Preset::Publish => "publish",
            Preset::PublishOnly => "publish-only",
            Preset::ReadOnly => "read-only",
            Preset::Full => "full",
        }
    }

    fn texts(self) -> (&'static str, &'static str) {
        match self {
            Preset::Publish => ("Publish and read", "What most agents need."),
            Preset::PublishOnly => ("Publish only", "Cannot list pages or see usage."),
            Preset::ReadOnly => ("Read only", "Lists pages and sees usage. Changes nothing."),
            Preset::Full => ("Full", "Everything that your role allows."),
        }
    }

    fn scopes(self, grantable: Scopes) -> Scopes {
        match self {
            Preset::Publish => Scopes::of_invited_agent(),
            Preset::PublishOnly => Scopes::none().with(Scope::ArtifactsWrite),
            Preset::ReadOnly => Scopes::none().with(Scope::ArtifactsRead),
            Preset::Full => grantable,
        }
    }

    /// Whether it differs from the presets before it.
    fn is_offered(self, grantable: Scopes) -> bool {
        self != Preset::Full || grantable != Preset::Publish.scopes(grantable)
    }
}

/// The name of the preset with exactly these scopes, as in the form.
pub fn preset_name(scopes: Scopes) -> Option<&'static str> {
    let mut presets = Preset::ALL.into_iter();
    presets.find(|preset| preset.scopes(Scopes::all()) == scopes).map(|preset| preset.texts().0)
}

impl MintForm {
    /// What most agents need: to publish, and to list what they have published.
    pub fn fresh() -> Self {
        let ticked = || Some("on".to_owned());
        let preset = Preset::Publish.value().to_owned();
        Self { preset, artifacts_write: ticked(), artifacts_read: ticked(), ..Self::default() }
    }

    /// The chosen scopes. `grantable` are those that the person may grant.
    pub fn scopes(&self, grantable: Scopes) -> Result<Scopes, Refusal> {
        let scopes = match self.preset.as_str() {
            "" | CUSTOM => self.ticked(),
            name => {
                let preset = Preset::ALL.into_iter().find(|preset| preset.value() == name);
                let unknown = || Refusal::invalid("scopes", "must be one of the listed choices");
                preset.ok_or_else(unknown)?.scopes(grantable)
            }
        };
        if scopes == Scopes::none() {
            return Err(Refusal::invalid("scopes", "needs at least one scope"));
        }
        Ok(scopes)
    }

    fn ticked(&self) -> Scopes {
        let ticked = [
            (&self.artifacts_write, Scope::ArtifactsWrite),
            (&self.artifacts_read, Scope::ArtifactsRead),
            (&self.tokens_manage, Scope::TokensManage),
            (&self.account_manage, Scope::AccountManage),
        ];
        let ticked = ticked.into_iter().filter(|(tick, _)| tick.is_some());
        ticked.fold(Scopes::none(), |scopes, (_, scope)| scopes.with(scope))
    }

    pub fn end(&self, now: Time) -> Result<Option<Time>, Refusal> {
        if self.days.is_empty() {
            return Ok(None);
        }
        let days = self.days.parse().ok().filter(|days| DAYS_OFFERED.contains(days));
        let days: u32 = days.ok_or_else(|| Refusal::invalid("days", "must be one of the listed values"))?;
        Ok(Some(now.plus(DAY * days)))
    }

    /// The presets, and the choice of scopes one by one, which a form without a preset has chosen.
    pub fn presets(&self, grantable: Scopes) -> Vec<PresetChoice> {
        let offered = Preset::ALL.into_iter().filter(|preset| preset.is_offered(grantable));
        let choices = offered.map(|preset| {
            let (name, text) = preset.texts();
            PresetChoice { value: preset.value(), name, text, is_chosen: preset.value() == self.preset }
        });
        let mut choices: Vec<_> = choices.collect();
        let is_chosen = !choices.iter().any(|choice| choice.is_chosen);
        choices.push(PresetChoice { value: CUSTOM, name: "Custom", text: "Choose each scope.", is_chosen });
        choices
    }

    pub fn scope_choices(&self, grantable: Scopes) -> Vec<ScopeChoice> {
        let scopes = Scope::ALL.into_iter().filter(|scope| grantable.has(*scope));
        let ticked = self.ticked();
        scopes.map(|scope| ScopeChoice { scope, text: text(scope), is_ticked: ticked.has(scope) }).collect()
    }
}

fn text(scope: Scope) -> &'static str {
    match scope {
        Scope::ArtifactsWrite => "publish, roll back and delete pages, and change their visibility",
        Scope::ArtifactsRead => "list pages and see usage",
        Scope::TokensManage => "create and revoke tokens",
        Scope::AccountManage => "manage the account: credit, invites, members",
    }
}

#[cfg(test)]
mod tests {
    use domain::Role;

    use super::*;

    fn form(preset: &str) -> MintForm {
        MintForm { preset: preset.into(), tokens_manage: Some("on".into()), ..MintForm::default() }
    }

    #[test]
    fn preset_decides_on_the_scopes_and_custom_leaves_them_to_the_boxes() {
        let scopes = |preset: &str, role| form(preset).scopes(Scopes::of_role(role)).map(|it| it.to_string());
        assert_eq!(scopes("publish", Role::Owner), Ok("artifacts:write,artifacts:read".into()));
        assert_eq!(scopes("publish-only", Role::Owner), Ok("artifacts:write".into()));
        assert_eq!(scopes("read-only", Role::Owner), Ok("artifacts:read".into()));
        assert_eq!(scopes("full", Role::Owner), Ok(Scopes::all().to_string()));
        assert_eq!(scopes("full", Role::Admin), Ok("artifacts:write,artifacts:read,tokens:manage".into()));
        for boxes in ["", "custom"] {
            assert_eq!(scopes(boxes, Role::Owner), Ok("tokens:manage".into()));
        }
        assert_eq!(scopes("Full", Role::Owner).unwrap_err().code(), "invalid_request");
        let none = MintForm { preset: CUSTOM.into(), ..MintForm::default() };
        assert_eq!(none.scopes(Scopes::all()).unwrap_err().code(), "invalid_request");
    }

    #[test]
    fn one_preset_is_chosen_and_a_member_sees_no_full_one() {
        let chosen = |form: MintForm, role| {
            let choices = form.presets(Scopes::of_role(role));
            let chosen: Vec<_> = choices.iter().filter(|choice| choice.is_chosen).collect();
            assert_eq!(chosen.len(), 1);
            (choices.len(), chosen[0].value)
        };
        assert_eq!(chosen(MintForm::fresh(), Role::Owner), (5, "publish"));
        assert_eq!(chosen(MintForm::fresh(), Role::Member), (4, "publish"));
        assert_eq!(chosen(form(""), Role::Owner), (5, CUSTOM));
        assert_eq!(chosen(form("full"), Role::Owner), (5, "full"));
    }
}
