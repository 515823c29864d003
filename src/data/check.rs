//! What becomes of a closure on each record: for its author.

use std::fmt;

/// On how many records a closure panicked or gave no value: [`Attribute::check`](super::Attribute::check),
/// [`Vector::check`](super::Vector::check),
/// [`Partition::check`](crate::mechanisms::Partition::check).
///
/// In an answer such a record counts as no, zero or nothing, and nobody sees it
/// ([why](crate::data#a-record-that-cannot-be-read)). So a mistake in a closure is silent. Whoever
/// wrote it should try it once on the data:
///
/// ```
/// use queryables::data::{Attribute, Predicate};
///
/// let rows = vec!["36", "17", "unknown"];
/// # queryables::machine::silence_guarded_panics();
/// let adult = Predicate::new("at least 18", |row: &&str| row.parse::<u8>().unwrap() >= 18);
/// let check = adult.check(&rows);
/// assert_eq!((check.records, check.panicked), (3, 1));
///
/// let age = Attribute::new("age", |row: &&str| row.parse().unwrap_or(f64::NAN));
/// let check = age.check(&rows);
/// assert_eq!(check.to_string(), "3 records: 0 panicked, 1 without a value");
/// assert!(!check.is_clean());
/// ```
///
/// **For curators only.** These counts are exact. They are not private, whatever noise an answer has,
/// and must not reach an analyst.
#[doc(alias = "debug")]
#[doc(alias = "dry run")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ClosureCheck {
    /// How many records there are.
    pub records: u64,
    /// On how many of them the closure panicked.
    pub panicked: u64,
    /// For how many others there is no value: NaN, an infinite number, no time, no bin.
    pub missing: u64,
}

impl ClosureCheck {
    /// Whether the closure gave a value for every record.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.panicked == 0 && self.missing == 0
    }

    /// Adds records: on which of them it panicked, and for which there is no value.
    pub(super) fn take(&mut self, panicked: &[bool], missing: impl Iterator<Item = bool>) {
        for (panicked, missing) in panicked.iter().zip(missing) {
            self.records += 1;
            self.panicked += u64::from(*panicked);
            self.missing += u64::from(!panicked && missing);
        }
    }
}

impl fmt::Display for ClosureCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            records,
            panicked,
            missing,
        } = self;
        write!(
            f,
            "{records} records: {panicked} panicked, {missing} without a value"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Attribute, Predicate, Vector};
    use crate::machine::silence_guarded_panics;
    use crate::mechanisms::Partition;

    /// More than two chunks; every seventh panics, and every fifth that does not has no value.
    const RECORDS: u32 = 2500;

    fn rows() -> Vec<u32> {
        silence_guarded_panics();
        (0..RECORDS).collect()
    }

    fn number(row: &u32) -> Option<u32> {
        assert!(!row.is_multiple_of(7), "an unlucky row");
        (!row.is_multiple_of(5)).then_some(*row)
    }

    fn expected() -> ClosureCheck {
        let panicked = RECORDS.div_ceil(7);
        let missing = RECORDS.div_ceil(5) - RECORDS.div_ceil(35);
        ClosureCheck {
            records: RECORDS.into(),
            panicked: panicked.into(),
            missing: missing.into(),
        }
    }

    #[test]
    fn panics_and_missing_values_are_counted_apart() {
        let rows = rows();
        let real = Attribute::new("real", |row: &u32| {
            number(row).map_or(f64::INFINITY, f64::from)
        });
        assert_eq!(real.check(&rows), expected());
        let time = Attribute::new("time", |row: &u32| number(row).map(u64::from));
        assert_eq!(time.check(&rows), expected());
        let bin = |row: &u32| number(row).map_or(usize::MAX, |number| number as usize % 3);
        let bins = Partition::numbered(Attribute::new("bin", bin), 3).unwrap();
        assert_eq!(bins.check(&rows), expected());
        let vector = Vector::new("vector", |row: &u32, out: &mut [f64]| {
            out[1] = number(row).map_or(f64::NAN, f64::from);
        });
        assert_eq!(vector.check(&rows, 2), expected());
    }

    #[test]
    fn every_answer_of_a_predicate_is_a_value() {
        let even = Predicate::new("even", |row: &u32| {
            number(row).is_some_and(|row| row.is_multiple_of(2))
        });
        let expected = ClosureCheck {
            missing: 0,
            ..expected()
        };
        assert_eq!(even.check(&rows()), expected);
        let all = Predicate::new("all", |_: &u32| true);
        assert!(all.check(&rows()).is_clean());
    }

    #[test]
    fn a_row_of_no_bin_is_missing() {
        let parity = Partition::by_key("parity", |row: &u32| row % 3, [0, 1]).unwrap();
        let check = parity.check(&vec![0, 1, 2, 5]);
        assert_eq!((check.panicked, check.missing), (0, 2));
    }

    /// It writes three numbers, and is given space for two.
    #[test]
    fn a_vector_of_another_length_panics() {
        silence_guarded_panics();
        let three = Vector::new("three", |_: &u32, out: &mut [f64]| {
            out.copy_from_slice(&[1.0; 3]);
        });
        let check = three.check(&vec![1], 2);
        assert_eq!(
            check.to_string(),
            "1 records: 1 panicked, 0 without a value"
        );
        assert!(three.check(&vec![1], 3).is_clean());
    }
}
