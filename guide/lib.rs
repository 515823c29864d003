//! The chapters of the guide. Their code is compiled and run as documentation tests; the guide itself is
//! read with `mdbook serve guide`.
#![forbid(unsafe_code)]

macro_rules! chapters {
    ($($chapter:ident),* $(,)?) => {
        $(
            #[doc = include_str!(concat!("src/", stringify!($chapter), ".md"))]
            pub mod $chapter {}
        )*
    };
}

chapters!(
    accuracy,
    before,
    budget,
    embedding,
    first_filter,
    from_others,
    individual,
    interleave,
    ledger,
    measure,
    mechanism,
    middle,
    odometer,
    own_measure,
    own_mechanism,
    people,
    property_tests,
    questions,
    rules,
    tables,
);
