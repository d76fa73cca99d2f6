//! The parts of an operation as OpenAPI has them.

use serde_json::{Map, Value, json};

use super::schemas::{header, text};
use super::{Access, DescribedBody, DescribedSuccess};

impl Access {
    pub(super) fn described(&self) -> Value {
        match self {
            Access::None => json!([]),
            Access::Session => json!([{ "session": [] }]),
            Access::SessionOrBody => json!([{ "session": [] }, {}]),
            Access::Token => json!([{ "token": [] }]),
        }
    }
}

impl DescribedBody {
    pub(super) fn described(&self) -> Value {
        let media = |kind: &&str| ((*kind).to_owned(), json!({ "schema": (self.schema)() }));
        let content: Map<String, Value> = self.content_types.iter().map(media).collect();
        json!({ "required": self.is_required, "content": content })
    }
}

impl DescribedSuccess {
    pub(super) fn described(&self) -> Value {
        let mut response = json!({ "description": self.description });
        if let Some((kind, schema)) = self.content {
            response["content"][kind] = json!({ "schema": schema() });
        }
        for (name, description) in self.headers {
            let described = header(name, description, text());
            response["headers"][name] = described[name].clone();
        }
        response
    }
}
