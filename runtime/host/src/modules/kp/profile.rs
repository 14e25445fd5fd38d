//! `Manager.profile()`: the times that the device measured, in a row for each kernel.

use std::time::Duration;

use kps_compute::Profile;
use kps_compute::observe::{Row, RowKind};

use super::errors::compute;
use super::memory::with_unit;
use crate::modules::struct_seq::StructSeq;
use crate::value::{Args, ExceptionKind, Native, NativeDef, NativeType, Raise, Result, Value};
use crate::vm::Vm;

pub static PROFILE: NativeType = NativeType {
    methods: &[
        NativeDef::method("start", start).doc("()", "Begins to measure, and returns the profile."),
        NativeDef::method("stop", stop)
            .doc("()", "Ends measuring, and waits for what was measured; returns the profile."),
        NativeDef::method("rows", rows).doc(
            "()",
            "Returns a row for each kernel, the longest total first: its name, count, total and median in seconds, \
             nbytes, gb_per_s, and share of the device's peak.",
        ),
        NativeDef::method("__enter__", start),
        NativeDef::method("__exit__", exit),
    ],
    ..NativeType::new("Profile", "kp").doc(
        "",
        "What a manager ran between `start` and `stop`, as the device timed it; prints as a table. \
         `Manager.profile` makes one.",
    )
};

static ROW: NativeType = NativeType::new("ProfileRow", "kp");

const FIELDS: &[&str] = &["name", "count", "total", "median", "nbytes", "gb_per_s", "share"];

pub struct ScriptProfile {
    profile: Profile,
}

impl ScriptProfile {
    pub fn value(profile: Profile) -> Value {
        Value::native(ScriptProfile { profile })
    }

    /// The values of a row; what could not be measured is None.
    fn row(&self, row: &Row) -> Value {
        let seconds = |time: Option<Duration>| time.map_or(Value::None, |time| time.as_secs_f64().into());
        let rate = row.bytes_per_second();
        let items = vec![
            Value::str(name(row).to_owned()),
            row.count.into(),
            seconds(row.total),
            seconds(row.median),
            row.bytes_read.saturating_add(row.bytes_written).into(),
            rate.map_or(Value::None, |rate| (rate * 1e-9).into()),
            row.share(self.profile.peak()).map_or(Value::None, Into::into),
        ];
        StructSeq::value(&ROW, FIELDS, items)
    }

    fn all(&self) -> Vec<Value> {
        self.profile.rows().iter().map(|row| self.row(row)).collect()
    }
}

/// The name of a kernel; that of copies is none that a kernel can have.
fn name(row: &Row) -> &str {
    match row.kind {
        RowKind::Kernel => &row.name,
        RowKind::Copy => "(copies)",
        RowKind::Upload => "(uploads)",
        RowKind::Download => "(downloads)",
    }
}

fn start(_: &mut Vm, args: &Args) -> Result {
    args.this::<ScriptProfile>()?.profile.start().map_err(compute)?;
    Ok(args.receiver()?.clone())
}

fn stop(_: &mut Vm, args: &Args) -> Result {
    args.this::<ScriptProfile>()?.profile.stop();
    Ok(args.receiver()?.clone())
}

fn exit(_: &mut Vm, args: &Args) -> Result {
    args.this::<ScriptProfile>()?.profile.stop();
    Ok(Value::None)
}

fn rows(_: &mut Vm, args: &Args) -> Result {
    Ok(Value::list(args.this::<ScriptProfile>()?.all()))
}

impl Native for ScriptProfile {
    fn native_type(&self) -> &'static NativeType {
        &PROFILE
    }

    fn len(&self, _: &mut Vm) -> Result<Option<usize>> {
        Ok(Some(self.profile.rows().len()))
    }

    /// A profile is true, even before it has rows.
    fn truth(&self, _: &mut Vm) -> Result<bool> {
        Ok(true)
    }

    fn iter(&self, _: &Value, vm: &mut Vm) -> Result<Option<Value>> {
        vm.iter(&Value::list(self.all())).map(Some)
    }

    fn contains(&self, _: &Value, _: &mut Vm, item: &Value) -> Result<Option<bool>> {
        let rows = self.profile.rows();
        Ok(Some(item.as_str().is_some_and(|wanted| rows.iter().any(|row| name(row) == wanted))))
    }

    /// The row of a name.
    fn get_item(&self, _: &Value, vm: &mut Vm, index: &Value) -> Result<Option<Value>> {
        let rows = self.profile.rows();
        let found = index.as_str().and_then(|wanted| rows.iter().find(|row| name(row) == wanted));
        match found {
            Some(row) => Ok(Some(self.row(row))),
            None => {
                let known: Vec<&str> = rows.iter().map(name).collect();
                let message = format!("nothing named {} was measured", vm.repr(index)?);
                let raise = Raise::new(ExceptionKind::KeyError, message);
                Err(match known.is_empty() {
                    true => {
                        raise.help("the profile has no rows: launch kernels between its start and its stop")
                    }
                    false => raise.help(format!("there are {}", known.join(", "))),
                })
            }
        }
    }

    fn repr(&self, _: &Value, _: &mut Vm) -> Result<String> {
        let rows = self.profile.rows();
        if rows.is_empty() {
            return Ok("profile: nothing ran".to_owned());
        }
        let peak = self.profile.peak();
        let mut table = vec![TITLES.map(str::to_owned)];
        table.extend(rows.iter().map(|row| cells(row, peak)));
        let width = |column: usize| table.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: [usize; N_COLUMNS] = std::array::from_fn(width);
        let line = |row: &[String; N_COLUMNS]| {
            let numbers = row.iter().zip(widths).skip(1).map(|(cell, width)| format!("{cell:>width$}"));
            let cells: Vec<String> =
                std::iter::once(format!("{:width$}", row[0], width = widths[0])).chain(numbers).collect();
            cells.join("  ")
        };
        let mut lines: Vec<String> = table.iter().map(line).collect();
        if let Some(peak) = peak {
            lines.push(format!("peak: {:.1} GB/s, as measured on this device", peak * 1e-9));
        }
        Ok(lines.join("\n"))
    }
}

const N_COLUMNS: usize = 7;
const TITLES: [&str; N_COLUMNS] = ["kernel", "count", "total", "median", "bytes", "GB/s", "of peak"];

fn cells(row: &Row, peak: Option<f64>) -> [String; N_COLUMNS] {
    let none = || "-".to_owned();
    let time = |time: Option<Duration>| time.map_or_else(none, time_with_unit);
    let rate = row.bytes_per_second();
    [
        name(row).to_owned(),
        row.count.to_string(),
        time(row.total),
        time(row.median),
        with_unit(row.bytes_read.saturating_add(row.bytes_written)),
        rate.map_or_else(none, |rate| format!("{:.1}", rate * 1e-9)),
        row.share(peak).map_or_else(none, |share| format!("{:.0}%", 100.0 * share)),
    ]
}

fn time_with_unit(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        1.0.. => format!("{seconds:.2} s"),
        1e-3.. => format!("{:.2} ms", seconds * 1e3),
        _ => format!("{:.2} us", seconds * 1e6),
    }
}
