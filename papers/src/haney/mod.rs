//! H: Haney et al., *Concurrent Composition for Interactive Differential Privacy with Adaptive
//! Privacy-Loss Parameters* (2023): its proofs as programs.
//!
//! H proves that one mechanism is a postprocessing of another by writing the person in the middle
//! down. Each of these is a [`Middle`](queryables::middle::Middle) here, and the verifier shows that
//! both sides have the same view for *every* adversary with a finite menu. Most are tests. The
//! [`reduction`] to randomized response is constructed, for any mechanism with finite communication.
//!
//! | item | where |
//! |---|---|
//! | 1.25, 3.3 a mechanism is a postprocessing of randomized response: N and P, constructed | [`reduction`] |
//! | Def. 2.4 mechanisms with a dataset of their own each | `several_datasets` |
//! | 2.17, Alg 8, 9 P∘M keeps the loss: A′ and g | `person_in_the_middle` |
//! | Alg 10 the universal mechanism, which is what it becomes | [`universal`], `person_in_the_middle` |
//! | Alg 11 FiltCon(IM) as a postprocessing of Filt(NIM), with the flag that it needs | `halting` |
//! | Alg 12 F_K as a postprocessing of F_2 | `filters`, and under the other policy `halting` |
//! | Alg 13 a zCDP filter as a postprocessing of a Rényi filter | `restating` |
//! | 2.19, Alg 14, 15 filters and odometers from each other | `odometers`, `halting` |
//! | 4.7, base case: F₂ = P∘ConComp(M₁, U) | `base_case` |
//! | Alg 8, 9, 13–15 under both policies, with state | `policies` |

#[cfg(test)]
mod base_case;
#[cfg(test)]
mod filters;
#[cfg(test)]
mod halting;
#[cfg(test)]
mod odometers;
#[cfg(test)]
mod person_in_the_middle;
#[cfg(test)]
mod policies;
pub mod reduction;
#[cfg(test)]
mod restating;
#[cfg(test)]
mod several_datasets;
pub mod universal;
