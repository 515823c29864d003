//! Descriptions in serialized form.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Description;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    parameters: Vec<(String, String)>,
    /// Left out where it is not so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    incomplete: bool,
}

impl Serialize for Description {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let pair = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
        let written = Written {
            name: self.name().to_owned(),
            parameters: self.parameters().map(pair).collect(),
            incomplete: !self.is_complete(),
        };
        written.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Description {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Written {
            name,
            parameters,
            incomplete,
        } = Written::deserialize(deserializer)?;
        let parameters = parameters.into_iter();
        let description = parameters.fold(Self::new(name), |description, (key, value)| {
            description.with(key, value)
        });
        Ok(if incomplete {
            description.incomplete()
        } else {
            description
        })
    }
}
