//! Words that people search for lead to what is called otherwise here.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::specification::root;

/// A word, and the item that it leads to.
const WORDS: [(&str, &str); 96] = [
    ("(epsilon, delta)", "ApproxDp"),
    ("DP-FTRL", "FactorizedContinualCount"),
    ("DP-SGD", "GradientDescent"),
    ("Gaussian mechanism", "GaussianNoise"),
    ("GaussianCount", "Count"),
    ("Laplace mechanism", "LaplaceNoise"),
    ("MWEM", "MultiplicativeWeights"),
    ("PMW", "MultiplicativeWeights"),
    ("SQL", "Counts"),
    ("SVT", "AboveThreshold"),
    ("SVT", "SparseVector"),
    ("accountant", "Odometer"),
    ("amplification", "SampledGaussianSum"),
    ("argmax", "Choice"),
    ("average", "Mean"),
    ("bar chart", "Histogram"),
    ("bounded DP", "Replace"),
    ("bounds", "RealRange"),
    ("budget", "Filter"),
    ("clamp", "RealRange"),
    ("clipping", "RealRange"),
    ("clipping", "VectorSum"),
    ("composition", "Filter"),
    ("concentrated", "ZCdp"),
    ("confidence interval", "Estimates"),
    ("contingency table", "Histogram"),
    ("contribution bounding", "People"),
    ("csv", "Dataset"),
    ("database", "Counts"),
    ("dataframe", "Dataset"),
    ("debug", "ClosureCheck"),
    ("delta", "ApproxDp"),
    ("differential privacy", "PureDp"),
    ("disjoint", "Parallel"),
    ("dry run", "ClosureCheck"),
    ("embedding", "VectorSum"),
    ("epsilon", "PureDp"),
    ("error bar", "Accuracy"),
    ("gaussian differential privacy", "Gdp"),
    ("geometric mechanism", "LaplaceNoise"),
    ("global sensitivity", "Change"),
    ("group by", "By"),
    ("group by", "Histogram"),
    ("group privacy", "Distance"),
    ("individual privacy", "IndividualFilter"),
    ("local DP", "RandomizedResponse"),
    ("machine learning", "GradientDescent"),
    ("margin of error", "Estimates"),
    ("matrix mechanism", "FactorizedContinualCount"),
    ("median", "NoisyQuantiles"),
    ("moments accountant", "Rdp"),
    ("most frequent", "TopK"),
    ("neighbouring", "AddRemove"),
    ("noise", "Count"),
    ("noise", "Noised"),
    ("parallel composition", "Parallel"),
    ("partition selection", "ThresholdHistogram"),
    ("per group", "By"),
    ("percentage", "Proportion"),
    ("percentile", "NoisyQuantiles"),
    ("personalized", "IndividualFilter"),
    ("postgres", "Counts"),
    ("postprocessing", "ThroughExt"),
    ("prefix sum", "ContinualCount"),
    ("privacy accountant", "Odometer"),
    ("privacy budget", "Filter"),
    ("privacy filter", "Filter"),
    ("privacy loss distribution", "FDp"),
    ("quartile", "NoisyQuantiles"),
    ("rate", "Proportion"),
    ("regression", "GradientDescent"),
    ("renyi", "Rdp"),
    ("report noisy max", "NoisyMax"),
    ("selection", "Choice"),
    ("sensitivity", "Change"),
    ("sparse vector technique", "AboveThreshold"),
    ("spent", "Odometer"),
    ("spread", "Variance"),
    ("standard deviation", "Variance"),
    ("streaming", "ContinualCount"),
    ("subsampling", "SampledGaussianSum"),
    ("substitution", "Replace"),
    ("survey", "RandomizedResponse"),
    ("synthetic data", "MultiplicativeWeights"),
    ("table", "Dataset"),
    ("top-k", "TopK"),
    ("total", "Sum"),
    ("trade-off function", "FDp"),
    ("tree", "ContinualCount"),
    ("unbounded DP", "AddRemove"),
    ("unknown domain", "ThresholdHistogram"),
    ("user-level", "OnRows"),
    ("user-level", "People"),
    ("utility", "Accuracy"),
    ("where", "Predicate"),
    ("zero-concentrated", "ZCdp"),
];

/// All aliases in the sources of a folder, with the items that they stand at.
fn aliases(folder: &Path, found: &mut BTreeSet<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            aliases(&path, found);
            continue;
        }
        let mut words = Vec::new();
        for line in fs::read_to_string(&path).unwrap().lines() {
            if let Some(rest) = line.strip_prefix("#[doc(alias = \"") {
                words.push(rest.split_once('"').unwrap().0.to_owned());
            } else if let Some(item) = line.strip_prefix("pub ") {
                let name = item.split(|letter: char| !letter.is_alphanumeric()).nth(1);
                let of_item = words.drain(..).map(|word| (word, name.unwrap().to_owned()));
                found.extend(of_item);
            }
        }
        assert_eq!(words, [""; 0], "no item has these in {}", path.display());
    }
}

#[test]
fn words_that_people_search_lead_somewhere() {
    let mut found = BTreeSet::new();
    for folder in ["src", "core/src"] {
        aliases(&root().join(folder), &mut found);
    }
    let listed = WORDS.map(|(word, item)| (word.to_owned(), item.to_owned()));
    assert_eq!(found, BTreeSet::from(listed));
}
