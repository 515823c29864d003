//! Rules with a threshold.

use queryables::account::{ContinuationRule, Rogers, SavedRule, ThroughRdp, ThroughZCdp};
use queryables::number::Rho;
use queryables::privacy::RdpGrid;

use super::{IMPOSSIBLE, continues, damaged, number, pair, read};

#[test]
fn rules_with_a_threshold_continue_where_they_were() {
    let limit = pair("1", "1e-6");
    let pairs = [pair("0.1", "1e-8"), pair("0.03", "0")];
    let slack = number("5e-7");
    continues(ThroughZCdp::simple(limit, slack).unwrap(), &pairs);
    continues(ThroughZCdp::tight(limit, slack).unwrap(), &pairs);
    let rhos = ["0.001", "0.0003"].map(number::<Rho>);
    continues(ThroughZCdp::for_zcdp(limit).unwrap(), &rhos);
    continues(ThroughZCdp::for_zcdp_simple(limit).unwrap(), &rhos);
    continues(
        Rogers::new(limit).unwrap(),
        &[pair("0.01", "1e-8"), pair("0.02", "0")],
    );
    let grid = RdpGrid::new([number("8"), number("32")]).unwrap();
    let curve = grid.curve([number("0.01"), number("0.04")]).unwrap();
    continues(
        ThroughRdp::on_grid_at(grid, number("32"), limit).unwrap(),
        &[curve],
    );

    let zcdp = ThroughZCdp::for_zcdp(limit)
        .unwrap()
        .charge(&number("0.001"))
        .unwrap();
    damaged(
        zcdp,
        &[
            (
                r#""slack":"1e-6""#,
                r#""slack":"5e-7""#,
                "the slack must be the whole of delta",
            ),
            (
                "tight",
                "loose",
                "unknown variant `loose`, expected `simple` or `tight`",
            ),
            (r#""total":"2000"#, r#""total":"2000000000"#, IMPOSSIBLE),
            (
                "ThroughZCdp of zCDP",
                "ThroughZCdp",
                "the rule is ThroughZCdp, not ThroughZCdp of zCDP",
            ),
        ],
    );
    let zcdp = ThroughZCdp::tight(limit, slack)
        .unwrap()
        .charge(&pairs[0])
        .unwrap();
    damaged(
        zcdp,
        &[
            (r#""deltas":"1e-8""#, r#""deltas":"6e-7""#, IMPOSSIBLE),
            (
                r#""slack":"5e-7""#,
                r#""slack":"5e-6""#,
                "the slack 5e-6 is more than the budget's δ = 1e-6",
            ),
        ],
    );
    damaged(
        Rogers::new(limit)
            .unwrap()
            .charge(&pair("0.01", "0"))
            .unwrap(),
        &[
            (r#""squares":"1000"#, r#""squares":"10000000"#, IMPOSSIBLE),
            (r#""drift":""#, r#""drift":"1000000"#, IMPOSSIBLE),
            (r#""deltas":"0""#, r#""deltas":"6e-7""#, IMPOSSIBLE),
            (
                r#""epsilon":"1""#,
                r#""epsilon":"0""#,
                "Rogers et al. Thm 5.1 needs ε > 0 and 0 < δ < 1/e",
            ),
        ],
    );
    // What it keeps of the last price is not written: a rule that was read has none.
    let rdp = ThroughRdp::at(number("20"), limit, slack).unwrap();
    let charged = rdp.charge(&pairs[0]).unwrap();
    let SavedRule(again) =
        read::<SavedRule<ThroughRdp>>(&serde_json::to_string(&SavedRule(charged)).unwrap())
            .unwrap();
    assert_eq!(again.charge(&pairs[1]), charged.charge(&pairs[1]));
    damaged(
        charged,
        &[
            (r#""total":""#, r#""total":"9"#, IMPOSSIBLE),
            (
                r#""order":"20""#,
                r#""order":"1""#,
                "order must be greater than 1",
            ),
        ],
    );
}
