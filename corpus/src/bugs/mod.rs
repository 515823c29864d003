//! One file for each bug.

mod atom_at_the_threshold;
mod bounds_of_squares;
mod budget_tells;
mod charged_after_running;
mod clamped_before_the_expression;
mod classical_gaussian;
mod clipped_after_averaging;
mod conversion_to_pdp;
mod drift_of_delta;
mod failed_child_not_charged;
mod finite_sampler;
mod float_laplace;
mod float_sum;
mod keys_without_a_bound;
mod negative_loss;
mod no_bounds_no_noise;
mod noise_from_the_data;
mod noisy_max_value;
mod one_draw_for_all_groups;
mod overflow_is_told;
mod permute_and_flip_as_exponential;
mod precision_of_floats;
mod public_number_of_rows;
mod replaced_row;
mod reversed_comparison;
mod runs_without_a_price;
mod scale_upside_down;
mod sparse_vector;
mod stopping_when_it_looks_bad;
mod sum_of_two_columns;
mod svt_noise_for_one_hit;
mod svt_tells_the_compared_value;
mod svt_without_cutoff;
mod svt_without_query_noise;
mod threshold_rounded_down;

use crate::bug::Bug;

/// All of them.
#[must_use]
pub fn all() -> Vec<Bug> {
    vec![
        noisy_max_value::BUG,
        scale_upside_down::BUG,
        float_laplace::BUG,
        precision_of_floats::BUG,
        finite_sampler::BUG,
        float_sum::BUG,
        clipped_after_averaging::BUG,
        replaced_row::BUG,
        one_draw_for_all_groups::BUG,
        overflow_is_told::BUG,
        clamped_before_the_expression::BUG,
        bounds_of_squares::BUG,
        no_bounds_no_noise::BUG,
        sum_of_two_columns::BUG,
        noise_from_the_data::BUG,
        public_number_of_rows::BUG,
        atom_at_the_threshold::BUG,
        threshold_rounded_down::BUG,
        keys_without_a_bound::BUG,
        permute_and_flip_as_exponential::BUG,
        failed_child_not_charged::BUG,
        charged_after_running::BUG,
        negative_loss::BUG,
        runs_without_a_price::BUG,
        reversed_comparison::BUG,
        budget_tells::BUG,
        svt_without_query_noise::BUG,
        svt_without_cutoff::BUG,
        svt_noise_for_one_hit::BUG,
        svt_tells_the_compared_value::BUG,
        conversion_to_pdp::BUG,
        drift_of_delta::BUG,
        stopping_when_it_looks_bad::BUG,
        classical_gaussian::BUG,
    ]
}
