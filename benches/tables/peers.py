"""The questions of the benchmark `tables`, asked to Polars and to OpenDP on Polars.

The benchmark starts it on its own file: `cargo bench --package benches --bench tables -- --python PYTHON`,
with a Python that has the packages `polars` and `opendp[polars]`. By hand: `python peers.py FILE [NAME]...`.

Polars computes the exact totals, with its default engine and with the streaming one. OpenDP computes the
release. For sums per person by group it bounds each group by itself, which needs more noise. Each question
opens the file anew, and the fastest of three runs counts. The Polars that OpenDP needs (1.36) cannot read a
column of real numbers in the order that newer writers state: then all are asked on a copy with the same row
groups, which pyarrow writes.
"""

import pathlib
import sys
import tempfile
import time
import warnings

import opendp.prelude as dp
import polars as pl
import pyarrow.parquet as pq

STATES = ["AK", "AL", "AR", "AZ", "CA", "CO", "CT", "DE", "FL", "GA"]
RUNS = 3



def readable(file, folder):
    """The file, or a copy that Polars can read."""
    try:
        pl.scan_parquet(file).select(pl.len()).collect()
        return file
    except pl.exceptions.ComputeError as error:
        print(f"tables: Polars is asked on a copy, because of this one it says: {str(error).splitlines()[0]}")
    copy = pathlib.Path(folder, "copy.parquet")
    original = pq.ParquetFile(file)
    with pq.ParquetWriter(copy, original.schema_arrow, compression="snappy") as writer:
        for group in range(original.num_row_groups):
            rows = original.read_row_group(group)
            writer.write_table(rows, row_group_size=len(rows))
    return copy


folder = tempfile.TemporaryDirectory()
file, names = readable(sys.argv[1], folder.name), sys.argv[2:]
rows = pl.scan_parquet(file).select(pl.len()).collect().item()
keys = pl.LazyFrame({"state": STATES})
hours = pl.col("hours").clip(0, 60)
income = (pl.col("income") / 8 + 0.5).floor().clip(0, 10_000)
chosen = (pl.col("hours") >= 20) & (pl.col("income") > 1000)
person = hours.sum().clip(-600, 600)
sum_of_hours = pl.col("hours").fill_null(0).dp.sum((0, 60))
sum_of_person = pl.col("hours").fill_null(0).clip(0, 60).sum().clip(0, 600)


def scaled(frame):
    """Sums by state, those of a person scaled to 600 in all."""
    sums = frame.group_by("person", "state").agg(person)
    norm = pl.col("hours").abs().sum().over("person")
    kept = pl.when(norm > 600).then(pl.col("hours") * 600 // norm).otherwise("hours")
    return sums.with_columns(kept.alias("hours")).group_by("state").agg(pl.col("hours").sum())


POLARS = {
    "count": lambda frame: frame.filter(chosen).select(pl.len()),
    "clamped_sum": lambda frame: frame.select(hours.sum()),
    "real_sum": lambda frame: frame.select(income.sum()),
    "by_group": lambda frame: frame.group_by("state").agg(hours.sum()),
    "per_person": lambda frame: frame.group_by("person").agg(person).select(pl.col("hours").sum()),
    "per_person_by_group": scaled,
}


def query(margin, **unit):
    """A query of one release with ε = 1, on the file."""
    context = dp.Context.compositor(
        data=pl.scan_parquet(file),
        privacy_unit=dp.unit_of(contributions=1, **unit),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=1,
        margins=[margin],
    )
    return context.query()


everything = dp.polars.Margin(max_length=rows)
by_state = dp.polars.Margin(by=["state"], max_length=rows, max_groups=len(STATES))
known_states = dp.polars.Margin(by=["state"], max_length=rows, invariant="keys")
OPENDP = {
    "count": lambda: query(everything).filter(chosen).select(dp.len()),
    "clamped_sum": lambda: query(everything).select(sum_of_hours),
    "real_sum": lambda: query(everything).select(
        pl.col("income").fill_null(0.0).fill_nan(0.0).dp.sum((0.0, 80_000.0))
    ),
    "by_group": lambda: query(known_states).group_by("state").agg(sum_of_hours),
    "per_person": lambda: query(everything, identifier="person")
    .group_by("person")
    .agg(sum_of_person)
    .select(pl.col("hours").dp.sum((0, 600))),
    "per_person_by_group": lambda: query(by_state, identifier="person")
    .group_by("person", "state")
    .agg(sum_of_person)
    .group_by("state")
    .agg(pl.col("hours").dp.sum((0, 600)))
    .with_keys(keys),
}


def fastest(ask):
    """The fewest milliseconds."""
    times = []
    for _ in range(RUNS):
        started = time.perf_counter()
        ask()
        times.append(1000 * (time.perf_counter() - started))
    return min(times)


def main():
    dp.enable_features("contrib")
    warnings.simplefilter("ignore")
    print(f"tables: polars {pl.__version__}, opendp {dp.__version__}")
    for name in POLARS:
        if names and not any(part in name for part in names):
            continue
        frame = POLARS[name](pl.scan_parquet(file))
        default = fastest(frame.collect)
        streaming = fastest(lambda: frame.collect(engine="streaming"))
        opendp = fastest(lambda: OPENDP[name]().release().collect())
        print(
            f"tables: {name} rows={rows} polars={default:.0f}ms "
            f"polars_streaming={streaming:.0f}ms opendp={opendp:.0f}ms",
            flush=True,
        )


main()
