//! The operations outside of poem-openapi: pages for people, documents, and the MCP endpoint. They are
//! described here by hand and added to the OpenAPI document, so that it has all of the specification's
//! section 4.
//!
//! The statuses and meanings of refusals come from the catalogue, as for every other operation.

mod described;
mod schemas;

use domain::RefusalKind::{self, *};
use serde_json::{Map, Value, json};

use self::schemas::{
    claim_form, claimed, header, json_rpc_error, json_rpc_message, json_rpc_response, openapi, report_form,
    sign_in_form, text,
};
use super::{HTML, JSON, MARKDOWN, TEXT};
use crate::http::api_result::{self, StatusText};

const FORM: &str = "application/x-www-form-urlencoded";
/// The content type of JSON in requests, and in responses of MCP.
const PLAIN_JSON: &str = "application/json";

struct ExtraOperation {
    method: &'static str,
    path: &'static str,
    id: &'static str,
    tag: &'static str,
    summary: &'static str,
    description: &'static str,
    access: Access,
    query: &'static [(&'static str, &'static str)],
    request: Option<DescribedBody>,
    responses: &'static [DescribedSuccess],
    refusals: &'static [RefusalKind],
}

enum Access {
    None,
    Session,
    /// The session, or a username and a password in the body.
    SessionOrBody,
    Token,
}

struct DescribedBody {
    content_types: &'static [&'static str],
    schema: fn() -> Value,
    is_required: bool,
}

/// A content type and the schema of the body.
type DescribedContent = (&'static str, fn() -> Value);

struct DescribedSuccess {
    status: &'static str,
    description: &'static str,
    content: Option<DescribedContent>,
    headers: &'static [(&'static str, &'static str)],
}

const OPERATIONS: &[ExtraOperation] = &[
    ExtraOperation {
        tag: "Account",
        summary: "Open the claim page",
        description: "The page behind `claim_url`, for a person in a browser. It shows the account's pages and tokens, and \
                      the form that claims the account.",
        responses: &[page("The claim page.")],
        refusals: &[AccountSuspended, NotFound, AlreadyClaimed, ClaimExpired],
        ..get("/claim/{code}", "show_claim_page")
    },
    ExtraOperation {
        tag: "Account",
        summary: "Claim an account",
        description: "Makes the account and its pages permanent, and the person its owner. A person without a session \
                      sends a username and a password, which sign in or register. A client that accepts only \
                      `application/json` gets 200 with the account; other clients are redirected to the dashboard.",
        access: Access::SessionOrBody,
        request: Some(DescribedBody {
            content_types: &[PLAIN_JSON, FORM],
            schema: claim_form,
            is_required: false,
        }),
        responses: &[
            DescribedSuccess { content: Some((JSON, claimed)), ..empty("200", "The account is claimed.") },
            redirect("The account is claimed. Redirects to the dashboard."),
        ],
        refusals: &[
            InvalidRequest,
            InvalidBody,
            WeakPassword,
            NotSignedIn,
            InvalidCredentials,
            ForeignPage,
            AccountSuspended,
            TooManyAccounts,
            NotFound,
            UsernameTaken,
            AlreadyClaimed,
            ClaimExpired,
            TooLarge,
            UnsupportedMediaType,
            RateLimited,
        ],
        ..post("/claim/{code}", "claim_account")
    },
    ExtraOperation {
        tag: "Team",
        summary: "Open an invite",
        description: "The page behind `invite_url`, for a person in a browser. It shows the account, the role and a button \
                      to join. An agent sends the code to `POST /v1/account/join` instead.",
        responses: &[page("The invite page.")],
        refusals: &[AccountSuspended, NotFound, InviteRevoked, InviteExpired, InviteUsedUp],
        ..get("/invite/{code}", "show_invite_page")
    },
    ExtraOperation {
        tag: "Team",
        summary: "Join an account as a person",
        description: "Adds the signed-in person to the account. For an existing member nothing changes.",
        access: Access::Session,
        responses: &[redirect("The person is a member. Redirects to the dashboard.")],
        refusals: &[
            NotSignedIn,
            ForeignPage,
            AccountSuspended,
            TooMany,
            NotFound,
            InviteRevoked,
            InviteExpired,
            InviteUsedUp,
        ],
        ..post("/invite/{code}", "join_as_person")
    },
    ExtraOperation {
        tag: "People",
        summary: "Open the sign-in page",
        description: "The page where a person signs in or registers.",
        query: &[(
            "next",
            "The path to open after sign-in. It must be a path of this service; anything else is ignored.",
        )],
        responses: &[page("The sign-in page.")],
        refusals: &[InvalidRequest],
        ..get("/signin", "show_sign_in_page")
    },
    ExtraOperation {
        tag: "People",
        summary: "Submit the sign-in page",
        description: "The form of the sign-in page: signs in, or registers a person, and redirects to `next`. Programs use \
                      `POST /auth/login` and `POST /auth/register`.",
        request: Some(DescribedBody {
            content_types: &[PLAIN_JSON, FORM],
            schema: sign_in_form,
            is_required: true,
        }),
        responses: &[DescribedSuccess {
            headers: &[("Location", "The path in `next`, or the dashboard."), ("Set-Cookie", "The session.")],
            ..empty("302", "The person is signed in.")
        }],
        refusals: &[
            InvalidRequest,
            InvalidBody,
            WeakPassword,
            InvalidCredentials,
            ForeignPage,
            UsernameTaken,
            TooLarge,
            UnsupportedMediaType,
            RateLimited,
        ],
        ..post("/signin", "submit_sign_in_page")
    },
    ExtraOperation {
        tag: "Moderation",
        summary: "Open the report page",
        description: "The form where a person reports a page. Programs use `POST /v1/reports`.",
        query: &[("host", "The host of the page, which the form then shows.")],
        responses: &[page("The report page.")],
        refusals: &[InvalidRequest],
        ..get("/report", "show_report_page")
    },
    ExtraOperation {
        tag: "Moderation",
        summary: "Submit the report page",
        description: "The form of the report page. It does the same as `POST /v1/reports`.",
        request: Some(DescribedBody {
            content_types: &[PLAIN_JSON, FORM],
            schema: report_form,
            is_required: true,
        }),
        responses: &[
            DescribedSuccess { content: Some((HTML, text)), ..empty("201", "The report is recorded.") },
            DescribedSuccess {
                headers: &[("Location", "The page that confirms the report.")],
                ..empty("303", "The report is recorded, and the client accepts `text/html`.")
            },
        ],
        refusals: &[
            InvalidRequest,
            InvalidBody,
            ForeignPage,
            NotFound,
            TooLarge,
            UnsupportedMediaType,
            RateLimited,
        ],
        ..post("/report", "submit_report_page")
    },
    ExtraOperation {
        summary: "Get the skill",
        description: "A guide for agents: every task with its commands.",
        responses: &[DescribedSuccess {
            content: Some((MARKDOWN, text)),
            ..empty("200", "The guide, in Markdown.")
        }],
        ..get("/skill", "get_skill")
    },
    ExtraOperation {
        summary: "Get the endpoint reference",
        description: "Every endpoint for agents with its parameters, bodies and errors, made from this \
                      document.",
        responses: &[DescribedSuccess {
            content: Some((MARKDOWN, text)),
            ..empty("200", "The reference, in Markdown.")
        }],
        ..get("/skill/reference.md", "get_reference")
    },
    ExtraOperation {
        summary: "Get a section of the endpoint reference",
        description: "`contents.md` lists the endpoints with links to the other sections, such as \
                      `artifacts.md` and \
                      `errors.md`.",
        responses: &[DescribedSuccess {
            content: Some((MARKDOWN, text)),
            ..empty("200", "The section, in Markdown.")
        }],
        refusals: &[NotFound],
        ..get("/skill/reference/{page}", "get_reference_section")
    },
    ExtraOperation {
        summary: "Get the list of documents",
        description: "A short introduction for agents, with links to the other documents.",
        responses: &[DescribedSuccess {
            content: Some((TEXT, text)),
            ..empty("200", "The list, as plain text.")
        }],
        ..get("/llms.txt", "get_llms_txt")
    },
    ExtraOperation {
        summary: "Get this document",
        description: "The OpenAPI description of every endpoint.",
        responses: &[DescribedSuccess {
            content: Some((JSON, openapi)),
            ..empty("200", "An OpenAPI 3.0 document.")
        }],
        ..get("/openapi.json", "get_openapi_document")
    },
    ExtraOperation {
        summary: "Get this document in OpenAPI 3.1",
        description: "The same description in the newer version, whose schemas are JSON Schema.",
        responses: &[DescribedSuccess {
            content: Some((JSON, openapi)),
            ..empty("200", "An OpenAPI 3.1 document.")
        }],
        ..get("/openapi-3.1.json", "get_newer_openapi_document")
    },
    ExtraOperation {
        summary: "Call the MCP endpoint",
        description: "The Model Context Protocol over stateless streamable HTTP: one JSON-RPC 2.0 message \
                      for each request, without a session id; `GET` returns 405. Up to version 2025-03-26 \
                      of the protocol, the body may also be an array of at most 10 messages. `tools/list` \
                      lists the tools, `tools/call` calls one. A tool that refuses a call returns 200 with \
                      `isError: true` and the error as JSON in its content.",
        access: Access::Token,
        request: Some(DescribedBody {
            content_types: &[PLAIN_JSON],
            schema: json_rpc_message,
            is_required: true,
        }),
        responses: &[
            DescribedSuccess {
                content: Some((PLAIN_JSON, json_rpc_response)),
                ..empty(
                    "200",
                    "The JSON-RPC response, with a `result` or an `error`; an array of them for an array.",
                )
            },
            empty("202", "The message is a notification and has no response."),
        ],
        refusals: &[InvalidRequest, Unauthorized, ForeignPage, TooLarge, UnsupportedMediaType],
        ..post("/mcp", "call_mcp")
    },
];

const fn get(path: &'static str, id: &'static str) -> ExtraOperation {
    ExtraOperation {
        method: "get",
        path,
        id,
        tag: "Service",
        summary: "",
        description: "",
        access: Access::None,
        query: &[],
        request: None,
        responses: &[],
        refusals: &[],
    }
}

const fn post(path: &'static str, id: &'static str) -> ExtraOperation {
    ExtraOperation { method: "post", ..get(path, id) }
}

const fn empty(status: &'static str, description: &'static str) -> DescribedSuccess {
    DescribedSuccess { status, description, content: None, headers: &[] }
}

const fn page(description: &'static str) -> DescribedSuccess {
    DescribedSuccess { content: Some((HTML, text)), ..empty("200", description) }
}

const fn redirect(description: &'static str) -> DescribedSuccess {
    DescribedSuccess { headers: &[("Location", "The path of the dashboard.")], ..empty("302", description) }
}

/// Adds these operations to the document.
pub fn add_to(document: &mut Value, is_page: fn(&str) -> bool) {
    for operation in OPERATIONS {
        document["paths"][operation.path][operation.method] = operation.described(is_page(operation.path));
    }
}

impl ExtraOperation {
    fn described(&self, is_page: bool) -> Value {
        let mut described = json!({
            "tags": [self.tag],
            "operationId": self.id,
            "summary": self.summary,
            "description": self.description,
            "parameters": self.parameters(),
            "security": self.access.described(),
            "responses": self.responses(is_page),
        });
        if let Some(request) = &self.request {
            described["requestBody"] = request.described();
        }
        described
    }

    fn parameters(&self) -> Vec<Value> {
        let parts = [("code", "The last part of the link."), ("page", "The file, such as `contents.md`.")];
        let is_there = |(name, _): &(&str, &str)| self.path.contains(&format!("{{{name}}}"));
        let parts = parts.into_iter().filter(is_there).map(|(name, description)| {
            json!({
                "name": name, "in": "path", "required": true, "description": description,
                "schema": { "type": "string" },
            })
        });
        let query = self.query.iter().map(|(name, description)| {
            json!({
                "name": name, "in": "query", "required": false, "description": description,
                "schema": { "type": "string" },
            })
        });
        parts.chain(query).collect()
    }

    fn responses(&self, is_page: bool) -> Map<String, Value> {
        let successes = self.responses.iter().map(|success| (success.status.to_owned(), success.described()));
        let refusals = api_result::status_texts(self.refusals);
        let refusals = refusals.iter().map(|group| (group.status.to_string(), self.refused(group, is_page)));
        successes.chain(refusals).collect()
    }

    /// The error responses of a page are pages if the client accepts `text/html`.
    fn refused(&self, refusals: &StatusText, is_page: bool) -> Value {
        let error = json!({ "$ref": "#/components/schemas/Error" });
        let schema = match (self.id, refusals.status) {
            ("call_mcp", 400) => json!({ "anyOf": [error, json_rpc_error()] }),
            _ => error,
        };
        let mut response =
            json!({ "description": refusals.description, "content": { JSON: { "schema": schema } } });
        if is_page {
            response["content"][HTML] = json!({ "schema": text() });
        }
        if matches!(refusals.status, 429 | 503) {
            let schema = json!({ "type": "integer", "format": "uint64" });
            response["headers"] = header("Retry-After", "Seconds to wait before the next attempt.", schema);
        }
        response
    }
}
