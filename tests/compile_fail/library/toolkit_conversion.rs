//! A rule that converts the losses of children is valid for the measures of the theorem: nobody adds
//! one, not even through what the core hands to the toolkit.
use queryables_core::privacy::PureDp;
use queryables_core::toolkit::account::{RdpChildren, ZCdpChildren};

fn through_zcdp<C: ZCdpChildren>() {}

fn through_rdp<C: RdpChildren>() {}

#[derive(Clone, Debug, Default, PartialEq)]
struct Own;

impl queryables_core::privacy::Measure for Own {
    type Loss = queryables_core::number::Epsilon;

    fn zero(&self) -> Self::Loss {
        Self::Loss::ZERO
    }

    fn join(&self, one: &Self::Loss, other: &Self::Loss) -> Self::Loss {
        *one.max(other)
    }
}

impl ZCdpChildren for Own {}

impl RdpChildren for Own {}

fn main() {
    through_zcdp::<PureDp>();
    through_rdp::<PureDp>();
}

//~ E0046
//~ E0277
//~ the trait …Converted` is not implemented for `Own`
//~ `ThroughZCdp` takes children under `ApproxDp` or `ZCdp`, not under `PureDp`
//~ `ThroughRdp` takes children under `ApproxDp` or `RdpGrid`, not under `PureDp`
