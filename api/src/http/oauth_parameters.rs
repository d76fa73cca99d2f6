//! The parameters of a request of OAuth, from a form or a query.

use std::collections::BTreeMap;

use service::{OAuthCode, OAuthError};
use url::form_urlencoded;

/// How many different parameters are read.
const PARAMETERS_MAX: usize = 40;

/// Parameters by name. An empty one counts as missing, and a repeated one is an error (RFC 6749, 3.1).
#[derive(Debug)]
pub struct OAuthParameters(BTreeMap<String, String>);

impl OAuthParameters {
    pub fn parse(text: &[u8]) -> Result<Self, OAuthError> {
        let mut parameters = BTreeMap::new();
        for (name, value) in form_urlencoded::parse(text).filter(|(_, value)| !value.is_empty()) {
            if parameters.len() >= PARAMETERS_MAX {
                return Err(OAuthCode::InvalidRequest.because("there are too many parameters"));
            }
            if parameters.insert(name.into_owned(), value.into_owned()).is_some() {
                return Err(OAuthCode::InvalidRequest.because("a parameter is repeated"));
            }
        }
        Ok(Self(parameters))
    }

    pub fn take(&mut self, name: &str) -> Option<String> {
        self.0.remove(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_once_and_empty_ones_are_missing() {
        let mut parameters = OAuthParameters::parse(b"a=1&b=&c=x%20y+z").unwrap();
        assert_eq!(parameters.take("a").as_deref(), Some("1"));
        assert_eq!(parameters.take("b"), None);
        assert_eq!(parameters.take("c").as_deref(), Some("x y z"));
        assert_eq!(OAuthParameters::parse(b"a=1&a=1").unwrap_err().code, OAuthCode::InvalidRequest);
        let many: String = (0..=PARAMETERS_MAX).map(|at| format!("p{at}=1&")).collect();
        assert!(OAuthParameters::parse(many.as_bytes()).is_err());
    }
}
