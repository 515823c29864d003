//! The example runs, and says what it is for.

#[path = "../../examples/opendp.rs"]
#[allow(dead_code)]
mod opendp_inside;

#[test]
fn the_same_noise_goes_further_than_under_opendps_filter() {
    let mut out = Vec::new();
    opendp_inside::run(&mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.contains("OpenDP's filter admits 99.\n"), "{text}");
    assert!(
        text.contains("This crate's filter admits 349: 347 counts, a search, and a compositor"),
        "{text}"
    );
    assert!(text.ends_with("Left: 0.2.\n"), "{text}");
}
