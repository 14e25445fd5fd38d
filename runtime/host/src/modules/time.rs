//! The module `time`: clocks, sleep, and calendar times. `calendar.rs` computes days and zones.

use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::calendar::{self, Moment};
use super::struct_seq::StructSeq;
use crate::builtins::float::to_f64;
use crate::builtins::support::{given, str_arg};
use crate::errors;
use crate::value::{Args, Module, NativeDef, NativeModule, NativeType, Result, Value};
use crate::vm::Vm;

pub static MODULE: NativeModule = NativeModule {
    functions: FUNCTIONS,
    init: Some(init),
    ..NativeModule::new("time").doc("Clocks, waiting, and dates.")
};

static FUNCTIONS: &[NativeDef] = &[
    NativeDef::function("time", |_, _| Ok(Value::Float(since_epoch().as_secs_f64()))),
    NativeDef::function("time_ns", |_, _| Ok(nanoseconds(since_epoch()))),
    NativeDef::function("perf_counter", |_, _| Ok(Value::Float(since_start().as_secs_f64()))),
    NativeDef::function("perf_counter_ns", |_, _| Ok(nanoseconds(since_start()))),
    NativeDef::function("monotonic", |_, _| Ok(Value::Float(since_start().as_secs_f64()))),
    NativeDef::function("monotonic_ns", |_, _| Ok(nanoseconds(since_start()))),
    NativeDef::function("process_time", |_, _| Ok(Value::Float(since_start().as_secs_f64()))),
    NativeDef::function("process_time_ns", |_, _| Ok(nanoseconds(since_start()))),
    NativeDef::function("sleep", sleep),
    NativeDef::function("gmtime", gmtime),
    NativeDef::function("localtime", localtime),
    NativeDef::function("mktime", mktime),
    NativeDef::function("strftime", strftime),
    NativeDef::function("asctime", asctime),
    NativeDef::function("ctime", ctime),
];

static STRUCT_TIME: NativeType = NativeType::new("struct_time", "time");

const FIELDS: &[&str] =
    &["tm_year", "tm_mon", "tm_mday", "tm_hour", "tm_min", "tm_sec", "tm_wday", "tm_yday", "tm_isdst"];

/// The longest sleep between two looks at the interrupt flag.
const NAP: Duration = Duration::from_millis(20);

fn init(_: &mut Vm, module: &Module) -> Result<()> {
    let now = calendar::local(since_epoch().as_secs() as i64);
    module.set("timezone", -now.offset);
    Ok(())
}

fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

fn since_start() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

fn nanoseconds(duration: Duration) -> Value {
    Value::from(duration.as_nanos() as u64)
}

/// `sleep(seconds)`, in naps, so that an interrupt or a deadline ends it.
fn sleep(vm: &mut Vm, args: &Args) -> Result {
    let [seconds] = args.exactly("sleep")?;
    let seconds = to_f64(vm, seconds)?;
    if seconds < 0.0 {
        return Err(errors::value_error("sleep length must be non-negative"));
    }
    let Ok(length) = Duration::try_from_secs_f64(seconds) else {
        return Err(errors::overflow_error("timestamp too large to convert to C _PyTime_t"));
    };
    // Earlier output becomes visible meanwhile, and devices work.
    vm.flush()?;
    vm.start_collected();
    let start = Instant::now();
    while let Some(left) = length.checked_sub(start.elapsed())
        && !left.is_zero()
    {
        vm.poll_now()?;
        std::thread::sleep(left.min(NAP));
    }
    Ok(Value::None)
}

fn struct_time(moment: &Moment) -> Value {
    let fields = [
        moment.year,
        moment.month,
        moment.day,
        moment.hour,
        moment.minute,
        moment.second,
        moment.weekday,
        moment.year_day,
        moment.is_dst as i64,
    ];
    StructSeq::value(&STRUCT_TIME, FIELDS, fields.map(Value::Int).into())
}

/// Seconds since the epoch, now when they are left out.
fn seconds_arg(vm: &mut Vm, args: &Args, function: &'static str) -> Result<i64> {
    let mut parser = args.parser(function);
    let seconds = given(parser.optional_positional());
    parser.finish()?;
    let Some(seconds) = seconds else { return Ok(since_epoch().as_secs() as i64) };
    let seconds = to_f64(vm, seconds)?.floor();
    if seconds.abs() > calendar::MOST_SECONDS as f64 || seconds.is_nan() {
        return Err(errors::value_error("year is out of range"));
    }
    Ok(seconds as i64)
}

fn gmtime(vm: &mut Vm, args: &Args) -> Result {
    Ok(struct_time(&calendar::utc(seconds_arg(vm, args, "gmtime")?)))
}

fn localtime(vm: &mut Vm, args: &Args) -> Result {
    Ok(struct_time(&calendar::local(seconds_arg(vm, args, "localtime")?)))
}

/// The moment of a struct_time or of a tuple of nine ints.
fn moment_arg(vm: &mut Vm, value: Option<&Value>) -> Result<Moment> {
    let Some(value) = value else { return Ok(calendar::local(since_epoch().as_secs() as i64)) };
    let items = match (value.downcast::<StructSeq>(), value) {
        (Some(fields), _) => fields.items().to_vec(),
        (None, Value::Tuple(items)) => items.to_vec(),
        _ => return Err(errors::type_error("Tuple or struct_time argument required")),
    };
    if items.len() != FIELDS.len() {
        return Err(errors::type_error("time tuple must have exactly 9 items"));
    }
    let mut fields = [0; 9];
    for (place, item) in fields.iter_mut().zip(&items) {
        *place = vm.index(item)?;
    }
    let [year, month, day, hour, minute, second, weekday, year_day, dst] = fields;
    // As in CPython, 0 means the first month, day or day of the year.
    let (month, day, year_day) = (month.max(1), day.max(1), year_day.max(1));
    let checks = [
        ("month", (1..=12).contains(&month)),
        ("day of month", (1..=31).contains(&day)),
        ("hour", (0..=23).contains(&hour)),
        ("minute", (0..=59).contains(&minute)),
        ("seconds", (0..=61).contains(&second)),
        ("day of week", (0..=6).contains(&weekday)),
        ("day of year", (1..=366).contains(&year_day)),
        ("year", (-99_999..=99_999).contains(&year)),
    ];
    if let Some((name, _)) = checks.iter().find(|(_, holds)| !holds) {
        return Err(errors::value_error(format!("{name} out of range")));
    }
    let is_dst = dst > 0;
    Ok(Moment { year, month, day, hour, minute, second, weekday, year_day, is_dst, offset: 0, zone: "UTC" })
}

fn mktime(vm: &mut Vm, args: &Args) -> Result {
    let [moment] = args.exactly("mktime")?;
    let moment = moment_arg(vm, Some(moment))?;
    Ok(Value::Float(calendar::from_local(&moment) as f64))
}

fn strftime(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("strftime");
    let format = parser.positional("format")?;
    let moment = given(parser.optional_positional());
    parser.finish()?;
    let format = str_arg(format, "strftime", 1)?;
    let moment = moment_arg(vm, moment)?;
    Ok(Value::str(calendar::format(&moment, format)))
}

fn asctime(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("asctime");
    let moment = given(parser.optional_positional());
    parser.finish()?;
    let moment = moment_arg(vm, moment)?;
    Ok(Value::str(calendar::format(&moment, calendar::ASCTIME)))
}

fn ctime(vm: &mut Vm, args: &Args) -> Result {
    let moment = calendar::local(seconds_arg(vm, args, "ctime")?);
    Ok(Value::str(calendar::format(&moment, calendar::ASCTIME)))
}
