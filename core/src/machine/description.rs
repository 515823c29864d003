//! What a mechanism says about itself.

use std::borrow::Cow;
use std::fmt;

/// The name of a mechanism and its public parameters, for logs, `Debug` and the ledger.
///
/// Nothing in it comes from data: a mechanism describes itself before it has seen any
/// ([`Mechanism::describe`](super::Mechanism::describe)). Values are text. A program that needs the
/// parameters one by one reads [`parameters`](Self::parameters) and does not parse the printed
/// form: names may contain any text there, but no line break, and long values are cut.
///
/// # When two mechanisms are the same
///
/// A ledger takes two mechanisms for the same question if their descriptions are equal and
/// [complete](Self::is_complete): then a key that was used for one gives the answer of the other. So a
/// complete description says everything that decides the answer.
///
/// Functions cannot be compared, only their names: those of predicates, attributes, vectors, keys,
/// objectives and [mapped functions](crate::middle::Mapped::named). **The name is the word of its
/// author**: who gives one name to two functions says that they are the same question, and whoever
/// changes a function changes its name. In the same way the keys of a histogram are compared by what
/// their `Debug` prints. What has no name is never taken for the same: a description that holds it is
/// [incomplete](Self::incomplete).
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
    incomplete: bool,
}

impl Description {
    /// A name without parameters.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self {
        Self {
            name: name.into(),
            parameters: Vec::new(),
            incomplete: false,
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

    /// The same, with one more parameter in JSON, for programs: its key ends with `.json`, it is in the record
    /// of a ledger, and it is not printed.
    ///
    /// ```
    /// use queryables::machine::Description;
    ///
    /// let count = Description::new("Count").with("where", "age >= 18");
    /// let count = count.with_json("where", r#"{"ge":[{"column":"age"},18]}"#);
    /// assert_eq!(count.to_string(), "Count(where = age >= 18)");
    /// assert_eq!(count.get("where.json"), Some(r#"{"ge":[{"column":"age"},18]}"#));
    /// ```
    #[must_use]
    pub fn with_json(self, key: &str, json: impl fmt::Display) -> Self {
        self.with(format!("{key}.json"), json)
    }

    /// The same, with a description inside: its name under this key, and its parameters under keys that
    /// begin with it. What holds something incomplete is incomplete.
    ///
    /// ```
    /// use queryables::machine::Description;
    ///
    /// let count = Description::new("NoisyCount").with("epsilon", 0.5);
    /// let twice = Description::new("Twice").with_inner("count", count.incomplete());
    /// assert_eq!(twice.to_string(), "Twice(count = NoisyCount, count.epsilon = 0.5)");
    /// assert!(!twice.is_complete());
    /// ```
    #[must_use]
    pub fn with_inner(mut self, key: impl Into<Cow<'static, str>>, inner: Self) -> Self {
        let key = key.into();
        let prefixed = inner.parameters.into_iter().map(|(inside, value)| {
            let key = format!("{key}.{inside}");
            (Cow::from(key), value)
        });
        let prefixed: Vec<_> = prefixed.collect();
        self.parameters.push((key, inner.name.into_owned()));
        self.parameters.extend(prefixed);
        self.incomplete |= inner.incomplete;
        self
    }

    /// The same, marked: it leaves out something that decides the answer, such as a function without a
    /// name. Equal descriptions then do not mean equal mechanisms.
    #[must_use]
    pub fn incomplete(mut self) -> Self {
        self.incomplete = true;
        self
    }

    /// Whether it says everything that decides the answer, by the word of whoever wrote it.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        !self.incomplete
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
        let mut before = "(";
        for (key, value) in self.parameters().filter(|(key, _)| !key.ends_with(".json")) {
            write!(f, "{before}{} = {}", printable(key), printable(value))?;
            before = ", ";
        }
        f.write_str(if before == "(" { "" } else { ")" })
    }
}

/// Of a longer value this many characters are printed.
const PRINTED: usize = 200;

/// Without control characters, which a terminal would obey.
fn printable(text: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'\\';
    // Most texts are: nothing is cut, and nothing is written in another way.
    if text.len() <= PRINTED && text.bytes().all(is_plain) {
        return text.into();
    }
    let mut printable = String::new();
    for (place, letter) in text.chars().enumerate() {
        if place == PRINTED {
            printable.push('…');
            break;
        }
        match letter {
            '\'' | '"' => printable.push(letter),
            _ => printable.extend(letter.escape_debug()),
        }
    }
    printable.into()
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

/// A description in serialized form.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    parameters: Vec<(String, String)>,
    /// Left out where it is not so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    incomplete: bool,
}

#[cfg(feature = "serde")]
impl serde::Serialize for Description {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let pair = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
        let written = Written {
            name: self.name().to_owned(),
            parameters: self.parameters().map(pair).collect(),
            incomplete: !self.is_complete(),
        };
        written.serialize(serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Description {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Written::deserialize(deserializer)?;
        let parameters = written.parameters.into_iter();
        let empty = Self::new(written.name);
        let description = parameters.fold(empty, |so_far, (key, value)| so_far.with(key, value));
        Ok(if written.incomplete {
            description.incomplete()
        } else {
            description
        })
    }
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
        for (text, printed) in [("a\\b", r"a\\b"), ("a\u{7f}b", r"a\u{7f}b"), (" ~", " ~")] {
            assert_eq!(Description::new(text).to_string(), printed);
        }
        let long = Description::new("Count").with("predicate", "a".repeat(1000));
        let printed = format!("Count(predicate = {}…)", "a".repeat(200));
        assert_eq!(long.to_string(), printed);
        assert_eq!(
            Description::new("ε, it's \"so\"").to_string(),
            "ε, it's \"so\""
        );
    }
}
