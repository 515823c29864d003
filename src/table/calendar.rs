//! Days and moments as texts: `2024-01-31`, and `2024-01-31 12:00:00` in UTC.
//!
//! Days are counted in the proleptic Gregorian calendar, from the year 1 to the year 9999, as SQL does.

/// 0001-01-01, in days since 1970-01-01.
pub(super) const FIRST_DAY: i32 = -719_162;
/// 9999-12-31.
pub(super) const LAST_DAY: i32 = 2_932_896;

const MICROSECONDS_OF_A_SECOND: i64 = 1_000_000;
pub(super) const MICROSECONDS_OF_A_DAY: i64 = 86_400 * MICROSECONDS_OF_A_SECOND;

/// Years are counted from March here, so that a leap day is the last of its year. The calendar repeats
/// after 400 years, which are 146 097 days; from 0000-03-01 to 1970-01-01 there are 719 468.
const DAYS_OF_400_YEARS: i64 = 146_097;
const DAYS_BEFORE_1970: i64 = 719_468;

/// Days since 1970-01-01; none if there is no such day.
fn days(year: i64, month: i64, day: i64) -> Option<i32> {
    let from_march = (month + 9) % 12;
    let year_of_march = year - i64::from(month <= 2);
    let (period, year_of_period) = (year_of_march.div_euclid(400), year_of_march.rem_euclid(400));
    // Months from March have 31, 30, 31, 30, 31 days, again and again: 153 in five months.
    let day_of_year = (153 * from_march + 2) / 5 + day - 1;
    let day_of_period =
        365 * year_of_period + year_of_period / 4 - year_of_period / 100 + day_of_year;
    let days = period * DAYS_OF_400_YEARS + day_of_period - DAYS_BEFORE_1970;
    // The 31st of April would be the first of May.
    let exists = civil(days) == (year, month, day);
    let days = i32::try_from(days).ok()?;
    (exists && (FIRST_DAY..=LAST_DAY).contains(&days)).then_some(days)
}

/// Year, month and day.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + DAYS_BEFORE_1970;
    let (period, day) = (
        days.div_euclid(DAYS_OF_400_YEARS),
        days.rem_euclid(DAYS_OF_400_YEARS),
    );
    // Without the leap days before it, each year has 365 days.
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12 + 1;
    (
        period * 400 + year + i64::from(month <= 2),
        month,
        day_of_month,
    )
}

/// `2024-01-31`.
pub(super) fn date_text(days: i32) -> String {
    let (year, month, day) = civil(days.into());
    format!("{year:04}-{month:02}-{day:02}")
}

/// `2024-01-31 12:00:00`, and up to six digits after a point if there is a fraction.
pub(super) fn time_text(microseconds: i64) -> String {
    let (year, month, day) = civil(microseconds.div_euclid(MICROSECONDS_OF_A_DAY));
    let rest = microseconds.rem_euclid(MICROSECONDS_OF_A_DAY);
    let (seconds, fraction) = (
        rest / MICROSECONDS_OF_A_SECOND,
        rest % MICROSECONDS_OF_A_SECOND,
    );
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let whole = format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}");
    if fraction == 0 {
        whole
    } else {
        format!("{whole}.{fraction:06}")
            .trim_end_matches('0')
            .to_owned()
    }
}

/// Days since 1970-01-01 of `2024-01-31`.
pub(super) fn read_date(text: &str) -> Option<i32> {
    let (year, rest) = digits(text, 4)?;
    let (month, rest) = digits(rest.strip_prefix('-')?, 2)?;
    let (day, rest) = digits(rest.strip_prefix('-')?, 2)?;
    let in_range = (1..=12).contains(&month) && (1..=31).contains(&day);
    (rest.is_empty() && in_range).then(|| days(year, month, day))?
}

/// Microseconds since 1970-01-01 of `2024-01-31 12:00:00`, or of `2024-01-31T12:00:00.5Z`.
pub(super) fn read_time(text: &str) -> Option<i64> {
    let (date, rest) = text.split_at_checked(10)?;
    let days = read_date(date)?;
    let (hour, rest) = digits(rest.strip_prefix([' ', 'T'])?, 2)?;
    let (minute, rest) = digits(rest.strip_prefix(':')?, 2)?;
    let (second, rest) = digits(rest.strip_prefix(':')?, 2)?;
    let rest = rest.strip_suffix('Z').unwrap_or(rest);
    let fraction = match rest.strip_prefix('.') {
        None if rest.is_empty() => 0,
        None => return None,
        Some(fraction) => {
            let (number, rest) = digits(fraction, fraction.len())?;
            let missing = 6_u32.checked_sub(u32::try_from(fraction.len()).ok()?)?;
            (rest.is_empty() && !fraction.is_empty()).then(|| number * 10_i64.pow(missing))?
        }
    };
    let in_range = hour < 24 && minute < 60 && second < 60;
    let seconds = (hour * 60 + minute) * 60 + second;
    let of_day = seconds * MICROSECONDS_OF_A_SECOND + fraction;
    in_range.then(|| i64::from(days) * MICROSECONDS_OF_A_DAY + of_day)
}

/// The number that this many digits are, and what comes after them.
fn digits(text: &str, many: usize) -> Option<(i64, &str)> {
    let (digits, rest) = text.split_at_checked(many)?;
    let all = many <= 6 && digits.bytes().all(|byte| byte.is_ascii_digit());
    // A sign would be read as well.
    all.then(|| Some((digits.parse().ok()?, rest)))?
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A calendar that counts: one day after another.
    #[test]
    fn every_day_of_all_years_is_counted() {
        let mut expected = FIRST_DAY;
        for year in 1..=9999 {
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let february = if leap { 29 } else { 28 };
            for (month, last) in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
                .into_iter()
                .enumerate()
            {
                let month = i64::try_from(month).unwrap() + 1;
                for day in 1..=last {
                    assert_eq!(days(year, month, day), Some(expected));
                    assert_eq!(civil(expected.into()), (year, month, day));
                    expected += 1;
                }
                assert_eq!(days(year, month, last + 1), None);
            }
        }
        assert_eq!(expected, LAST_DAY + 1);
        assert_eq!(days(1970, 1, 1), Some(0));
    }

    #[test]
    fn a_date_is_read_as_it_is_written() {
        for days in [FIRST_DAY, -1, 0, 19_753, LAST_DAY] {
            assert_eq!(read_date(&date_text(days)), Some(days));
        }
        assert_eq!(date_text(19_753), "2024-01-31");
        for wrong in [
            "",
            "2024-1-31",
            "2024-01-32",
            "2023-02-29",
            "2024-00-10",
            "0000-01-01",
            "+024-01-31",
            "2024-01-31 ",
            "20240131",
            "2024-01-3é",
            "12024-01-31",
            "2024/01/31",
        ] {
            assert_eq!(read_date(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_time_is_read_as_it_is_written() {
        let first = i64::from(FIRST_DAY) * MICROSECONDS_OF_A_DAY;
        let last = (i64::from(LAST_DAY) + 1) * MICROSECONDS_OF_A_DAY - 1;
        for time in [first, -1, 0, 1, 1_500_000, 1_706_702_400_000_000, last] {
            assert_eq!(read_time(&time_text(time)), Some(time));
        }
        assert_eq!(time_text(1_500_000), "1970-01-01 00:00:01.5");
        assert_eq!(time_text(-1), "1969-12-31 23:59:59.999999");
        let noon = read_time("2024-01-31 12:00:00");
        assert_eq!(noon, Some(1_706_702_400_000_000));
        for same in [
            "2024-01-31T12:00:00",
            "2024-01-31T12:00:00Z",
            "2024-01-31 12:00:00.000Z",
        ] {
            assert_eq!(read_time(same), noon, "{same}");
        }
        for wrong in [
            "",
            "2024-01-31",
            "2024-01-31 24:00:00",
            "2024-01-31 12:60:00",
            "2024-01-31 12:00:60",
            "2024-01-31 12:00",
            "2024-01-31 12:00:00.",
            "2024-01-31 12:00:00.1234567",
            "2024-01-31 12:00:00+01:00",
            "2024-01-31 12:00:00ZZ",
            "2024-01-31 12:00:00.Z",
            "2024-01-31 12:00:00,5",
            "2024-01-3é 12:00:00",
        ] {
            assert_eq!(read_time(wrong), None, "{wrong}");
        }
    }
}
