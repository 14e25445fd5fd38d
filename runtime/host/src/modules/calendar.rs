//! Moments in UTC and in the local zone, and `strftime`. The crate `tz` provides the calendar and the zones.

use std::sync::OnceLock;

use tz::{LocalTimeType, TimeZone, UtcDateTime};

/// A time as calendar and clock fields.
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
    /// The abbreviation of the zone's time.
    pub zone: &'static str,
}

/// Seconds of a day.
const DAY: i64 = 86_400;

/// About the year 99999: the greatest distance from the epoch.
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

/// Seconds since the epoch at the start of a date, in UTC. A day past the end of its month is in the next
/// one.
fn midnight(year: i64, month: i64, day: i64) -> i64 {
    let first =
        UtcDateTime::new(year as i32, month as u8, 1, 0, 0, 0, 0).expect("years are few, months are 1 to 12");
    first.unix_time() + (day - 1) * DAY
}

/// The moment this many seconds after the epoch, in UTC.
pub fn utc(seconds: i64) -> Moment {
    let date = UtcDateTime::from_timespec(seconds, 0).expect("a moment is at most `MOST_SECONDS` away");
    Moment {
        year: date.year().into(),
        month: date.month().into(),
        day: date.month_day().into(),
        hour: date.hour().into(),
        minute: date.minute().into(),
        second: date.second().into(),
        // The crate's weeks begin on Sunday, its years with day 0.
        weekday: (i64::from(date.week_day()) + 6) % 7,
        year_day: i64::from(date.year_day()) + 1,
        is_dst: false,
        offset: 0,
        zone: "UTC",
    }
}

/// The moment in the local zone.
pub fn local(seconds: i64) -> Moment {
    let local = time_at(zone(), seconds);
    let offset = local.ut_offset().into();
    Moment { is_dst: local.is_dst(), offset, zone: local.time_zone_designation(), ..utc(seconds + offset) }
}

/// Seconds since the epoch of a moment of the local zone.
pub fn from_local(moment: &Moment) -> i64 {
    let days = midnight(moment.year, moment.month, moment.day);
    let clock = days + moment.hour * 3600 + moment.minute * 60 + moment.second;
    let offset_at = |seconds| i64::from(time_at(zone(), seconds).ut_offset());
    // The offset depends on the result: two iterations reach the fixpoint.
    clock - offset_at(clock - offset_at(clock))
}

/// The local time that a zone has at a moment.
fn time_at(zone: &TimeZone, seconds: i64) -> &LocalTimeType {
    // A zone without a rule stays in the state after its last transition.
    let last = || {
        let zone = zone.as_ref();
        let type_idx = zone.transitions().last().map_or(0, |last| last.local_time_type_index());
        &zone.local_time_types()[type_idx]
    };
    zone.find_local_time_type(seconds).unwrap_or_else(|_| last())
}

/// The zone that `TZ` names or describes, else that of the system. As in the C library, an unknown zone is UTC.
fn zone() -> &'static TimeZone {
    static ZONE: OnceLock<TimeZone> = OnceLock::new();
    ZONE.get_or_init(|| {
        let zone = match std::env::var("TZ") {
            Ok(name) => TimeZone::from_posix_tz(&name),
            Err(_) => TimeZone::local(),
        };
        zone.unwrap_or_else(|_| TimeZone::utc())
    })
}

/// `strftime`; an unknown directive is unchanged.
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
        'Z' => moment.zone.to_owned(),
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
    let monday = midnight(moment.year, moment.month, moment.day) - moment.weekday * DAY;
    let thursday = utc(monday + 3 * DAY);
    (thursday.year, (thursday.year_day - 1) / 7 + 1)
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
    fn zones_change_by_their_rule() {
        let zone = TimeZone::from_posix_tz("NZST-12NZDT,M9.5.0,M4.1.0/3").expect("this is a rule");
        let check = |seconds: i64, offset: i32, is_dst: bool| {
            let local = time_at(&zone, seconds);
            assert_eq!((local.ut_offset(), local.is_dst()), (offset, is_dst));
        };
        check(1_727_531_999, 43_200, false);
        check(1_727_532_000, 46_800, true);
        check(4_109_248_800, 46_800, true);
    }

    #[test]
    fn a_zone_without_a_rule_stays_as_its_last_transition_left_it() {
        let [first, last] =
            [0, 3600].map(|offset| LocalTimeType::with_ut_offset(offset).expect("it is small"));
        let transitions = vec![tz::timezone::Transition::new(1000, 1)];
        let zone = TimeZone::new(transitions, vec![first, last], vec![], None).expect("it has both types");
        assert_eq!(*time_at(&zone, 999), first);
        assert_eq!(*time_at(&zone, 1000), last);
    }
}
