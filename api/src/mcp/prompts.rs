//! The prompts, which people start from a menu of their client: what an agent is told to do, in the terms of
//! the tools.

use rmcp::ErrorData;
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::Value;

/// An argument becomes part of a message to the model, so it is cut to this length.
const ARGUMENT_LENGTH_MAX: usize = 4_000;

struct ListedPrompt {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    argument: Argument,
    /// `{}` stands for the argument.
    text: &'static str,
}

/// The only argument of a prompt. It is optional.
struct Argument {
    name: &'static str,
    description: &'static str,
    /// Stands for the argument if it is omitted.
    otherwise: &'static str,
}

const PROMPTS: [ListedPrompt; 3] = [
    ListedPrompt {
        name: "publish",
        title: "Publish a page",
        description: "Publish a page or a site and get its URL.",
        argument: Argument {
            name: "what",
            description: "What to publish.",
            otherwise: "what we have been working on",
        },
        text: "Publish this as a web page with publish_artifact: {}.\n\nInclude an index.html and link the \
               other files by relative paths. Fix what the warnings of the result report, and publish \
               again to the same slug. Then give me the URL. If account.expires_at is not null, also give me the \
               claim_url of get_account and tell me when the page expires.",
    },
    ListedPrompt {
        name: "share_privately",
        title: "Share a page privately",
        description: "Make a page private and get the link to share.",
        argument: Argument {
            name: "slug",
            description: "The slug of the page.",
            otherwise: "the page that we published last",
        },
        text: "Share this page privately: {}.\n\nTell me the monthly price first and wait for my yes. Then \
               call set_visibility with \"private\" and give me signed_url. Only people with that link can \
               open the page.",
    },
    ListedPrompt {
        name: "hand_over",
        title: "Hand over the account",
        description: "Get the link that makes the account and its pages permanent.",
        argument: Argument { name: "to", description: "Who takes over the account.", otherwise: "me" },
        text: "Hand over this account to: {}.\n\nCall get_account. If it is provisional, show its \
               claim_url and how much time is left until expires_at, and say that the person who opens the link and \
               signs in becomes the owner, and that it must not be shared with others. If it is claimed, say so: an \
               invite by create_invite adds another person.",
    },
];

pub fn all() -> Vec<Prompt> {
    let listed = |prompt: &ListedPrompt| {
        let argument = PromptArgument::new(prompt.argument.name)
            .with_description(prompt.argument.description)
            .with_required(false);
        Prompt::new(prompt.name, Some(prompt.description), Some(vec![argument])).with_title(prompt.title)
    };
    PROMPTS.iter().map(listed).collect()
}

/// The prompt with its argument filled in.
pub fn filled(name: &str, arguments: Option<&JsonObject>) -> Result<GetPromptResult, ErrorData> {
    let Some(prompt) = PROMPTS.iter().find(|prompt| prompt.name == name) else {
        return Err(ErrorData::invalid_params("unknown prompt; prompts/list lists the prompts", None));
    };
    let given = arguments.and_then(|given| given.get(prompt.argument.name)).and_then(Value::as_str);
    let given: String = given.unwrap_or_default().trim().chars().take(ARGUMENT_LENGTH_MAX).collect();
    let argument = if given.is_empty() { prompt.argument.otherwise } else { &given };
    let message = PromptMessage::new_text(Role::User, prompt.text.replace("{}", argument));
    Ok(GetPromptResult::new(vec![message]).with_description(prompt.description))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::mcp::tools;

    fn text(name: &str, arguments: &Value) -> String {
        let filled = filled(name, arguments.as_object()).unwrap();
        serde_json::to_value(&filled.messages[0]).unwrap()["content"]["text"].as_str().unwrap().to_owned()
    }

    #[test]
    fn prompts_contain_their_argument_or_its_default() {
        assert!(text("share_privately", &json!({ "slug": "my-page" })).contains("privately: my-page."));
        assert!(text("share_privately", &json!({ "slug": " " })).contains("privately: the page that we"));
        assert!(text("hand_over", &json!({})).contains("account to: me."));
        let long = text("publish", &json!({ "what": "x".repeat(10_000) }));
        assert_eq!(long.matches('x').count() - text("publish", &json!({})).matches('x').count(), 4_000);
        assert!(filled("no_such_prompt", None).is_err());
    }

    #[test]
    fn prompts_name_tools_that_exist() {
        for prompt in all() {
            let text = text(&prompt.name, &json!({}));
            let words = text.split(|c: char| !c.is_ascii_lowercase() && c != '_');
            let named: Vec<_> =
                words.filter(|word| tools::ALL.iter().any(|tool| tool.name == *word)).collect();
            assert!(!named.is_empty(), "{text}");
        }
    }
}
