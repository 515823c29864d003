//! Processes that are killed, disks that are full, files that cannot be written.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use ledger::{Seeded, admitted, created, fresh, pure};
use queryables::ledger::{Ledger, Line, Outcome, StoreError};
use queryables::prelude::*;

/// A process that spends, and what it says.
fn spender(path: &Path, threads: u64, first: u64) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spender"));
    command
        .arg(path)
        .args([threads.to_string(), first.to_string()]);
    command.stdout(Stdio::piped()).spawn().unwrap()
}

/// Everything it says, as long as somebody listens.
fn words(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    let out = child.stdout.take().unwrap();
    BufReader::new(out).lines().map_while(Result::ok)
}

fn number(word: &str, of: &str) -> Option<u64> {
    word.strip_prefix(of)?.parse().ok()
}

/// How often a process is killed, and after how many words at most.
const ROUNDS: u64 = 60;
const MOST_WORDS: u64 = 240;

/// Whatever was answered is in the record, once; whatever is in the record was asked for; and the
/// total is that of the record.
#[test]
fn no_kill_loses_a_launch_or_counts_one_twice() {
    let path = fresh("kill.redb");
    let mut random = Seeded(15);
    let (mut asked, mut got) = (HashSet::new(), HashSet::new());
    let (mut first, mut interrupted) = (0, 0);
    for round in 0..ROUNDS {
        let mut child = spender(&path, 1 + random.below(4), first);
        let last = random.below(MOST_WORDS);
        let mut heard = 0;
        for word in words(&mut child) {
            if let Some(number) = number(&word, "ask ") {
                asked.insert(number);
                first = first.max(number + 1);
            } else if let Some(number) = number(&word, "got ") {
                assert!(got.insert(number));
            } else {
                assert_eq!(word, "open", "round {round}");
            }
            heard += 1;
            if heard == last + 1 {
                // SIGKILL. What it has said until then is still heard.
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();

        let ledger = Ledger::open(&path, "numbers").unwrap();
        let filter = pure(&ledger, "census", "100");
        let lines = ledger.lines(1, usize::MAX).unwrap();
        let charged = admitted(&lines);
        let once: HashSet<u64> = charged.iter().copied().collect();
        assert_eq!(once.len(), charged.len(), "round {round}");
        assert!(
            got.is_subset(&once),
            "round {round}: an answer was not charged"
        );
        // A word may be cut off by the kill, but no launch begins before it is said.
        assert!(
            once.iter().all(|number| asked.contains(number)),
            "round {round}"
        );
        let thousandth: Epsilon = "0.001".parse().unwrap();
        let total = thousandth.checked_mul(charged.len() as u64).unwrap();
        assert_eq!(filter.privacy_loss(), Ok(total));
        assert_eq!(filter.launched(), Ok(charged.len() as u64));
        assert_eq!(filter.replay(), Ok(charged.len() as u64));
        let ended = |line: &&Line| matches!(line, Line::Outcome(done) if done.outcome == Outcome::Interrupted);
        interrupted = lines.iter().filter(ended).count();
    }
    println!(
        "{} launches, {} answers, {interrupted} interrupted",
        asked.len(),
        got.len()
    );
    // Otherwise no kill came at a bad moment.
    assert!(
        got.len() > 2000 && interrupted > 0,
        "{} {interrupted}",
        got.len()
    );
}

#[test]
fn two_processes_on_one_file_are_kept_apart() {
    let path = fresh("two.redb");
    let mut one = spender(&path, 1, 0);
    let mut spoken = words(&mut one);
    assert_eq!(spoken.next().as_deref(), Some("open"));
    let mut other = spender(&path, 1, 1_000_000);
    let refused: Vec<String> = words(&mut other).collect();
    assert_eq!(refused, ["not opened: another process has the ledger open"]);
    other.wait().unwrap();
    assert_eq!(
        Ledger::open(&path, "numbers").unwrap_err(),
        StoreError::InUse
    );
    one.kill().unwrap();
    one.wait().unwrap();
    drop(spoken);
    let ledger = Ledger::open(&path, "numbers").unwrap();
    assert!(
        admitted(&ledger.lines(1, usize::MAX).unwrap())
            .iter()
            .all(|number| *number < 1_000_000)
    );
}

/// The last words of a spender that a shell starts after `setup`.
fn last_words(setup: &str, path: &Path) -> Vec<String> {
    let script = format!("{setup}; exec \"$0\" \"$@\"");
    let mut command = Command::new("bash");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_spender")]);
    let output = command.arg(path).args(["1", "0"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_full_disk_is_an_error_and_nothing_is_released() {
    let path = created("full.redb", "numbers");
    drop(pure(
        &Ledger::open(&path, "numbers").unwrap(),
        "census",
        "100",
    ));
    // As if the disk were full a little beyond what the file has, in blocks of 1024 bytes.
    let blocks = std::fs::metadata(&path).unwrap().len() / 1024 + 8;
    let words = last_words(&format!("trap '' XFSZ; ulimit -f {blocks}"), &path);
    let last = words.last().unwrap();
    assert!(
        last.starts_with("error: the ledger cannot be written or read: "),
        "{last}"
    );
    assert!(last.contains("File too large"), "{last}");
    // The one before was asked and not got.
    let got: Vec<u64> = words
        .iter()
        .filter_map(|word| number(word, "got "))
        .collect();
    let asked: Vec<u64> = words
        .iter()
        .filter_map(|word| number(word, "ask "))
        .collect();
    assert!(!got.is_empty());
    assert_eq!(asked.len(), got.len() + 1);

    // With room again it goes on. The last one may have been charged.
    let ledger = Ledger::open(&path, "numbers").unwrap();
    let filter = pure(&ledger, "census", "100");
    let charged = admitted(&ledger.lines(1, usize::MAX).unwrap());
    assert!(charged == got || charged == asked, "{charged:?}");
    assert_eq!(filter.replay(), Ok(charged.len() as u64));
}

/// A number that was asked for, and what came of it.
fn next_turn(words: &mut impl Iterator<Item = String>) -> (u64, String) {
    let asked = number(&words.next().unwrap(), "ask ").unwrap();
    (asked, words.next().unwrap())
}

/// The process goes on where it was, without being started again, and nothing that it refused meanwhile is
/// charged: but for the launches that were waiting for the disk when it became full.
#[test]
fn a_disk_that_was_full_is_written_again_once_there_is_room() {
    let path = created("room.redb", "numbers");
    drop(pure(
        &Ledger::open(&path, "numbers").unwrap(),
        "census",
        "100",
    ));
    let blocks = std::fs::metadata(&path).unwrap().len() / 1024 + 8;
    // The limit of the process itself, which can be lifted.
    let script = format!("trap '' XFSZ; ulimit -S -f {blocks}; exec \"$0\" \"$@\"");
    let mut command = Command::new("bash");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_spender")]);
    command.arg(&path).args(["1", "0", "goes on"]);
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    let mut told = child.stdin.take().unwrap();
    let mut spoken = words(&mut child);
    assert_eq!(spoken.next().as_deref(), Some("open"));
    let full = |word: &str| {
        word.starts_with("error: the ledger cannot be written or read: ")
            && word.contains("File too large")
    };
    let mut got = Vec::new();
    let waiting = loop {
        let (asked, word) = next_turn(&mut spoken);
        match number(&word, "got ") {
            Some(number) => got.push(number),
            None => {
                assert!(full(&word), "{word}");
                break asked;
            }
        }
    };
    assert!(!got.is_empty());
    // Full for as long as it is.
    for _ in 0..5 {
        writeln!(told).unwrap();
        let (_, word) = next_turn(&mut spoken);
        assert!(full(&word), "{word}");
    }
    let lifted = Command::new("prlimit")
        .args(["--fsize=unlimited", "--pid", &child.id().to_string()])
        .status();
    assert!(lifted.unwrap().success());
    writeln!(told).unwrap();
    for _ in 0..20 {
        let (asked, word) = next_turn(&mut spoken);
        assert_eq!(number(&word, "got "), Some(asked), "{word}");
        got.push(asked);
    }
    child.kill().unwrap();
    for word in spoken {
        got.extend(number(&word, "got "));
    }
    child.wait().unwrap();

    let ledger = Ledger::open(&path, "numbers").unwrap();
    let filter = pure(&ledger, "census", "100");
    let mut charged = admitted(&ledger.lines(1, usize::MAX).unwrap());
    assert_eq!(filter.replay(), Ok(charged.len() as u64));
    // The last before the kill may not have been told.
    if charged.last() > got.last() {
        charged.pop();
    }
    charged.retain(|number| *number != waiting);
    assert_eq!(charged, got);
}

#[test]
fn a_file_that_cannot_be_written_is_not_opened() {
    let path = created("read only.redb", "numbers");
    drop(pure(
        &Ledger::open(&path, "numbers").unwrap(),
        "census",
        "100",
    ));
    let mut permissions = std::fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&path, permissions).unwrap();
    // Root may write everything, unless it gives that up.
    let setup = r#"if [ "$(id -u)" = 0 ]; then set -- --bounding-set=-dac_override "$0" "$@"; exec setpriv "$@"; fi"#;
    let words = last_words(setup, &path);
    let expected = "not opened: the ledger cannot be written or read: ";
    assert_eq!(words.len(), 1, "{words:?}");
    assert!(words[0].starts_with(expected), "{words:?}");
    assert!(words[0].contains("Permission denied"), "{words:?}");
}

#[test]
fn what_is_no_ledger_or_is_damaged_is_an_error() {
    let path = fresh("other.redb");
    std::fs::write(&path, "no ledger at all").unwrap();
    assert!(matches!(
        Ledger::open(&path, "numbers"),
        Err(StoreError::Unavailable(_) | StoreError::Damaged { .. })
    ));

    // A bit of what was written: found where it is read.
    let path = created("damaged.redb", "numbers");
    {
        let ledger = Ledger::open(&path, "numbers").unwrap();
        let filter = pure(&ledger, "census", "100");
        for number in 0..20 {
            filter
                .party("Ana")
                .release(&ledger::Numbered::new(number, "0.001"))
                .unwrap();
        }
    }
    let bytes = std::fs::read(&path).unwrap();
    let find = |text: &str| {
        let places = bytes.windows(text.len()).enumerate();
        let places = places.filter(|(_, window)| *window == text.as_bytes());
        places.map(|(place, _)| place).collect::<Vec<_>>()
    };
    // In every copy that is in the file, the current one included.
    let damage = |text: &str| {
        let mut bytes = bytes.clone();
        for place in find(text) {
            bytes[place + text.len() - 2] ^= 1;
        }
        std::fs::write(&path, bytes).unwrap();
        Ledger::open(&path, "numbers")
    };
    let entry = damage(r#""number","7""#);
    match entry {
        Ok(ledger) => assert!(matches!(
            ledger.lines(1, 100),
            Err(StoreError::Damaged { .. })
        )),
        Err(error) => assert!(matches!(error, StoreError::Damaged { .. }), "{error}"),
    }
    let state: Result<(), _> = damage(r#""counts":"0.02""#).and_then(|ledger| {
        let filter = Filter::concurrent(PureDp, "100".parse().unwrap());
        match ledger.start("census", &filter, &std::sync::Arc::new(())) {
            Err(queryables::ledger::LedgerError::Store(error)) => Err(error),
            other => panic!("{other:?}"),
        }
    });
    assert!(matches!(state.unwrap_err(), StoreError::Damaged { .. }));
}
