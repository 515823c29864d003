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
    server,
    tables,
);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    /// The chapters, by their names.
    fn chapters() -> Vec<(String, String)> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let entries = fs::read_dir(folder).unwrap();
        let files = entries.map(|entry| entry.unwrap().path());
        let pages = files.filter(|path| path.extension().is_some_and(|kind| kind == "md"));
        let chapters: Vec<_> = pages
            .map(|path| {
                let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
                (name, fs::read_to_string(path).unwrap())
            })
            .filter(|(name, _)| name != "SUMMARY")
            .collect();
        assert!(chapters.len() > 15);
        chapters
    }

    #[test]
    fn every_chapter_is_listed_and_its_code_runs() {
        let summary = include_str!("src/SUMMARY.md");
        let listed: BTreeSet<_> = summary
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split_once(".md)"))
            .map(|(name, _)| name)
            .collect();
        // The list of the macro above.
        let (_, run) = include_str!("lib.rs").split_once("chapters!(").unwrap();
        let (run, _) = run.split_once(");").unwrap();
        let run: BTreeSet<_> = run.split(',').map(str::trim).collect();
        let chapters = chapters();
        let chapters: BTreeSet<_> = chapters.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(listed, chapters);
        assert_eq!(&run - &BTreeSet::from([""]), chapters);
    }

    /// Beside the list of chapters there is room for 102 letters on a page of 1300 pixels.
    #[test]
    fn code_fits_on_the_page() {
        for (name, text) in chapters() {
            for code in text.split("```").skip(1).step_by(2) {
                for line in code.lines().skip(1) {
                    assert!(line.chars().count() <= 102, "{name}: {line}");
                }
            }
        }
    }

    /// An attribute of an SVG element, in quotes of either kind.
    fn attribute<'a>(element: &'a str, name: &str) -> Option<&'a str> {
        let (_, rest) = element.split_once(&format!(" {name}="))?;
        rest.split(['\'', '"']).nth(1)
    }

    /// The labels of a picture that reach beyond its left or right edge. A letter of DejaVu Sans, a wide font
    /// that browsers take for `sans-serif`, is about 0.55 of its height wide.
    fn cut_off(picture: &str) -> Vec<&str> {
        let number = |element: &str, name: &str, default: f64| {
            attribute(element, name).map_or(default, |text| text.parse::<f64>().unwrap())
        };
        let (head, _) = picture.split_once('>').unwrap();
        let edge = attribute(head, "viewBox").unwrap().split(' ').nth(2);
        let edge: f64 = edge.unwrap().parse().unwrap();
        let common = number(head, "font-size", 16.0);
        let labels = picture.split("<text").skip(1).filter_map(|element| {
            let (attributes, rest) = element.split_once('>')?;
            let (label, _) = rest.split_once("</text>")?;
            let letters = f64::from(u32::try_from(label.chars().count()).unwrap());
            let width = 0.55 * number(attributes, "font-size", common) * letters;
            let left = number(attributes, "x", 0.0)
                - match attribute(attributes, "text-anchor") {
                    Some("middle") => width / 2.0,
                    Some("end") => width,
                    _ => 0.0,
                };
            (left < 0.0 || left + width > edge).then_some(label)
        });
        labels.collect()
    }

    #[test]
    fn no_label_of_a_picture_is_cut_off() {
        let long =
            "<svg viewBox='0 0 100 9' font-size='10'><text x='50' y='9'>ten letters</text></svg>";
        assert_eq!(cut_off(long), ["ten letters"]);
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/figures");
        let pictures: Vec<_> = fs::read_dir(folder).unwrap().collect();
        assert!(pictures.len() >= 7);
        for picture in pictures {
            let path = picture.unwrap().path();
            let picture = fs::read_to_string(&path).unwrap();
            assert!(picture.contains("<text"), "{path:?}");
            assert_eq!(cut_off(&picture), [""; 0], "{path:?}");
        }
    }

    /// A hundred words a minute, for a second language and for trying things out. A line of code takes as
    /// long as ten words.
    #[test]
    fn a_chapter_takes_at_most_ten_minutes() {
        for (name, text) in chapters() {
            let (mut words, mut lines) = (0, 0);
            for (index, part) in text.split("```").enumerate() {
                if index % 2 == 0 {
                    words += part.split_whitespace().count();
                } else {
                    lines += part.lines().count();
                }
            }
            assert!(
                words + 10 * lines <= 1000,
                "{name}: {words} words, {lines} lines of code"
            );
        }
    }
}
