//! What is asked of the server.

/// Whoever charges holds this lock until the commit. It keeps others from waiting in vain, and from waiting for
/// each other: that no two charges are decided on the same states, the numbers of the entries see to, because
/// each can be written once.
macro_rules! lock {
    () => {
        "pg_advisory_xact_lock(7205759403792793)"
    };
}

/// The number and the checksum of the last entry; no row while there is none.
macro_rules! last {
    () => {
        "SELECT sequence, right(line, 10) AS seal FROM queryables_entries ORDER BY sequence DESC LIMIT 1"
    };
}

/// Whether an entry has no outcome: neither in its own row nor in that of the next entry.
macro_rules! unfinished {
    () => {
        "(
            queryables_entries.outcome IS NULL AND NOT EXISTS (
                SELECT FROM queryables_entries AS next
                WHERE next.sequence = queryables_entries.sequence + 1
                AND next.outcome_before IS NOT NULL
            )
        )"
    };
}

/// A line, and its outcome.
macro_rules! lines {
    () => {
        "SELECT line, coalesce(outcome, (
            SELECT outcome_before FROM queryables_entries AS next
            WHERE next.sequence = queryables_entries.sequence + 1
        )) FROM queryables_entries"
    };
}

/// Says itself how it is to be committed: a pool may give each transaction another session. What comes next
/// reads what whoever had the lock before has committed.
pub(crate) const BEGIN: &str = concat!(
    "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
    SET LOCAL synchronous_commit = on;
    SELECT ",
    lock!()
);

/// A budget ($1, $2, $3), if it is new. It survives whatever the session's default is: a handle that has
/// read a budget takes it for damage if that is gone.
pub(crate) const OPEN: &str = "
    WITH waits AS MATERIALIZED (SELECT set_config('synchronous_commit', 'on', true))
    INSERT INTO queryables_budgets SELECT $1, $2, 0, $3 FROM waits
    ON CONFLICT DO NOTHING
";

/// Writes charges, and outcomes of earlier launches ($11, $12), if nobody has charged since the last entry was $7
/// with the checksum $8, and if the changed budgets ($4) have the versions and checksums $9 and $10: their entries
/// ($1, $2) with amounts ($3), the changed budgets ($4, $5, $6), and keys ($13, $14). Otherwise nothing is written.
///
/// Where somebody else charges while this waits for the lock, it still reads what was there before. Then the number
/// of its first entry is taken: an error, and nothing is written. So it is where a budget is not what it was, such as
/// after a backup is restored meanwhile: then the entries have no number.
pub(crate) const WRITE: &str = concat!(
    "WITH same AS MATERIALIZED (
        SELECT FROM ",
    lock!(),
    " WHERE set_config('synchronous_commit', 'on', true) = 'on'
        AND coalesce((SELECT sequence = $7 AND seal = $8 FROM (",
    last!(),
    ") AS last), $7 = 0)
    ), outcomes AS (
        UPDATE queryables_entries SET outcome = done.outcome
        FROM unnest($11::bigint[], $12::text[]) AS done (sequence, outcome), same
        WHERE queryables_entries.sequence = done.sequence AND ",
    unfinished!(),
    "), keys AS (
        INSERT INTO queryables_keys SELECT key, sequence
        FROM unnest($13::text[], $14::bigint[]) AS known (key, sequence), same
    ), budgets AS (
        UPDATE queryables_budgets SET version = changed.version, state = changed.state
        FROM unnest($4::text[], $5::bigint[], $6::text[], $9::bigint[], $10::text[])
            AS changed (budget, version, state, known, seal), same
        WHERE queryables_budgets.budget = changed.budget
            AND queryables_budgets.version = changed.known
            AND right(queryables_budgets.state, 10) = changed.seal
        RETURNING queryables_budgets.budget
    )
    INSERT INTO queryables_entries (sequence, line, amounts)
    SELECT CASE WHEN (SELECT count(*) FROM budgets) = cardinality($4) THEN sequence END, line, amounts
    FROM unnest($1::bigint[], $2::text[], $3::text[]) AS entry (sequence, line, amounts), same"
);

/// The same for one charge of one budget without a key: lists take longer than all the rest. The outcome of the
/// entry before, or none ($11), is written into the same row: to change that of the entry takes as long as to
/// change the budget.
pub(crate) const WRITE_ONE: &str = concat!(
    "WITH charged AS (
        UPDATE queryables_budgets SET version = $5, state = $6
        WHERE budget = $4 AND version = $9 AND right(state, 10) = $10
        AND set_config('synchronous_commit', 'on', true) = 'on'
        AND coalesce((SELECT sequence = $7 AND seal = $8 FROM (",
    last!(),
    ") AS last), $7 = 0)
        AND ",
    lock!(),
    " IS NOT NULL
        RETURNING version
    )
    INSERT INTO queryables_entries (sequence, line, amounts, outcome_before)
    SELECT $1::bigint, $2::text, $3::text, $11::text FROM charged"
);

/// How often a known budget was changed by the entries from its counter on: they admit a launch that it
/// pays for, or the filter halts at them.
///
/// The upper end is above all entries. With both ends the server expects few of them and uses the index;
/// with one it expects a third of the table.
macro_rules! changes {
    () => {
        "(
            SELECT count(*) FROM queryables_entries, json_to_record(line::json)
                AS entry (decision text, filter text, quotas json, halted boolean)
            WHERE sequence BETWEEN known.counter AND $6
            AND (decision = 'admitted' OR halted)
            AND (filter = known.budget OR decision = 'admitted' AND EXISTS (
                SELECT FROM json_array_elements(quotas) AS quota
                WHERE quota->>0 = known.budget
            ))
        )"
    };
}

/// Writes a refusal ($1, $2, $3) in the place of the one before.
pub(crate) const REPLACE: &str =
    "UPDATE queryables_entries SET line = $2, amounts = $3 WHERE sequence = $1";

/// Outcomes ($1, $2), where there are none: the first one stays. If they need not survive, they need not wait
/// for the disk ($3).
pub(crate) const FINISH: &str = concat!(
    "WITH waits AS MATERIALIZED (SELECT set_config('synchronous_commit', $3, true))
    UPDATE queryables_entries SET outcome = done.outcome
    FROM waits, unnest($1::bigint[], $2::text[]) AS done (sequence, outcome)
    WHERE queryables_entries.sequence = done.sequence AND ",
    unfinished!()
);

/// The name of the dataset: the first one ($1) stays. No row where it is lost, as budgets come after it.
pub(crate) const NAME: &str = "
    UPDATE queryables_about SET dataset = coalesce(dataset, $1)
    WHERE dataset IS NOT NULL OR NOT EXISTS (SELECT FROM queryables_budgets)
    RETURNING dataset
";

/// The lines from an entry on ($1), and at most how many ($2).
pub(crate) const LINES: &str =
    concat!(lines!(), " WHERE sequence >= $1 ORDER BY sequence LIMIT $2");

/// What is known of a key ($1).
pub(crate) const KNOWN: &str = concat!(
    lines!(),
    " WHERE sequence = (SELECT sequence FROM queryables_keys WHERE key = $1)"
);

/// The states of budgets ($2) that are not those with these versions ($3) and checksums ($4); of the
/// others the version alone. Also the last entry, the checksum of an entry that was read before ($1), and the
/// changes since the counters ($5, $6): one statement, and so one moment.
pub(crate) const NEWER: &str = concat!(
    "WITH last AS MATERIALIZED (",
    last!(),
    ")
    SELECT last.sequence, last.seal,
        (SELECT right(line, 10) FROM queryables_entries WHERE sequence = $1),
        known.place, kept.version,
        CASE WHEN kept.version <> known.version OR right(kept.state, 10) <> known.seal
             THEN kept.state END, ",
    changes!(),
    "
    FROM unnest($2::text[], $3::bigint[], $4::text[], $5::bigint[]) WITH ORDINALITY
            AS known (budget, version, seal, counter, place)
        LEFT JOIN queryables_budgets AS kept USING (budget)
        LEFT JOIN last ON true"
);

/// Every budget, or one ($2), with the number of admitted entries from $1 on that have changed it. One
/// statement, and so one moment, whatever others launch meanwhile.
///
/// It also has the last entry, the last that was admitted, and the first whose key does not lead to it, or, where it
/// is about all budgets, that is not there and has a key.
pub(crate) const CHARGED: &str = concat!(
    "WITH later AS MATERIALIZED (
        SELECT sequence, filter, quotas, key FROM queryables_entries,
            json_to_record(line::json) AS entry (decision text, filter text, quotas json, key text)
        WHERE sequence >= $1 AND decision = 'admitted'
    ), changes AS (
        SELECT filter AS budget FROM later
        UNION ALL
        SELECT quota->>0 FROM later, json_array_elements(quotas) AS quota
    ), charged AS (
        SELECT budget, count(*) AS times FROM changes
        WHERE $2::text IS NULL OR budget = $2 GROUP BY budget
    ), kept AS (
        SELECT * FROM queryables_budgets WHERE $2::text IS NULL OR budget = $2
    ), lost AS (
        SELECT min(sequence) AS sequence FROM (
            SELECT sequence FROM later
            WHERE key IS NOT NULL AND NOT EXISTS (
                SELECT FROM queryables_keys AS known
                WHERE known.key = later.key AND known.sequence = later.sequence
            )
            UNION ALL
            SELECT sequence FROM queryables_keys AS known
            WHERE $2::text IS NULL AND NOT EXISTS (
                SELECT FROM queryables_entries AS entry WHERE entry.sequence = known.sequence
            )
        ) AS keyed
    ), admitted AS (
        SELECT sequence, right(line, 10) AS seal FROM queryables_entries
        WHERE sequence = (SELECT max(sequence) FROM later)
    ), last AS (",
    last!(),
    ")
    SELECT last.sequence, last.seal, lost.sequence, admitted.sequence, admitted.seal,
        budget, coalesce(times, 0), kept.version, kept.state, kept.terms,
        (kept.state::json->>'halt') IS NOT NULL,
        CASE WHEN kept.terms::json->>'filter' IS NOT NULL THEN kept.state::json->>'launched' END
    FROM lost LEFT JOIN last ON true LEFT JOIN admitted ON true
        LEFT JOIN (kept FULL JOIN charged USING (budget)) ON true"
);

/// Sent as one request, so it is one transaction. Of two that make the tables at once, the second waits
/// for the first and then finds them.
///
/// Names are unique by their hash values, as an index of a tree would not take long ones.
pub(crate) const SCHEMA: &str = concat!(
    "SELECT ",
    lock!(),
    ";
    CREATE TABLE queryables_about (
        one boolean PRIMARY KEY DEFAULT true CHECK (one),
        version integer NOT NULL,
        dataset text
    );
    INSERT INTO queryables_about (version) VALUES (1);
    CREATE TABLE queryables_budgets (
        budget text NOT NULL,
        terms text NOT NULL,
        version bigint NOT NULL,
        state text NOT NULL,
        EXCLUDE USING hash (budget WITH =)
    );
    CREATE TABLE queryables_entries (
        sequence bigint PRIMARY KEY,
        line text NOT NULL,
        outcome text,
        outcome_before text,
        amounts text NOT NULL
    );
    CREATE VIEW queryables_amounts AS
        SELECT sequence, name, amount::numeric AS amount
        FROM queryables_entries, json_each_text(amounts::json) AS each (name, amount);
    CREATE TABLE queryables_keys (
        key text NOT NULL,
        sequence bigint NOT NULL REFERENCES queryables_entries,
        EXCLUDE USING hash (key WITH =)
    );
"
);
