//! The log's filter and format. The filter is not validated here: an invalid one is reported when logging
//! starts.

use crate::reader::Reader;
use crate::value::Value;

/// The log's filter and format. Its keys are at the top level: `log` and `log_format`.
#[derive(Clone, Debug)]
pub struct Log {
    /// A filter of `tracing`, such as `info,edge=debug`.
    pub filter: String,
    pub format: LogFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// For machines.
    Json,
}

impl Log {
    pub(crate) fn read(reader: &mut Reader) -> Option<Self> {
        let filter = reader.required("log");
        let format = reader.required("log_format");
        Some(Self { filter: filter?, format: format? })
    }
}

impl Value for LogFormat {
    const EXPECTED: &'static str = "text or json";

    fn parse(text: &str) -> Option<Self> {
        match text {
            "text" => Some(LogFormat::Text),
            "json" => Some(LogFormat::Json),
            _ => None,
        }
    }

    fn show(&self) -> String {
        match self {
            LogFormat::Text => "text".to_owned(),
            LogFormat::Json => "json".to_owned(),
        }
    }
}
