//! The Adult (census income) data, as features and a label: Becker and Kohavi 1996, UCI Machine
//! Learning Repository, CC BY 4.0. See `papers/data/README.md`.

use std::io::Read;

use flate2::read::GzDecoder;
use queryables::mechanisms::Objective;

use crate::Outcome;

/// The first of the two parts of the data is for training, the second for testing.
pub const TRAINING: usize = 32_561;

/// The columns with categories, and which there are, as the documentation of the data says. One that
/// is missing there, or is unknown (`?`), has no feature.
const CATEGORIES: [(usize, &str); 8] = [
    (
        1,
        "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay \
         Never-worked",
    ),
    (
        3,
        "Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th 7th-8th 12th \
         Masters 1st-4th 10th Doctorate 5th-6th Preschool",
    ),
    (
        5,
        "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent \
         Married-AF-spouse",
    ),
    (
        6,
        "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty \
         Handlers-cleaners Machine-op-inspct Adm-clerical Farming-fishing Transport-moving \
         Priv-house-serv Protective-serv Armed-Forces",
    ),
    (
        7,
        "Wife Own-child Husband Not-in-family Other-relative Unmarried",
    ),
    (8, "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black"),
    (9, "Female Male"),
    (
        13,
        "United-States Cambodia England Puerto-Rico Canada Germany Outlying-US(Guam-USVI-etc) India \
         Japan Greece South China Cuba Iran Honduras Philippines Italy Poland Jamaica Vietnam Mexico \
         Portugal Ireland France Dominican-Republic Laos Ecuador Taiwan Haiti Columbia Hungary \
         Guatemala Nicaragua Scotland Thailand Yugoslavia El-Salvador Trinadad&Tobago Peru Hong \
         Holand-Netherlands",
    ),
];

/// Age, years of education, capital gain, capital loss and hours per week.
const NUMBERS: [usize; 5] = [0, 4, 10, 11, 12];

/// How numbers become features: what is subtracted, and what they are then divided by. These are
/// round numbers that anybody might guess, and not computed from the data, which would not be
/// private.
pub type Scales = [(f64, f64); 5];

/// Most numbers are near 1.
pub const ORDINARY: Scales = [
    (40.0, 14.0),
    (10.0, 2.5),
    (0.0, 7500.0),
    (0.0, 400.0),
    (40.0, 12.0),
];

/// Capital gains in thousands, and losses in hundreds: few people have any, and then they are large.
pub const LONG_FOR_A_FEW: Scales = [
    (40.0, 14.0),
    (10.0, 2.5),
    (0.0, 1000.0),
    (0.0, 100.0),
    (40.0, 12.0),
];

/// One person: the features that are not zero, and whether they earn over 50 000 dollars.
#[derive(Clone, Debug)]
pub struct Example {
    features: Vec<(usize, f64)>,
    is_over_50k: bool,
}

impl Example {
    #[cfg(test)]
    pub fn of(features: Vec<(usize, f64)>, is_over_50k: bool) -> Self {
        Self {
            features,
            is_over_50k,
        }
    }

    fn margin(&self, weights: &[f64]) -> f64 {
        let products = self.features.iter().map(|(index, x)| weights[*index] * x);
        products.sum()
    }
}

/// The number of features.
pub fn features() -> usize {
    let categories = CATEGORIES.map(|(_, names)| names.split_whitespace().count());
    categories.iter().sum::<usize>() + NUMBERS.len()
}

/// People, those for training first: all of them, or this number.
pub fn people(scales: &Scales, most: usize) -> Outcome<Vec<Example>> {
    let mut text = String::new();
    GzDecoder::new(&include_bytes!("../../../data/adult.csv.gz")[..]).read_to_string(&mut text)?;
    text.lines()
        .skip(1)
        .take(most)
        .map(|row| example(row, scales))
        .collect()
}

fn example(row: &str, scales: &Scales) -> Outcome<Example> {
    let fields: Vec<&str> = row.split(',').collect();
    let field = |column: usize| fields.get(column).copied().ok_or("a row is too short");
    let mut features = Vec::new();
    let mut first = 0;
    for (column, names) in CATEGORIES {
        let name = field(column)?;
        let index = names.split_whitespace().position(|known| known == name);
        features.extend(index.map(|index| (first + index, 1.0)));
        first += names.split_whitespace().count();
    }
    for (index, (column, (centre, unit))) in NUMBERS.iter().zip(scales).enumerate() {
        let number: f64 = field(*column)?.parse()?;
        features.push((first + index, (number - centre) / unit));
    }
    Ok(Example {
        features,
        is_over_50k: field(14)? == ">50K",
    })
}

/// The derivative of the logistic loss by the margin: how wrong the model is, from −1 to 1.
fn slope(margin: f64, label: bool) -> f64 {
    let missed = |margin: f64| 1.0 / (1.0 + margin.exp());
    if label {
        -missed(margin)
    } else {
        missed(-margin)
    }
}

/// Logistic regression, for examples of which most features are zero.
pub fn objective() -> Objective<Vec<Example>> {
    let gradient = |weights: &[f64], example: &Example, out: &mut [f64]| {
        let slope = slope(example.margin(weights), example.is_over_50k);
        for (index, x) in &example.features {
            out[*index] = slope * x;
        }
    };
    Objective::new("logistic loss", features(), gradient)
}

/// The share of examples for which the weights are right, in percent.
pub fn accuracy(weights: &[f64], examples: &[Example]) -> f64 {
    let right = |example: &&Example| (example.margin(weights) > 0.0) == example.is_over_50k;
    100.0 * examples.iter().filter(right).count() as f64 / examples.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read() {
        let people = people(&ORDINARY, usize::MAX).unwrap();
        assert_eq!((people.len(), features()), (48_842, 104));
        let over = people[..TRAINING]
            .iter()
            .filter(|person| person.is_over_50k);
        assert_eq!(over.count(), 7841);
        // Three columns may be unknown, and no other category is missing.
        let categories = |person: &Example| person.features.len() - NUMBERS.len();
        assert!(
            people
                .iter()
                .all(|person| (5..=8).contains(&categories(person)))
        );
        let known: usize = people.iter().map(categories).sum();
        assert_eq!(known, 8 * 48_842 - 2799 - 2809 - 857);
    }
}
