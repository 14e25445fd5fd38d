//! Reports a device's findings in a checked launch: a diagnostic for each kind of mistake, at the kernel's
//! line, below the calls that led to the launch.

mod lines;
mod remedy;

use std::path::Path;
use std::rc::Rc;

use kps_compute::Sequence;
use kps_device::findings::{Arithmetic, ArrayName, Beyond, Element, Int, Launch, Number, Part, SharedMemory};
use kps_device::{Access, Finding, FindingKind, Invocation, SourceLine};
use kps_syntax::diagnostic::Frame;
use kps_syntax::{Diagnostic, Location, Source};

use self::remedy::{barrier, remedy, remedy_of_ended};
use super::messages::Ran;
use super::shared::ScriptedManager;
use crate::checking::Mistake;
use crate::foreign;
use crate::modules::kernels::domain::{Domain, shape_text};
use crate::text;
use crate::vm::Vm;
use crate::vm::sources::{SHADER, is_shader_name};

/// Reports a manager's findings since the last call. Those of a sequence are below the statement that
/// recorded the launch.
pub fn report(vm: &mut Vm, manager: &ScriptedManager, ran: Ran) {
    let (sequence, domain) = match ran {
        Ran::Sequence(sequence) => (Some(sequence), None),
        Ran::Kernel(domain) => (None, domain),
        Ran::Started => (None, None),
    };
    let findings = manager.findings();
    if findings.is_empty() {
        return manager.forget_ended();
    }
    // Earlier output comes first.
    let _ = vm.flush();
    let mut reports: Vec<Report> = Vec::new();
    for mut finding in findings {
        let n_groups = finding.launch.groups.iter().map(|n| u64::from(*n)).product();
        let sequence = manager.started_as(finding.launch.submission).or_else(|| sequence.cloned());
        // The call of a kernel gives a domain, and does not count workgroups.
        if sequence.is_none() {
            finding.launch = Launch::default();
        }
        let near = Near {
            n_groups,
            domain,
            text: &text_of(vm, &finding),
            script: script_of(vm, &finding),
            callers: callers_of(vm, &finding),
            shader: language_of(vm, &finding),
        };
        let diagnostic = words(&finding, &near);
        let place = finding.line.as_ref().and_then(|line| vm.locate(line));
        let mistake = Mistake::of(diagnostic.code, place.as_ref(), &finding);
        // A line may make the same mistake at several places, as `x ** 3` does.
        let is_alike =
            |known: &&mut Report| known.mistake == mistake && known.finding.launch == finding.launch;
        match reports.iter_mut().find(is_alike) {
            Some(known) => known.finding.count += finding.count,
            None => reports.push(Report { mistake, finding, diagnostic, place, sequence }),
        }
    }
    manager.forget_ended();
    for report in reports {
        let diagnostic = labelled(vm, &report);
        vm.findings.note(report.mistake, report.finding.count, &diagnostic);
    }
}

/// A mistake to report, with its circumstances.
struct Report {
    mistake: Mistake,
    finding: Finding,
    /// Without its labels, which count.
    diagnostic: Diagnostic,
    place: Option<Location>,
    /// The sequence that ran it, unless a kernel was called.
    sequence: Option<Sequence>,
}

/// The mistake with its places in the kernel, below the calls that led to its launch.
fn labelled(vm: &Vm, report: &Report) -> Diagnostic {
    let Report { finding, place, .. } = report;
    let mut diagnostic = report.diagnostic.clone();
    match place {
        Some(location) => diagnostic = diagnostic.label(location.clone(), invocations(finding)),
        None => diagnostic.message += &format!(" ({})", invocations(finding)),
    }
    if let FindingKind::Race { before, .. } = &finding.kind
        && !on_one_line(&finding.line, &before.line)
        && let Some(location) = before.line.as_ref().and_then(|line| vm.locate(line))
    {
        diagnostic =
            diagnostic.label(location, format!("{} here by {}", done(before.access), who(before.invocation)));
    }
    if let FindingKind::DivergentBarrier { other, waits: Some(waits) } = &finding.kind
        && let Some(location) = vm.locate(waits)
    {
        diagnostic = diagnostic.label(location, format!("{} waits here", both_ids(*other)));
    }
    let trace = vm.trace();
    let sequence = report.sequence.as_ref();
    match sequence.and_then(|sequence| recorded(sequence, finding.launch.dispatch)) {
        Some(recorded) => below_recorded(diagnostic, &recorded, &trace),
        None => Diagnostic { trace, ..diagnostic },
    }
}

/// The calls that led to the statement that recorded a dispatch.
fn recorded(sequence: &Sequence, dispatch: usize) -> Option<Rc<Vec<Frame>>> {
    sequence.origin(dispatch)?.downcast().ok()
}

/// A mistake below the statement that recorded its launch, with the one that ran it.
fn below_recorded(diagnostic: Diagnostic, recorded: &[Frame], ran: &[Frame]) -> Diagnostic {
    let diagnostic = Diagnostic { trace: recorded.to_vec(), ..diagnostic };
    let [Some(recorded), Some(ran)] = [recorded.last(), ran.last()] else { return diagnostic };
    let source = &ran.location.source;
    let line = |frame: &Frame| frame.location.source.line(frame.location.span.start);
    if recorded.location.source == *source && line(recorded) == line(ran) {
        return diagnostic;
    }
    match diagnostic.location().is_some_and(|kernel| kernel.source == *source) {
        true => diagnostic.label(ran.location.clone(), "evaluated here"),
        false => {
            let evaluated = format!("evaluated at {}:{}", source.name(), line(ran));
            let help = diagnostic.help.as_ref().map_or(String::new(), |help| format!("; {help}"));
            diagnostic.help(evaluated + &help)
        }
    }
}

/// What is known about the place of a mistake besides the device's finding.
struct Near<'a> {
    n_groups: u64,
    /// Of a kernel that was called.
    domain: Option<&'a Domain>,
    /// The kernel's line.
    text: &'a str,
    /// The script that a barrier was missed in, or that both accesses of a race are in.
    script: Option<Source>,
    /// The calls that lead to both accesses of a race, the outermost first, each with its script.
    callers: Vec<(Source, u32)>,
    /// The language of the shader with the mistake; `None` for a kernel.
    shader: Option<foreign::Language>,
}

fn text_of(vm: &Vm, finding: &Finding) -> String {
    finding.line.as_ref().map_or(String::new(), |line| vm.source_line(line))
}

fn script_of(vm: &Vm, finding: &Finding) -> Option<Source> {
    let line = finding.line.as_ref()?;
    let is_asked = match &finding.kind {
        FindingKind::Race { before, .. } => {
            before.line.as_ref().is_some_and(|before| before.file == line.file)
        }
        FindingKind::DivergentBarrier { .. } => true,
        _ => false,
    };
    vm.locate(line).filter(|_| is_asked && !is_shader(finding)).map(|location| location.source)
}

fn callers_of(vm: &Vm, finding: &Finding) -> Vec<(Source, u32)> {
    let FindingKind::Race { before, .. } = &finding.kind else { return Vec::new() };
    before.callers.iter().filter_map(|call| Some((vm.locate(call)?.source, call.line))).collect()
}

fn language_of(vm: &Vm, finding: &Finding) -> Option<foreign::Language> {
    let file = Path::new(&finding.line.as_ref().filter(|_| is_shader(finding))?.file);
    let by_text = || Some(foreign::Language::of_text(vm.locate(finding.line.as_ref()?)?.source.text()));
    foreign::Language::of_file(file).or_else(by_text)
}

fn words(finding: &Finding, near: &Near) -> Diagnostic {
    match &finding.kind {
        FindingKind::OutOfBounds { array, index, shape, access, beyond } => {
            let help = out_of_bounds_help(*access, *beyond);
            out_of_bounds(finding, (array.as_ref(), help), (index, shape), near)
        }
        FindingKind::OutsideImage { image, place, size, access } => {
            outside_image(image.as_ref(), place, size, *access)
        }
        FindingKind::DivisionByZero { dividend } => {
            Diagnostic::error("checked/division-by-zero", format!("{} is divided by zero", number(*dividend)))
                .help(format!(
                    "unchecked, {}: divide only where the divisor is not 0",
                    quotient(finding, near)
                ))
        }
        FindingKind::ShiftAmount { amount, width } => {
            let message = format!("a shift by {amount}, of an int that has {width} bits");
            let unchecked = match is_undefined(finding, near) {
                true => UNDEFINED.to_owned(),
                false => format!("the amount counts modulo {width}"),
            };
            Diagnostic::error("checked/shift-amount", message)
                .help(format!("unchecked, {unchecked}: shift by 0 to {}", width - 1))
        }
        FindingKind::Conversion { value, n_digits, bits, signed } => {
            conversion((finding, near), *value, *n_digits, (*bits, *signed))
        }
        FindingKind::NotUniform { values: [here, there], other } => {
            let message = "`uniform(..)` is given a value that differs within the workgroup";
            Diagnostic::error("checked/not-uniform", message).help(format!(
                "it is {} here, and {} in invocation {}: compute it from what all of the workgroup have in \
                 common, such as group_id",
                coordinates(&numbers(here)),
                coordinates(&numbers(there)),
                triple(other.global)
            ))
        }
        FindingKind::DivergentBarrier { other, waits } => {
            divergent_barrier(finding, *other, waits.as_ref(), near)
        }
        FindingKind::Uninitialised(element) if element.memory != SharedMemory::Workgroup => {
            let message = format!("{} is read, but was never written", name(finding, element));
            Diagnostic::error("checked/uninitialised", message).help(
                "what is made without data holds any values: write it first, or begin with np.zeros(..)",
            )
        }
        FindingKind::Uninitialised(element) => {
            let message =
                format!("{} is read before anyone of the workgroup has written it", name(finding, element));
            let barrier = barrier(near.shader, element.memory);
            Diagnostic::error("checked/uninitialised", message)
                .help(format!("shared memory begins with any values: write it first, then {barrier}"))
        }
        FindingKind::Race { element, access, before } => {
            let (name, done, does) = (name(finding, element), done(*access), does(before.access));
            let message = format!("{name} is {done} while another invocation {does} it");
            match &before.alias {
                Some(alias) => two_names(message, element, alias),
                None => Diagnostic::error("checked/race", message).help(remedy(
                    finding,
                    element.memory,
                    before,
                    near,
                )),
            }
        }
        FindingKind::Overflow { op, a, b, bits } => overflow(*op, [*a, *b], *bits),
        FindingKind::NonFinite { value, of } => origin_of_nan(*value, of),
    }
}

/// A race of two accesses to one memory that the kernel has two names for.
fn two_names(message: String, element: &Element, alias: &ArrayName) -> Diagnostic {
    let (kind, two) = match element.memory {
        SharedMemory::Image => ("image", "two images"),
        SharedMemory::Workgroup | SharedMemory::Buffer => ("buffer", "two tensors that do not overlap"),
    };
    let (name, alias) = (called(element.array.as_ref(), kind), called(Some(alias), kind));
    Diagnostic::error("checked/race", format!("{message} through {alias}"))
        .help(format!("{name} and {alias} are the same memory in this launch: pass {two}"))
}

fn out_of_bounds(
    finding: &Finding,
    (array, help): (Option<&ArrayName>, &str),
    (index, shape): (&[Int], &[u64]),
    near: &Near,
) -> Diagnostic {
    let name = called(array, "array");
    let message = match (index, shape) {
        ([index], [len]) => {
            let plural = if *len == 1 { "" } else { "s" };
            format!("index {index} is out of range for {name}, which has {len} element{plural}")
        }
        _ => format!("index {} is out of range for {name} of shape {}", tuple(index), tuple(shape)),
    };
    let test = match (array, index) {
        (Some(ArrayName::Name(name)), [index]) if !is_shader(finding) => index_test(name, *index, near.text),
        _ => None,
    };
    let test = match test {
        Some(test) => format!("test it first: if {test}:"),
        None => "test the index first".to_owned(),
    };
    let is_part = matches!(array, Some(ArrayName::Part(_)));
    let remedy = match runs_past(finding, index, shape).filter(|_| !is_part) {
        Some((_, axis)) if finding.launch.groups[axis] > 0 => {
            format!("{}, so {test}", invocations_along(finding.launch, axis))
        }
        Some((at, axis)) => match near.domain {
            Some(domain) => swapped(domain, (at, axis), shape)
                .unwrap_or_else(|| format!("{}, so {test}", invocations_of(domain))),
            None => test,
        },
        None => test,
    };
    Diagnostic::error("checked/out-of-bounds", message).help(format!("{help}; {remedy}"))
}

/// A test to write before the access, if the line shows which index was wrong.
fn index_test(array: &str, index: Int, line: &str) -> Option<String> {
    let (is_negative, len) = match index {
        Int::Signed(index) => (index < 0, format!("len({array})")),
        // Below 0 it is one of the largest.
        Int::Unsigned(index) => (index > i32::MAX as u64, format!("u32(len({array}))")),
    };
    let indices = lines::indices_on(line, array);
    let sign = if is_negative { '-' } else { '+' };
    // Of `a[i - 1]`, `a[i]` and `a[i + 1]` the first leads below 0, and the last past the end.
    let likely: Vec<&String> = indices.iter().filter(|index| index.contains(sign)).collect();
    let written = match (&indices[..], &likely[..]) {
        ([index], _) => index,
        (_, [index]) => *index,
        _ => return None,
    };
    let is_name = written.chars().all(|c| c.is_alphanumeric() || c == '_');
    Some(match (index, is_negative && is_name) {
        (Int::Signed(_), true) => format!("{written} >= 0"),
        (Int::Signed(_), false) if !is_name => format!("0 <= {written} < {len}"),
        _ => format!("{written} < {len}"),
    })
}

fn out_of_bounds_help(access: Access, beyond: Beyond) -> &'static str {
    match (access, beyond) {
        (_, Beyond::End) => "unchecked, it accesses the element at the end",
        (Access::Read, Beyond::Nothing) => "unchecked, it reads 0",
        (Access::Read, Beyond::Row) => "unchecked, it reads 0, or in a longer row an element of another one",
        (Access::Write, Beyond::Nothing) => "unchecked, the write is dropped",
        (Access::Write, Beyond::Row) => "unchecked, the write is dropped, or lands in another row",
        (Access::ReadWrite, Beyond::Nothing) => "unchecked, it reads 0 and writes nothing",
        (Access::ReadWrite, Beyond::Row) => {
            "unchecked, it reads 0 and writes nothing, or accesses another row"
        }
    }
}

/// The place of an index that an invocation's own id led past the end, and the axis of the launch that this id counts
/// along.
fn runs_past(finding: &Finding, index: &[Int], shape: &[u64]) -> Option<(usize, usize)> {
    let is_past = |&(index, len): &(&Int, &u64)| match *index {
        Int::Signed(at) => u64::try_from(at).is_ok_and(|at| at >= *len),
        Int::Unsigned(at) => at >= *len,
    };
    let at = index.iter().zip(shape).position(|(index, len)| is_past(&(index, len)))?;
    let is_id = |axis: &usize| finding.invocation.global[*axis].to_string() == index[at].to_string();
    Some((at, (0..3).find(is_id)?))
}

/// A suggestion for array axes indexed in the wrong order: x counts along the last one.
fn swapped(domain: &Domain, (at, axis): (usize, usize), shape: &[u64]) -> Option<String> {
    let ids = ["x", "y", "z"];
    let (right, id) = (ids.get(shape.len() - 1 - at)?, ids[axis]);
    let place = shape.len().checked_sub(1 + axis)?;
    if place == at || shape[place] != domain.along(axis) as u64 {
        return None;
    }
    let domain = shape_text(&domain.shape);
    Some(format!(
        "in the domain {domain} `global_id.{id}` is the index along axis {place}, and along axis {at} it is \
         `global_id.{right}`"
    ))
}

/// `the launch has 10 invocations, one for each element of `a``
fn invocations_of(domain: &Domain) -> String {
    let (n, shape) = (domain.n_invocations(), shape_text(&domain.shape));
    let s = if n == 1 { "" } else { "s" };
    match &domain.of {
        Some(array) => format!("the launch has {shape} invocation{s}, one for each element of `{array}`"),
        None => format!("the launch has {shape} invocation{s}"),
    }
}

/// `2 workgroups of 256 are 512 invocations along x`
fn invocations_along(launch: Launch, axis: usize) -> String {
    let (groups, local) = (launch.groups[axis], launch.local_size[axis]);
    let (s, are) = if groups == 1 { ("", "is") } else { ("s", "are") };
    let n = u64::from(groups) * u64::from(local);
    format!("{groups} workgroup{s} of {local} {are} {n} invocations along {}", ["x", "y", "z"][axis])
}

/// Whether the mistake is in a shader in another language.
fn is_shader(finding: &Finding) -> bool {
    let file = finding.line.as_ref().map_or(SHADER, |line| &line.file);
    is_shader_name(file) || foreign::is_path(file)
}

fn outside_image(image: Option<&ArrayName>, place: &[Int], size: &[u64], access: Access) -> Diagnostic {
    let name = called(image, "image");
    let size: Vec<String> = size.iter().map(u64::to_string).collect();
    let message =
        format!("texel {} is outside of {name}, which has {} texels", coordinates(place), size.join(" x "));
    let help = match access {
        Access::Read => "unchecked, it reads 0; a sampler determines the values beyond the edge",
        Access::Write | Access::ReadWrite => "unchecked, the write is dropped",
    };
    Diagnostic::error("checked/out-of-bounds", message).help(help)
}

fn divergent_barrier(
    finding: &Finding,
    other: Invocation,
    waits: Option<&SourceLine>,
    near: &Near,
) -> Diagnostic {
    let message = "not every invocation of the workgroup comes to this barrier";
    let help = match waits {
        Some(_) => "let all of them come to the same barrier: move it out of the branch".to_owned(),
        None => format!("{} has ended: {}", both_ids(other), remedy_of_ended(finding.line.as_ref(), near)),
    };
    Diagnostic::error("checked/divergent-barrier", message).help(help)
}

/// The module's name of an array or an image, or its binding.
fn called(name: Option<&ArrayName>, kind: &str) -> String {
    match name {
        Some(ArrayName::Name(name) | ArrayName::Part(name)) => format!("`{name}`"),
        Some(ArrayName::Namesake { name, nth }) => format!("`{name}` ({})", namesake(*nth)),
        Some(ArrayName::Binding { set: 0, binding }) => format!("the {kind} at binding {binding}"),
        Some(ArrayName::Binding { set, binding }) => format!("the {kind} at set {set}, binding {binding}"),
        None => format!("the {kind}"),
    }
}

/// `tile[3, 0].pos`, `element 7 of the buffer at binding 0`, `texel (1, 0) of picture` ..
fn name(finding: &Finding, element: &Element) -> String {
    let array = element.array.as_ref();
    let called = match element.memory {
        SharedMemory::Image => called(array, "image"),
        SharedMemory::Workgroup if array.is_none() => "shared memory".to_owned(),
        SharedMemory::Workgroup | SharedMemory::Buffer => called(array, "buffer"),
    };
    let way = way(&element.path, is_shader(finding));
    match (array, &element.path[..]) {
        (_, []) => called,
        (_, [Part::Index(place), ..]) if element.memory == SharedMemory::Image => {
            format!("texel {} of {called}", coordinates(place))
        }
        (Some(ArrayName::Name(name) | ArrayName::Part(name)), _) => format!("`{name}{way}`"),
        (Some(ArrayName::Namesake { name, nth }), _) => format!("`{name}{way}` ({})", namesake(*nth)),
        (_, [Part::Index(index), rest @ ..]) => {
            let part =
                if rest.is_empty() { "" } else { &format!("`{}` of ", &way[way.find('.').unwrap_or(0)..]) };
            format!("{part}element {} of {called}", coordinates(index))
        }
        // A member of a block without a name has only its own name.
        (_, [Part::Member(_), ..]) => format!("`{}`", &way[1..]),
    }
}

/// `[3, 0].pos` as kernels write it, `[3][0].pos` as shaders do.
fn way(path: &[Part], is_shader: bool) -> String {
    let between = if is_shader { "][" } else { ", " };
    let step = |part: &Part| match part {
        Part::Index(index) => {
            let index: Vec<String> = index.iter().map(u64::to_string).collect();
            format!("[{}]", index.join(between))
        }
        Part::Member(name) => format!(".{name}"),
    };
    path.iter().map(step).collect()
}

fn namesake(nth: u32) -> String {
    format!("variable {nth} of that name")
}

fn coordinates<T: std::fmt::Display>(place: &[T]) -> String {
    match place {
        [x] => x.to_string(),
        place => tuple(place),
    }
}

fn done(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::Write => "written",
        Access::ReadWrite => "changed atomically",
    }
}

fn does(access: Access) -> &'static str {
    match access {
        Access::Read => "reads",
        Access::Write => "writes",
        Access::ReadWrite => "atomically changes",
    }
}

const UNDEFINED: &str = "the result is undefined";

/// Whether the mistake's language leaves the result undefined, unlike kernels and WGSL.
fn is_undefined(finding: &Finding, near: &Near) -> bool {
    is_shader(finding) && near.shader != Some(foreign::Language::Wgsl)
}

/// The result of a division by zero.
fn quotient(finding: &Finding, near: &Near) -> &'static str {
    match is_shader(finding) {
        _ if is_undefined(finding, near) => UNDEFINED,
        true => "`a / 0` is `a` and `a % 0` is 0",
        false => "the result is 0",
    }
}

fn conversion(
    (finding, near): (&Finding, &Near),
    value: f64,
    n_digits: u32,
    (bits, signed): (u32, bool),
) -> Diagnostic {
    let ty = format!("{}{bits}", if signed { "i" } else { "u" });
    // The digits that distinguish an f32 from its neighbours may be fewer than a whole number has.
    let is_count = value.fract() == 0.0 && value.abs() < 1e16;
    let shown = if is_count { text::float::repr(value) } else { float(value) };
    let message = format!("{shown} does not fit {ty}");
    let help = match value.is_nan() {
        true => {
            let saturated = if is_shader(finding) { "some number that does" } else { "0" };
            format!("unchecked, it becomes {saturated}: convert it only where `x == x`, which no NaN is")
        }
        false => {
            let (least, greatest) = limits(n_digits, bits, signed);
            let clamped = format!("clamp(x, {least:.1}, {greatest:.1})");
            let unchecked = match is_undefined(finding, near) {
                true => UNDEFINED,
                false => "it becomes the nearest that does",
            };
            format!("unchecked, {unchecked}: convert `{clamped}`")
        }
    };
    Diagnostic::error("checked/conversion", message).help(help)
}

/// The least and the greatest whole number that both a float with this many binary digits and an int with
/// this many bits can hold.
fn limits(n_digits: u32, bits: u32, signed: bool) -> (f64, f64) {
    // Of all floats, only f16 has a smaller range than ints.
    let most = if n_digits == 11 { 65504.0 } else { f64::MAX };
    let power = |n: u32| 2f64.powi(n as i32);
    let n = if signed { bits - 1 } else { bits };
    // The next power of two, less the last digit that the float still has there.
    let greatest = power(n) - power(n.saturating_sub(n_digits));
    let least = if signed { -power(n) } else { 0.0 };
    (least.max(-most), greatest.min(most))
}

fn overflow(op: Arithmetic, [a, b]: [Int; 2], bits: u32) -> Diagnostic {
    let shown = match op {
        Arithmetic::Sum => format!("{a} + {b}"),
        Arithmetic::Difference => format!("{a} - {b}"),
        Arithmetic::Product => format!("{a} * {b}"),
        Arithmetic::Negation => format!("-({b})"),
        Arithmetic::Magnitude => format!("abs({b})"),
        Arithmetic::Quotient => format!("{a} // {b}"),
    };
    let ty = match a {
        Int::Signed(_) => format!("i{bits}"),
        Int::Unsigned(_) => format!("u{bits}"),
    };
    let is_negative = matches!((op, a), (Arithmetic::Negation, Int::Unsigned(_)));
    let instead = match bits {
        8..64 if is_negative => "make it a wider signed type first",
        64 => "no int is wider, so test the operands first, or compute it in f64",
        _ => "compute it in a wider type",
    };
    Diagnostic::error("checked/overflow", format!("`{shown}` does not fit {ty}"))
        .help(format!("unchecked, it wraps: {instead}"))
}

fn origin_of_nan(value: f64, of: &[Number]) -> Diagnostic {
    let what = if value.is_nan() { "a NaN" } else { "an infinity" };
    Diagnostic::error("checked/nan", format!("{what} comes of {}", numbers(of).join(" and ")))
        .help("unchecked, it goes on into all that is made of it: test what it comes of first")
}

/// `in invocation (5, 0, 0), local (1, 0, 0) of workgroup (1, 0, 0); 3 times in all`.
fn invocations(finding: &Finding) -> String {
    let mut text =
        format!("in {} of workgroup {}", both_ids(finding.invocation), triple(finding.invocation.group));
    if let FindingKind::Race { before, .. } = &finding.kind
        && (before.line.is_none() || on_one_line(&finding.line, &before.line))
    {
        text += &format!("; {} by {}", done(before.access), who(before.invocation));
    }
    match finding.count {
        1 => text,
        n => format!("{text}; {n} times in all"),
    }
}

fn on_one_line(a: &Option<SourceLine>, b: &Option<SourceLine>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (&a.file, a.line) == (&b.file, b.line),
        _ => false,
    }
}

/// One invocation of a workgroup that is named beside it.
fn both_ids(invocation: Invocation) -> String {
    format!("invocation {}, local {}", triple(invocation.global), triple(invocation.local))
}

/// One invocation, shortly.
fn who(invocation: Invocation) -> String {
    format!("invocation {} of workgroup {}", triple(invocation.global), triple(invocation.group))
}

fn triple([x, y, z]: [u32; 3]) -> String {
    format!("({x}, {y}, {z})")
}

fn tuple<T: std::fmt::Display>(items: &[T]) -> String {
    let items: Vec<String> = items.iter().map(T::to_string).collect();
    format!("({})", items.join(", "))
}

fn numbers(values: &[Number]) -> Vec<String> {
    values.iter().map(|&value| number(value)).collect()
}

fn number(value: Number) -> String {
    match value {
        Number::Bool(value) => if value { "True" } else { "False" }.to_owned(),
        Number::Int(int) => int.to_string(),
        Number::Float(value) => float(value),
    }
}

/// As Python writes it, no longer than an f32 needs to be if it is one.
fn float(value: f64) -> String {
    let narrow = value as f32;
    let shortest = format!("{narrow:e}").parse().ok().filter(|_| f64::from(narrow) == value);
    text::float::repr(shortest.unwrap_or(value))
}
