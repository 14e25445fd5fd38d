//! Days of the Gregorian calendar, the local zone, and `strftime`.
//!
//! Days are counted with Hinnant's algorithms (chrono-compatible low-level date algorithms, 2013). The
//! zone comes from the system's zone file (RFC 8536); without one, local time is UTC.

use std::sync::OnceLock;

/// A time as a calendar and a clock tell it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    pub year: i64,
    /// From 1.
    pub month: i64,
    /// From 1.
    pub day: i64,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
    /// Monday is 0.
    pub weekday: i64,
    /// From 1.
    pub year_day: i64,
    pub is_dst: bool,
    /// Seconds east of Greenwich.
    pub offset: i64,
}

/// About the year 99999: no moment lies further from the epoch.
pub const MOST_SECONDS: i64 = 3_000_000_000_000;

pub const ASCTIME: &str = "%a %b %e %H:%M:%S %Y";

const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Days since 1970-01-01 of a date.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March here, so that the leap day is the last one.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Year, month and day.
fn date_of(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + (month <= 2) as i64, month, day)
}

/// The moment so many seconds after the epoch, in UTC.
pub fn utc(seconds: i64) -> Moment {
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = date_of(days);
    Moment {
        year,
        month,
        day,
        hour: rest / 3600,
        minute: rest / 60 % 60,
        second: rest % 60,
        weekday: (days + 3).rem_euclid(7),
        year_day: days - days_of(year, 1, 1) + 1,
        is_dst: false,
        offset: 0,
    }
}

/// The moment in the local zone.
pub fn local(seconds: i64) -> Moment {
    let span = zone().at(seconds);
    Moment { is_dst: span.is_dst, offset: span.offset, ..utc(seconds + span.offset) }
}

/// Seconds since the epoch of a moment of the local zone.
pub fn from_local(moment: &Moment) -> i64 {
    let days = days_of(moment.year, moment.month, moment.day);
    let clock = days * 86_400 + moment.hour * 3600 + moment.minute * 60 + moment.second;
    // The offset depends on the result: two rounds settle it.
    let guess = clock - zone().at(clock).offset;
    clock - zone().at(guess).offset
}

/// What holds in a zone from one moment on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Span {
    offset: i64,
    is_dst: bool,
}

/// A zone: what held first, and the changes since.
#[derive(Debug, Default)]
struct Zone {
    first: Span,
    changes: Vec<(i64, Span)>,
}

impl Zone {
    fn at(&self, seconds: i64) -> Span {
        let n_before = self.changes.partition_point(|(from, _)| *from <= seconds);
        n_before.checked_sub(1).map_or(self.first, |last| self.changes[last].1)
    }

    /// Reads a zone file; `None` when it is not one.
    fn parse(bytes: &[u8]) -> Option<Zone> {
        let (header, body) = Header::parse(bytes)?;
        let version = *bytes.get(4)?;
        if version == 0 {
            return header.zone(body, 4);
        }
        // Behind the block of 32-bit times stands one of 64-bit times.
        let (header, body) = Header::parse(body.get(header.len(4)..)?)?;
        header.zone(body, 8)
    }
}

/// The counts at the start of a block.
struct Header {
    n_changes: usize,
    n_spans: usize,
    n_name_bytes: usize,
    n_leaps: usize,
    n_flags: usize,
}

impl Header {
    fn parse(bytes: &[u8]) -> Option<(Header, &[u8])> {
        if !bytes.starts_with(b"TZif") {
            return None;
        }
        let counts: Vec<usize> = bytes
            .get(20..44)?
            .as_chunks::<4>()
            .0
            .iter()
            .map(|&word| u32::from_be_bytes(word) as usize)
            .collect();
        let [n_utc, n_standard, n_leaps, n_changes, n_spans, n_name_bytes] = counts[..] else { return None };
        Some((
            Header { n_changes, n_spans, n_name_bytes, n_leaps, n_flags: n_utc + n_standard },
            &bytes[44..],
        ))
    }

    /// Bytes of the block that follows, with times of so many bytes.
    fn len(&self, n_time_bytes: usize) -> usize {
        self.n_changes * (n_time_bytes + 1)
            + self.n_spans * 6
            + self.n_name_bytes
            + self.n_leaps * (n_time_bytes + 4)
            + self.n_flags
    }

    fn zone(&self, body: &[u8], n_time_bytes: usize) -> Option<Zone> {
        let (times, rest) = body.split_at_checked(self.n_changes * n_time_bytes)?;
        let (which, rest) = rest.split_at_checked(self.n_changes)?;
        let spans: Vec<Span> = rest
            .get(..self.n_spans * 6)?
            .chunks_exact(6)
            .map(|span| Span {
                offset: i32::from_be_bytes([span[0], span[1], span[2], span[3]]) as i64,
                is_dst: span[4] != 0,
            })
            .collect();
        let time_of = |bytes: &[u8]| {
            let fill = if bytes[0] & 0x80 == 0 { 0_i64 } else { -1 };
            bytes.iter().fold(fill, |time, &byte| time << 8 | byte as i64)
        };
        let mut changes = Vec::with_capacity(self.n_changes);
        for (time, &which) in times.chunks_exact(n_time_bytes).zip(which) {
            changes.push((time_of(time), *spans.get(which as usize)?));
        }
        Some(Zone { first: spans.iter().find(|span| !span.is_dst).copied().unwrap_or_default(), changes })
    }
}

/// The local zone: `TZ` names a file of the zone folder, else the system says.
fn zone() -> &'static Zone {
    static ZONE: OnceLock<Zone> = OnceLock::new();
    ZONE.get_or_init(|| {
        let named = std::env::var("TZ").ok().map(|name| name.trim_start_matches(':').to_owned());
        let file = match named.as_deref() {
            Some("" | "UTC" | "GMT") => return Zone::default(),
            Some(path) if path.starts_with('/') => path.to_owned(),
            Some(name) => format!("/usr/share/zoneinfo/{name}"),
            None => "/etc/localtime".to_owned(),
        };
        std::fs::read(file).ok().and_then(|bytes| Zone::parse(&bytes)).unwrap_or_default()
    })
}

/// `strftime`; a directive that it does not know stays as it is.
pub fn format(moment: &Moment, template: &str) -> String {
    let mut out = String::new();
    let mut chars = template.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some(letter) => match directive(moment, letter) {
                Some(text) => out.push_str(&text),
                None => out.extend(['%', letter]),
            },
            None => out.push('%'),
        }
    }
    out
}

fn directive(moment: &Moment, letter: char) -> Option<String> {
    let weekday = WEEKDAYS[moment.weekday as usize];
    let month = MONTHS[moment.month as usize - 1];
    let hour12 = (moment.hour + 11) % 12 + 1;
    Some(match letter {
        'Y' => moment.year.to_string(),
        'C' => format!("{:02}", moment.year.div_euclid(100)),
        'y' => format!("{:02}", moment.year.rem_euclid(100)),
        'm' => format!("{:02}", moment.month),
        'd' => format!("{:02}", moment.day),
        'e' => format!("{:2}", moment.day),
        'H' => format!("{:02}", moment.hour),
        'I' => format!("{hour12:02}"),
        'M' => format!("{:02}", moment.minute),
        'S' => format!("{:02}", moment.second),
        'f' => "000000".to_owned(),
        'j' => format!("{:03}", moment.year_day),
        'p' => if moment.hour < 12 { "AM" } else { "PM" }.to_owned(),
        'a' => weekday[..3].to_owned(),
        'A' => weekday.to_owned(),
        'b' | 'h' => month[..3].to_owned(),
        'B' => month.to_owned(),
        'w' => ((moment.weekday + 1) % 7).to_string(),
        'u' => (moment.weekday + 1).to_string(),
        'U' => format!("{:02}", (moment.year_day + 6 - (moment.weekday + 1) % 7) / 7),
        'W' => format!("{:02}", (moment.year_day + 6 - moment.weekday) / 7),
        'G' => iso_week(moment).0.to_string(),
        'V' => format!("{:02}", iso_week(moment).1),
        'z' => {
            let sign = if moment.offset < 0 { '-' } else { '+' };
            let minutes = moment.offset.abs() / 60;
            format!("{sign}{:02}{:02}", minutes / 60, minutes % 60)
        }
        'Z' => if moment.offset == 0 { "UTC" } else { "" }.to_owned(),
        's' => from_local(moment).to_string(),
        'n' => "\n".to_owned(),
        't' => "\t".to_owned(),
        '%' => "%".to_owned(),
        'c' => format(moment, ASCTIME),
        'x' | 'D' => format(moment, "%m/%d/%y"),
        'X' | 'T' => format(moment, "%H:%M:%S"),
        'F' => format(moment, "%Y-%m-%d"),
        'R' => format(moment, "%H:%M"),
        'r' => format(moment, "%I:%M:%S %p"),
        _ => return None,
    })
}

/// The year and the week of ISO 8601: week 1 holds the first Thursday.
fn iso_week(moment: &Moment) -> (i64, i64) {
    let days = days_of(moment.year, moment.month, moment.day);
    let thursday = days - moment.weekday + 3;
    let (year, ..) = date_of(thursday);
    (year, (thursday - days_of(year, 1, 1)) / 7 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written() {
        fn check(seconds: i64, expect: &str) {
            assert_eq!(format(&utc(seconds), "%Y-%m-%d %H:%M:%S %a %j %U %W %G-W%V %I%p"), expect);
        }
        check(0, "1970-01-01 00:00:00 Thu 001 00 00 1970-W01 12AM");
        check(951_782_400, "2000-02-29 00:00:00 Tue 060 09 09 2000-W09 12AM");
        check(-1, "1969-12-31 23:59:59 Wed 365 52 52 1970-W01 11PM");
        check(1_735_689_599, "2024-12-31 23:59:59 Tue 366 52 53 2025-W01 11PM");
    }

    #[test]
    fn zones_change_when_their_file_says() {
        let mut file = b"TZif2".to_vec();
        file.extend([0; 15]);
        file.extend([0; 24]);
        file.extend(b"TZif2");
        file.extend([0; 15]);
        file.extend([0_u32, 0, 0, 1, 2, 4].iter().flat_map(|count| count.to_be_bytes()));
        file.extend(1000_i64.to_be_bytes());
        file.push(1);
        for (offset, is_dst) in [(3600_i32, 0), (7200, 1)] {
            file.extend(offset.to_be_bytes());
            file.extend([is_dst, 0]);
        }
        file.extend(b"CET\0");
        let zone = Zone::parse(&file).expect("this is a zone file");
        let check = |seconds: i64, offset: i64, is_dst: bool| {
            assert_eq!(zone.at(seconds), Span { offset, is_dst });
        };
        check(999, 3600, false);
        check(1000, 7200, true);
        assert!(Zone::parse(&file[..60]).is_none());
    }
}
