//! Rules that can be serialized and continued later.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, DeserializeSeed, Error, MapAccess, Visitor};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A rule, an accumulator or an odometer that can be serialized and continued later. It is stored as the
/// parameters that it is built from, and the counts that launches have changed. Everything that
/// follows from the parameters, such as a table of prices, is computed again.
///
/// Only what has been spent is stored. Running machines and handles are not, on purpose: their
/// state contains data, and restoring one twice would rewind it, giving two answers for the price
/// of one. After a restart the children are gone, and their charge stands.
///
/// # Guarantee
///
/// Only states that could have been built are accepted: the constructor checks the parameters, and
/// counts are checked against every invariant of [`charge`](super::ContinuationRule::charge).
/// Implement it for your own rule with the same care: a rule that restores too small a total admits
/// too much.
///
/// # Example
///
/// ```
/// use queryables::account::{Capped, ContinuationRule, DefaultAccumulator, Accumulator, Sum, SavedRule};
/// use queryables::prelude::*;
///
/// let rule = PureDp.accumulator().capped("1".parse()?).charge(&"0.3".parse()?)?;
/// let text = serde_json::to_string(&SavedRule(rule))?;
/// assert_eq!(
///     text,
///     r#"{"rule":"Sum","parameters":{"of":{"measure":"PureDp"},"limit":"1"},"counts":"0.3"}"#,
/// );
/// let SavedRule::<Capped<Sum<PureDp>>>(rule) = serde_json::from_str(&text)?;
/// assert_eq!(rule.remaining(), "0.7".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Durable: Clone + fmt::Debug + Send + Sync + 'static {
    /// Its name in serialized form.
    const NAME: &'static str;

    /// What it is built from.
    type Parameters: Serialize + DeserializeOwned;

    /// What launches change.
    type Counts: Serialize + DeserializeOwned;

    /// Its parameters.
    fn parameters(&self) -> Self::Parameters;

    /// A rule of these parameters that has counted nothing.
    ///
    /// # Errors
    ///
    /// Those of the constructor.
    fn build(parameters: Self::Parameters) -> Result<Self, Invalid>;

    /// Its counts.
    fn counts(&self) -> Self::Counts;

    /// This rule with these counts instead of its own. Nothing that follows from the parameters alone is
    /// computed again.
    ///
    /// # Errors
    ///
    /// If no sequence of launches leads to these counts.
    fn resume(&self, counts: Self::Counts) -> Result<Self, Invalid>;
}

/// Why a rule is not read.
pub type Invalid = Box<dyn std::error::Error + Send + Sync>;

/// No sequence of launches leads to the counts that were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no launches lead to these counts")]
pub struct ImpossibleCounts;

/// A rule in serialized form: name, parameters and counts, in this order.
///
/// [`Durable`] has an example.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedRule<F>(pub F);

impl<F: Durable> Serialize for SavedRule<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Rule", 3)?;
        fields.serialize_field("rule", F::NAME)?;
        fields.serialize_field("parameters", &self.0.parameters())?;
        fields.serialize_field("counts", &self.0.counts())?;
        fields.end()
    }
}

/// Counts, of which this rule is built again.
struct Resume<'a, F>(&'a F);

impl<'de, F: Durable> DeserializeSeed<'de> for Resume<'_, F> {
    type Value = F;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<F, D::Error> {
        let counts = F::Counts::deserialize(deserializer)?;
        self.0.resume(counts).map_err(D::Error::custom)
    }
}

struct Build<F>(PhantomData<F>);

impl<'de, F: Durable> DeserializeSeed<'de> for Build<F> {
    type Value = F;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<F, D::Error> {
        let parameters = F::Parameters::deserialize(deserializer)?;
        F::build(parameters).map_err(D::Error::custom)
    }
}

impl<'de, F: Durable> Deserialize<'de> for SavedRule<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const FIELDS: &[&str] = &["rule", "parameters", "counts"];
        deserializer.deserialize_struct("Rule", FIELDS, Fields(PhantomData))
    }
}

struct Fields<F>(PhantomData<F>);

impl<'de, F: Durable> Visitor<'de> for Fields<F> {
    type Value = SavedRule<F>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the rule {}", F::NAME)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<SavedRule<F>, A::Error> {
        // Counts mean nothing without the parameters, so the order is fixed.
        expect(&mut fields, "rule")?;
        let name: String = fields.next_value()?;
        if name != F::NAME {
            return Err(A::Error::custom(format_args!(
                "the rule is {name}, not {}",
                F::NAME
            )));
        }
        expect(&mut fields, "parameters")?;
        let fresh = fields.next_value_seed(Build::<F>(PhantomData))?;
        expect(&mut fields, "counts")?;
        let rule = fields.next_value_seed(Resume(&fresh))?;
        match fields.next_key::<String>()? {
            None => Ok(SavedRule(rule)),
            Some(_) => Err(A::Error::custom("a rule has three fields")),
        }
    }
}

fn expect<'de, A: MapAccess<'de>>(fields: &mut A, name: &'static str) -> Result<(), A::Error> {
    match fields.next_key::<String>()? {
        Some(found) if found == name => Ok(()),
        _ => Err(A::Error::missing_field(name)),
    }
}
