//! What is asked of the server.

/// Says itself how it is to be committed: a pool may give each transaction another session.
pub(crate) const BEGIN: &str = "
    BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
    SET LOCAL synchronous_commit = on
";

/// A budget ($1, $2, $3), if it is new. It survives whatever the session's default is: a handle that has
/// read a budget takes it for damage if that is gone.
pub(crate) const OPEN: &str = "
    WITH waits AS MATERIALIZED (SELECT set_config('synchronous_commit', 'on', true))
    INSERT INTO queryables_budgets SELECT $1, $2::text::json, 0, $3::text::json FROM waits
    ON CONFLICT DO NOTHING
";

/// Locks the counter first, as everybody does: sequence numbers follow the commits, without gaps.
/// Then it locks the budgets ($1). A row that was changed while this waited for its lock is read as it
/// is now, because it is locked. The checksum of an entry that was read before ($2) comes along.
pub(crate) const LOCK: &str = "
    WITH about AS MATERIALIZED (SELECT next FROM queryables_about FOR UPDATE),
    entry AS MATERIALIZED (
        SELECT right(line::text, 10) AS seal FROM queryables_entries WHERE sequence = $2
    )
    SELECT about.next, (SELECT seal FROM entry), budget, version, state::text
    FROM about, queryables_budgets WHERE budget = ANY($1)
    FOR UPDATE OF queryables_budgets
";

/// How often a known budget was changed by the entries from its counter on: they admit a launch that it
/// pays for, or the filter halts at them.
///
/// The upper end is above all entries. With both ends the server expects few of them and uses the index;
/// with one it expects a third of the table.
macro_rules! changes {
    ($end:literal) => {
        concat!(
            "(
                SELECT count(*) FROM queryables_entries, json_to_record(line)
                    AS entry (decision text, filter text, quotas json, halted boolean)
                WHERE sequence BETWEEN known.counter AND ",
            $end,
            "   AND (decision = 'admitted' OR halted)
                AND (filter = known.budget OR decision = 'admitted' AND EXISTS (
                    SELECT FROM json_array_elements(quotas) AS quota
                    WHERE quota->>0 = known.budget
                ))
            )"
        )
    };
}

/// The changes of these budgets ($1) since their counters ($2).
///
/// A statement of its own behind `LOCK`, and sent together with it: the snapshot of `LOCK` may be older
/// than the rows that it waited for.
pub(crate) const CHANGES: &str = concat!(
    "SELECT ",
    changes!("$3"),
    "
    FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS known (budget, counter, place)
    ORDER BY place
"
);

/// Writes the entries of charges ($1, $2) with their amounts ($3), and the changed budgets ($4, $5, $6). What
/// comes before them is given, and from where it is known that they may be written.
macro_rules! write {
    ($before:literal, $from:literal) => {
        concat!(
            "WITH ",
            $before,
            "budgets AS (
                UPDATE queryables_budgets SET version = changed.version, state = changed.state::json
                FROM unnest($4::text[], $5::bigint[], $6::text[]) AS changed (budget, version, state)",
            $from,
            " WHERE queryables_budgets.budget = changed.budget
            )
            INSERT INTO queryables_entries (sequence, line, amounts)
            SELECT sequence, line::json, amounts::json
            FROM unnest($1::bigint[], $2::text[], $3::text[]) AS entry (sequence, line, amounts)",
            $from
        )
    };
}

/// Under the locks of `LOCK`: also the counter ($7) and the keys ($8, $9).
pub(crate) const WRITE: &str = write!(
    "counter AS (
        UPDATE queryables_about SET next = $7::bigint
    ), keys AS (
        INSERT INTO queryables_keys SELECT key, sequence
        FROM unnest($8::text[], $9::bigint[]) AS known (key, sequence)
    ), ",
    ""
);

/// Charges without keys in one statement, and so in one round trip: it writes only if nobody has charged since
/// the counter was $8, which becomes $7. That is the counter that everybody locks first: while it is the same,
/// so are the budgets. If it changes while this waits for its lock, it is read as it is then, and nothing is
/// written. Outcomes of earlier launches ($11, $12) are written with them.
///
/// What was read before is compared, too: the checksum of an entry ($9, $10), and the versions and
/// checksums of the changed budgets ($4, $13, $14). Where they differ nothing is written, and `LOCK` says
/// why.
pub(crate) const WRITE_ALONE: &str = write!(
    "same AS (
        UPDATE queryables_about SET next = $7::bigint
        WHERE next = $8::bigint AND set_config('synchronous_commit', 'on', true) = 'on'
        AND ($10::text IS NULL OR $10::text = (
            SELECT right(line::text, 10) FROM queryables_entries WHERE sequence = $9::bigint
        )) AND NOT EXISTS (
            SELECT FROM unnest($4::text[], $13::bigint[], $14::text[])
                AS known (budget, version, seal)
                LEFT JOIN queryables_budgets AS kept USING (budget)
            WHERE kept.version IS DISTINCT FROM known.version
                OR right(kept.state::text, 10) IS DISTINCT FROM known.seal
        ) RETURNING next
    ), outcomes AS (
        UPDATE queryables_entries SET outcome = done.outcome::json
        FROM unnest($11::bigint[], $12::text[]) AS done (sequence, outcome), same
        WHERE queryables_entries.sequence = done.sequence AND queryables_entries.outcome IS NULL
    ), ",
    ", same"
);

/// The same for one charge of one budget, with one outcome or none: lists take longer than all the rest.
pub(crate) const WRITE_ONE: &str = "
    WITH same AS (
        UPDATE queryables_about SET next = $7::bigint
        WHERE next = $8::bigint AND set_config('synchronous_commit', 'on', true) = 'on'
        AND ($10::text IS NULL OR $10::text = (
            SELECT right(line::text, 10) FROM queryables_entries WHERE sequence = $9::bigint
        )) AND (
            SELECT version = $13::bigint AND right(state::text, 10) = $14::text
            FROM queryables_budgets WHERE budget = $4::text
        ) RETURNING next
    ), outcomes AS (
        UPDATE queryables_entries SET outcome = $12::text::json FROM same
        WHERE sequence = $11::bigint AND outcome IS NULL
    ), budgets AS (
        UPDATE queryables_budgets SET version = $5::bigint, state = $6::text::json FROM same
        WHERE budget = $4::text
    )
    INSERT INTO queryables_entries (sequence, line, amounts)
    SELECT $1::bigint, $2::text::json, $3::text::json FROM same
";

/// Writes a refusal ($1, $2, $3) in the place of the one before.
pub(crate) const REPLACE: &str = "
    UPDATE queryables_entries SET line = $2::text::json, amounts = $3::text::json WHERE sequence = $1
";

/// Outcomes ($1, $2), where there are none: the first one stays. If they need not survive, they need not wait
/// for the disk ($3).
pub(crate) const FINISH: &str = "
    WITH waits AS MATERIALIZED (SELECT set_config('synchronous_commit', $3, true))
    UPDATE queryables_entries SET outcome = done.outcome::json
    FROM waits, unnest($1::bigint[], $2::text[]) AS done (sequence, outcome)
    WHERE queryables_entries.sequence = done.sequence AND queryables_entries.outcome IS NULL
";

/// The states of budgets ($2) that are not those with these versions ($3) and checksums ($4); of the
/// others the version alone. The counter and the checksum of an entry ($1), as in `LOCK`, and the changes
/// since the counters ($5, $6), as in `CHANGES`: one statement, and so one moment.
pub(crate) const NEWER: &str = concat!(
    "
    SELECT about.next,
        (SELECT right(line::text, 10) FROM queryables_entries WHERE sequence = $1),
        known.place, kept.version,
        CASE WHEN kept.version <> known.version OR right(kept.state::text, 10) <> known.seal
             THEN kept.state::text END, ",
    changes!("$6"),
    "
    FROM queryables_about AS about,
        unnest($2::text[], $3::bigint[], $4::text[], $5::bigint[]) WITH ORDINALITY
            AS known (budget, version, seal, counter, place)
        LEFT JOIN queryables_budgets AS kept USING (budget)
"
);

/// Every budget, or one ($2), with the number of admitted entries from $1 on that have changed it. One
/// statement, and so one moment, whatever others launch meanwhile.
///
/// It also says how far the entries reach, which of them is the last that was admitted, and the first
/// whose key does not lead to it.
pub(crate) const CHARGED: &str = "
    WITH later AS MATERIALIZED (
        SELECT sequence, filter, quotas, key FROM queryables_entries,
            json_to_record(line) AS entry (decision text, filter text, quotas json, key text)
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
        SELECT min(sequence) AS sequence FROM later
        WHERE key IS NOT NULL AND NOT EXISTS (
            SELECT FROM queryables_keys AS known
            WHERE known.key = later.key AND known.sequence = later.sequence
        )
    ), last AS (
        SELECT sequence, right(line::text, 10) AS seal FROM queryables_entries
        WHERE sequence = (SELECT max(sequence) FROM later)
    )
    SELECT about.next, (SELECT max(sequence) FROM queryables_entries), lost.sequence,
        last.sequence, last.seal,
        budget, coalesce(times, 0), kept.version, kept.state::text, kept.terms::text,
        (kept.state->>'halt') IS NOT NULL,
        CASE WHEN kept.terms->>'filter' IS NOT NULL THEN kept.state->>'launched' END
    FROM queryables_about AS about CROSS JOIN lost LEFT JOIN last ON true
        LEFT JOIN (kept FULL JOIN charged USING (budget)) ON true
";

/// Sent as one request, so it is one transaction. Of two that make the tables at once, the second waits
/// for the first and then finds them.
///
/// Names are unique by their hash values, as an index of a tree would not take long ones.
pub(crate) const SCHEMA: &str = "
    SELECT pg_advisory_xact_lock(7205759403792793);
    CREATE TABLE queryables_about (
        one boolean PRIMARY KEY DEFAULT true CHECK (one),
        version integer NOT NULL,
        dataset text,
        next bigint NOT NULL
    );
    INSERT INTO queryables_about (version, next) VALUES (1, 1);
    CREATE TABLE queryables_budgets (
        budget text NOT NULL,
        terms json NOT NULL,
        version bigint NOT NULL,
        state json NOT NULL,
        EXCLUDE USING hash (budget WITH =)
    );
    CREATE TABLE queryables_entries (
        sequence bigint PRIMARY KEY,
        line json NOT NULL,
        outcome json,
        amounts json
    );
    CREATE VIEW queryables_amounts AS
        SELECT sequence, name, amount::numeric AS amount
        FROM queryables_entries, json_each_text(amounts) AS each (name, amount);
    CREATE TABLE queryables_keys (
        key text NOT NULL,
        sequence bigint NOT NULL REFERENCES queryables_entries,
        EXCLUDE USING hash (key WITH =)
    );
";
