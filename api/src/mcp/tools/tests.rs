//! The description of every tool agrees with what the tool does.

use domain::{FileSet, Micro, Missing, Refusal, Tariff, UploadTicket};
use serde_json::{Value, json};
use service::WAITING_UPLOADS_MAX;

use super::*;
use crate::mcp::arguments;
use crate::mcp::tool::Tool;

/// Every model reads all descriptions, whether or not it uses the tools.
const DESCRIPTION_LENGTH_MAX: usize = 1_200;

/// Compares a tool's schema with the arguments that it parses.
fn assert_arguments_are_as_told<T: Tool>() -> &'static str {
    let (name, schema) = (T::NAME, T::schema());
    assert_eq!(schema["type"], "object", "{name}");
    assert_eq!(schema["additionalProperties"], false, "{name}");
    let properties = schema["properties"].as_object().expect("properties");
    for (property, schema) in properties {
        assert!(schema["description"].as_str().is_some_and(|text| text.len() > 15), "{name}: {property}");
    }
    let unknown = fault::<T>(json!({ "no such argument": 1 }));
    let expected: Vec<_> = unknown.split('`').skip(3).step_by(2).collect();
    assert_eq!(
        sorted(expected),
        sorted(properties.keys().map(String::as_str).collect()),
        "{name}: {unknown}"
    );
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    if let Some(first) = required.first() {
        assert_eq!(fault::<T>(json!({})), format!("missing field `{}`", first.as_str().unwrap()), "{name}");
    } else {
        assert!(arguments::read::<T::Arguments>(None).is_ok(), "{name}");
    }
    name
}

fn fault<T: Tool>(given: Value) -> String {
    let Err(refusal) = arguments::read::<T::Arguments>(given.as_object().cloned()) else {
        panic!("{} takes {given}", T::NAME)
    };
    refusal.message().split_once("body: ").unwrap().1.replacen("no such argument: ", "", 1)
}

fn sorted(mut names: Vec<&str>) -> Vec<&str> {
    names.sort_unstable();
    names
}

#[test]
fn every_tool_accepts_exactly_the_arguments_of_its_schema() {
    let checked = [
        assert_arguments_are_as_told::<publish_artifact::PublishArtifact>(),
        assert_arguments_are_as_told::<edit_artifact::EditArtifact>(),
        assert_arguments_are_as_told::<stage_upload::StageUpload>(),
        assert_arguments_are_as_told::<publish_upload::PublishUpload>(),
        assert_arguments_are_as_told::<list_artifacts::ListArtifacts>(),
        assert_arguments_are_as_told::<get_artifact::GetArtifact>(),
        assert_arguments_are_as_told::<list_files::ListFiles>(),
        assert_arguments_are_as_told::<read_file::ReadFile>(),
        assert_arguments_are_as_told::<diff_versions::DiffVersions>(),
        assert_arguments_are_as_told::<rollback_artifact::RollbackArtifact>(),
        assert_arguments_are_as_told::<set_visibility::SetVisibility>(),
        assert_arguments_are_as_told::<delete_artifact::DeleteArtifact>(),
        assert_arguments_are_as_told::<get_account::GetAccount>(),
        assert_arguments_are_as_told::<create_claim_link::CreateClaimLink>(),
        assert_arguments_are_as_told::<create_invite::CreateInvite>(),
        assert_arguments_are_as_told::<add_credits::AddCredits>(),
    ];
    let listed: Vec<_> = ALL.iter().map(|tool| tool.name).collect();
    assert_eq!(checked.to_vec(), listed);
}

#[test]
fn every_result_has_a_schema_in_the_terms_of_json_schema() {
    for tool in ALL {
        let schema = Value::Object((*(tool.definition)(&Tariff::default()).output_schema.unwrap()).clone());
        assert_eq!(schema["type"], "object", "{}", tool.name);
        let text = schema.to_string();
        assert!(
            schema["anyOf"][0]["properties"].as_object().is_some_and(|fields| !fields.is_empty()),
            "{text}"
        );
        for foreign in ["$ref", "nullable", "uint32", "discriminator"] {
            assert!(!text.contains(&format!("\"{foreign}\"")), "{foreign}: {text}");
        }
    }
}

#[test]
fn every_tool_has_title_annotations_and_described_result() {
    for tool in ALL {
        let definition = (tool.definition)(&Tariff::default());
        assert!(definition.title.is_some_and(|title| !title.is_empty()), "{}", tool.name);
        let description = definition.description.unwrap();
        assert!(description.contains("Returns ") && description.contains("Use it"), "{description}");
        let costs = ["Free", "Costs", "charged", "costs 0.005"];
        assert!(costs.iter().any(|word| description.contains(word)), "{description}");
        assert!(description.len() < DESCRIPTION_LENGTH_MAX, "{} of {}", description.len(), tool.name);
        let effect = definition.annotations.unwrap();
        let hints =
            [effect.read_only_hint, effect.destructive_hint, effect.idempotent_hint, effect.open_world_hint];
        assert!(hints.iter().all(Option::is_some), "{}", tool.name);
        assert_ne!((effect.read_only_hint, effect.destructive_hint), (Some(true), Some(true)));
    }
}

fn description(tool: &str, tariff: &Tariff) -> String {
    let listed = ALL.iter().find(|listed| listed.name == tool).unwrap();
    (listed.definition)(tariff).description.unwrap().into_owned()
}

#[test]
fn tool_descriptions_show_the_charged_price() {
    let tariff = Tariff { publish_price: Micro::new(12_345), ..Tariff::default() };
    for tool in ["publish_artifact", "edit_artifact", "publish_upload", "add_credits"] {
        let text = description(tool, &tariff);
        assert!(text.contains("0.012345 USD") && !text.contains("0.005"), "{text}");
    }
    for tool in ALL {
        let text = description(tool.name, &tariff);
        assert!(!text.contains(crate::mcp::tool::PUBLISH_PRICE), "{text}");
    }
}

#[test]
fn tool_descriptions_show_the_enforced_limits() {
    let tariff = Tariff::default();
    let files = format!("t most {} files and {} MB", FileSet::FILES_MAX, FileSet::BYTES_MAX / 1_048_576);
    let minutes = format!("{} minutes", UploadTicket::LIFETIME.as_secs() / 60);
    let newest = format!("The newest {WAITING_UPLOADS_MAX} uploads");
    let (publish, stage) = (description("publish_artifact", &tariff), description("stage_upload", &tariff));
    let hint = Refusal::NotFound(Missing::Upload).hint();
    for (text, says) in [
        (publish.as_str(), &files),
        (&stage, &files),
        (crate::mcp::server::INSTRUCTIONS, &files),
        (&stage, &minutes),
        (&hint, &minutes),
        (&stage, &newest),
    ] {
        assert!(text.contains(says), "no {says:?} in {text}");
    }
    assert_eq!(UploadTicket::KEPT.as_secs(), 3_600, "\"within the hour\"");
    assert!(stage.contains("within the hour") && hint.contains("within the hour"), "{stage}\n{hint}");
}

#[test]
fn optional_file_fields_may_be_null() {
    let file = json!({ "path": "a", "content": "b", "encoding": null });
    let given = json!({ "files": [file], "slug": null });
    assert!(
        arguments::read::<<publish_artifact::PublishArtifact as Tool>::Arguments>(given.as_object().cloned())
            .is_ok()
    );
}
