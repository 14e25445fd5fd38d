//! Where records go, and how they are written.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::Write;
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use super::registry::{WARNING, level_name};
use crate::text::percent::{Amount, Percent, Piece, format_int, format_str};
use crate::value::{Result, Value};
use crate::vm::Vm;

/// What `basicConfig` and `import kp` write.
pub const BASIC_FORMAT: &str = "%(levelname)s:%(name)s:%(message)s";

/// One message on its way.
#[derive(Clone)]
pub struct Record {
    pub logger: String,
    pub level: i64,
    pub message: String,
}

pub struct Handler {
    pub level: Cell<i64>,
    pub format: RefCell<String>,
    target: Target,
    /// Lines for an object of the script, which only the machine can write.
    waiting: RefCell<Vec<String>>,
}

pub enum Target {
    Stderr,
    File(RefCell<File>),
    /// An object with a method `write`.
    Object(Value),
    Nowhere,
}

impl Handler {
    pub fn new(target: Target) -> Handler {
        Handler {
            level: Cell::new(0),
            format: RefCell::new("%(message)s".to_owned()),
            target,
            waiting: RefCell::default(),
        }
    }

    /// To standard error, with level and name.
    pub fn basic() -> Handler {
        let handler = Handler::new(Target::Stderr);
        *handler.format.borrow_mut() = BASIC_FORMAT.to_owned();
        handler
    }

    /// What tells warnings where nobody set up anything.
    pub fn last_resort() -> Handler {
        let handler = Handler::new(Target::Stderr);
        handler.level.set(WARNING);
        handler
    }

    /// Writes the record; for an object of the script, at the next [`Handler::flush`].
    pub fn take(&self, record: &Record) {
        if record.level < self.level.get() {
            return;
        }
        let line = format_record(&self.format.borrow(), record) + "\n";
        // A log that cannot be written to must not stop the work that it tells of.
        let _ = match &self.target {
            Target::Stderr => std::io::stderr().write_all(line.as_bytes()),
            Target::File(file) => file.borrow_mut().write_all(line.as_bytes()),
            Target::Object(_) => {
                self.waiting.borrow_mut().push(line);
                Ok(())
            }
            Target::Nowhere => Ok(()),
        };
    }

    /// Writes what waits for the machine.
    pub fn flush(&self, vm: &mut Vm) -> Result<()> {
        let Target::Object(stream) = &self.target else { return Ok(()) };
        for line in self.waiting.take() {
            vm.call_method(stream, "write", &[Value::str(line)])?;
        }
        Ok(())
    }
}

/// A record as a `%`-style format says. A field that no record has stands as it was written.
fn format_record(format: &str, record: &Record) -> String {
    let mut line = String::new();
    for piece in Percent::new(format) {
        match piece {
            Ok(Piece::Text(text)) => line.push_str(text),
            Ok(Piece::Directive(directive)) => {
                let width = if let Amount::Given(width) = directive.width { width } else { 0 };
                let precision =
                    if let Amount::Given(precision) = directive.precision { Some(precision) } else { None };
                let key = directive.key.unwrap_or_default();
                let written = match (key, directive.conversion) {
                    ("", '%') => Ok("%".to_owned()),
                    ("levelno", 'd') => {
                        format_int(&record.level.into(), 'd', directive.flags, width, precision)
                    }
                    _ => match field(key, record) {
                        Some(text) => format_str(&text, directive.flags, width, precision),
                        None => Ok(format!("%({key}){}", directive.conversion)),
                    },
                };
                line.push_str(&written.unwrap_or_default());
            }
            Err(_) => return record.message.clone(),
        }
    }
    line
}

fn field(name: &str, record: &Record) -> Option<String> {
    Some(match name {
        "message" => record.message.clone(),
        "name" => record.logger.clone(),
        "levelname" => level_name(record.level),
        "levelno" => record.level.to_string(),
        "asctime" => asctime(SystemTime::now()),
        _ => return None,
    })
}

/// `2026-11-21 13:45:10,042`, in UTC.
fn asctime(now: SystemTime) -> String {
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, seconds) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = civil_date(days as i64);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let millis = since.subsec_millis();
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02},{millis:03}")
}

/// Year, month and day of a day counted from 1970-01-01 (Howard Hinnant's `civil_from_days`).
fn civil_date(days: i64) -> (i64, i64, i64) {
    let from_march = days + 719_468;
    let era = from_march.div_euclid(146_097);
    let day_of_era = from_march.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

pub type SharedHandler = Rc<Handler>;

#[cfg(test)]
mod tests {
    use super::*;

    fn check(format: &str, expect: &str) {
        let record = Record { logger: "kp".to_owned(), level: 20, message: "hello".to_owned() };
        assert_eq!(format_record(format, &record), expect);
    }

    #[test]
    fn formats_are_percent_style() {
        check(BASIC_FORMAT, "INFO:kp:hello");
        check("[%(levelname)-8s] %(message).3s %%", "[INFO    ] hel %");
        check("%(levelno)d %(levelno)05d", "20 00020");
        check("%(lineno)d %(message)s", "%(lineno)d hello");
    }

    #[test]
    fn dates_are_civil() {
        assert_eq!(civil_date(0), (1970, 1, 1));
        assert_eq!(civil_date(11_016), (2000, 2, 29));
        assert_eq!(civil_date(20_778), (2026, 11, 21));
    }
}
