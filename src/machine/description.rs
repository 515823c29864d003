//! What a mechanism says about itself in logs.

use std::borrow::Cow;
use std::fmt;

/// The name of a mechanism and its public parameters, for logs, `Debug` and the ledger.
///
/// Nothing in it comes from data: a mechanism describes itself before it has seen any
/// ([`Mechanism::describe`](super::Mechanism::describe)). Values are text. A program that needs the
/// parameters one by one reads [`parameters`](Self::parameters) and does not parse the printed
/// form: names may contain any text there, but no line break.
///
/// ```
/// use queryables::machine::Description;
///
/// let description = Description::new("NoisyCount")
///     .with("predicate", "at least 18")
///     .with("epsilon", 0.5);
/// assert_eq!(description.to_string(), "NoisyCount(predicate = at least 18, epsilon = 0.5)");
/// assert_eq!(description.get("epsilon"), Some("0.5"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Description {
    name: Cow<'static, str>,
    parameters: Vec<(Cow<'static, str>, String)>,
}

impl Description {
    /// A name without parameters.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self {
        Self {
            name: name.into(),
            parameters: Vec::new(),
        }
    }

    /// The short name of a type: the last segment of its path, without generic arguments.
    ///
    /// ```
    /// use queryables::machine::Description;
    ///
    /// assert_eq!(Description::of::<Vec<std::sync::Arc<u8>>>().to_string(), "Vec");
    /// ```
    #[must_use]
    pub fn of<T: ?Sized>() -> Self {
        let path = std::any::type_name::<T>();
        if path.contains('<') {
            return Self::new(short(path));
        }
        // Nothing to leave out of the middle, and so nothing to allocate.
        let start = path.rfind(':').map_or(0, |colon| colon + 1);
        Self::new(path.get(start..).unwrap_or_default())
    }

    /// The same, with one more parameter.
    #[must_use]
    pub fn with(mut self, key: impl Into<Cow<'static, str>>, value: impl fmt::Display) -> Self {
        self.parameters.push((key.into(), value.to_string()));
        self
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Keys and values, in the order in which they were added.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, &str)> {
        let pairs = self.parameters.iter();
        pairs.map(|(key, value)| (&**key, value.as_str()))
    }

    /// The value of the first parameter with this key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        self.parameters()
            .find_map(|(found, value)| (found == key).then_some(value))
    }
}

impl fmt::Display for Description {
    /// `Name`, or `Name(key = value, key = value)`, on one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&printable(&self.name))?;
        for (index, (key, value)) in self.parameters().enumerate() {
            let before = if index == 0 { "(" } else { ", " };
            write!(f, "{before}{} = {}", printable(key), printable(value))?;
        }
        f.write_str(if self.parameters.is_empty() { "" } else { ")" })
    }
}

/// Without control characters, which a terminal would obey.
fn printable(text: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\'' | '"' => printable.push(letter),
            _ => printable.extend(letter.escape_debug()),
        }
    }
    printable
}

/// The last segment of a path, without generic arguments, wherever in the path they are.
fn short(path: &str) -> String {
    let mut depth = 0_usize;
    let outside = path.chars().filter(|letter| {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ => return depth == 0,
        }
        false
    });
    let outside: String = outside.collect();
    outside.rsplit("::").next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_name_has_neither_path_nor_arguments() {
        for (path, name) in [
            ("u8", "u8"),
            ("one::two::Three", "Three"),
            ("one::Two<three::Four<five::Six>, u8>", "Two"),
            ("one::<impl two::Three<u8>>::method::Four<u8>", "Four"),
            ("dyn one::Two<u8>", "Two"),
        ] {
            assert_eq!(short(path), name);
        }
    }

    #[test]
    fn what_somebody_typed_stays_on_one_line() {
        let hostile = Description::new("Count").with("predicate", "x\n\u{1b}[2JCount()");
        assert_eq!(
            hostile.to_string(),
            r"Count(predicate = x\n\u{1b}[2JCount())"
        );
        // The unprinted value is unchanged.
        assert_eq!(hostile.get("predicate"), Some("x\n\u{1b}[2JCount()"));
        assert_eq!(hostile.get("epsilon"), None);
        assert_eq!(
            Description::new("ε, it's \"so\"").to_string(),
            "ε, it's \"so\""
        );
    }
}
