//! The part of JSON that a certificate needs.

use std::fmt;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Json {
    Text(String),
    Number(usize),
    List(Vec<Json>),
    Object(Vec<(&'static str, Json)>),
    /// A value that was printed before: that takes less memory.
    Printed(String),
}

impl Json {
    pub(super) fn text(value: impl fmt::Display) -> Self {
        Self::Text(value.to_string())
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => quoted(f, text),
            Self::Number(number) => write!(f, "{number}"),
            Self::Printed(text) => f.write_str(text),
            Self::List(values) => {
                f.write_str("[")?;
                for (index, value) in values.iter().enumerate() {
                    f.write_str(if index > 0 { ", " } else { "" })?;
                    write!(f, "{value}")?;
                }
                f.write_str("]")
            }
            Self::Object(fields) => {
                f.write_str("{")?;
                for (index, (name, value)) in fields.iter().enumerate() {
                    f.write_str(if index > 0 { ", " } else { "" })?;
                    write!(f, "\"{name}\": {value}")?;
                }
                f.write_str("}")
            }
        }
    }
}

fn quoted(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for letter in text.chars() {
        match letter {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            control if control < ' ' => write!(f, "\\u{:04x}", u32::from(control))?,
            other => write!(f, "{other}")?,
        }
    }
    f.write_str("\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_an_escape_has_one() {
        let value = Json::Object(vec![(
            "list",
            Json::List(vec![Json::text("a\"\\\n\u{1b}é"), Json::Number(3)]),
        )]);
        let expected = "{\"list\": [\"a\\\"\\\\\\u000a\\u001bé\", 3]}";
        assert_eq!(value.to_string(), expected);
        // What was printed is not escaped again.
        assert_eq!(Json::Printed(expected.to_owned()).to_string(), expected);
    }
}
