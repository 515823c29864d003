//! Keys of different people are compared, so they are numbers and texts.
use queryables::data::People;

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Patient(u32);

fn main() {
    let visits = vec![1, 2];
    let _ = People::by_key(&visits, |visit: &u32| Patient(*visit));
}

//~ E0277
//~ group by a number, a text, or a tuple of them: `Patient` is none
