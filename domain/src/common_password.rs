//! The 10,000 most common passwords, which an operator's password must not be. People's passwords follow the
//! rule of the specification, which excludes the 100 most common ones (`password.rs`).
//!
//! `list.txt` is the first half of the list of Django's password validator (`common-passwords.txt.gz` of
//! Django 5.2, with its license beside it), in lowercase, without entries that are a shorter entry followed
//! by digits.

const COMMON: &str = include_str!("common_password/list.txt");

/// Whether this is a common password, or one followed by digits. Case does not matter.
pub fn is_common_password(password: &str) -> bool {
    let password = password.to_lowercase();
    let is_digits = |rest: &str| rest.bytes().all(|byte| byte.is_ascii_digit());
    COMMON.lines().any(|common| password.strip_prefix(common).is_some_and(is_digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_passwords_are_detected_in_capitals_and_with_trailing_digits() {
        for common in [
            "password",
            "Password1234",
            "password202612",
            "qwertyuiop123",
            "1q2w3e4r5t6y",
            "123456789012345",
            "motherfucker",
            "PROFESSIONAL",
        ] {
            assert!(is_common_password(common), "{common}");
        }
    }

    #[test]
    fn other_passwords_are_not_common() {
        for other in [
            "",
            "password-",
            "password of the operator",
            "x7password1234",
            "correct horse battery staple",
            "5f2b0c7e9a1d4388b6f0e2a7c1d9f354",
        ] {
            assert!(!is_common_password(other), "{other}");
        }
    }

    #[test]
    fn common_password_list_has_no_empty_lines_and_no_capitals() {
        for common in COMMON.lines() {
            assert!(!common.is_empty() && common.to_lowercase() == common, "{common:?}");
        }
    }
}
