//! That a family is a Blackwell chain needs a proof, which an implementation of a trait is not.

use queryables::account::BlackwellChain;
use queryables::privacy::fdp::FDp;

struct Mine(FDp);

impl BlackwellChain for Mine {}

fn main() {}

//~ E0277
//~ sealed::Chain
