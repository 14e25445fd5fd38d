//! Reads the records of `print` and `assert`, and the steps of a trace, from the buffer to which kernels
//! write them.
//!
//! The module has a text for each place that writes records: `kps.record SITE KIND LINE COLUMN FILE`, a
//! newline, and a template. The buffer has numbers. Together they are messages, in the order of the
//! invocations. Records that found no room in the buffer are counted.

use std::rc::Rc;

use kps_device::interface::{PRINT, RECORD_ASSERT_WORDS, RECORD_STEP_WORDS, RECORD_STEPS_STORED};
use kps_device::{Access, Binding, BufferId, Device, Interface, MemoryUsage, SourceLine};

use crate::DType;
use crate::context::Context;
use crate::error::Result;
use crate::number::Number;

/// One `print`, one failed `assert` or one traced assignment of one invocation.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    pub kind: MessageKind,
    /// The position in the kernel.
    pub line: SourceLine,
    /// As `global_id`.
    pub invocation: [u32; 3],
    pub pieces: Vec<Piece>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    Print,
    Assert,
    /// The name, a newline, and the assigned value.
    Trace,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    Text(String),
    Value {
        number: Number,
        format: Format,
    },
    /// A vector or a matrix, row by row.
    Array {
        numbers: Vec<Number>,
        shape: Vec<usize>,
        format: Format,
    },
}

/// How a value is formatted.
#[derive(Clone, Debug, PartialEq)]
pub struct Format {
    pub dtype: DType,
    /// `s`, `r` or `a`.
    pub conversion: Option<char>,
    pub spec: Option<String>,
}

/// All records of one launch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    pub messages: Vec<Message>,
    /// Number of prints that found no room. In a trace: steps in the middle, after the first
    /// [`RECORD_STEPS_STORED`].
    pub lost: u64,
    /// Number of failed assertions that found no room.
    pub lost_asserts: u64,
}

/// A place in a kernel that writes records.
#[derive(Debug)]
pub(crate) struct Site {
    id: u32,
    kind: MessageKind,
    line: SourceLine,
    template: Vec<Part>,
}

#[derive(Debug, PartialEq)]
enum Part {
    Text(String),
    /// One number, or the numbers of an array with this shape.
    Slot {
        format: Format,
        shape: Vec<usize>,
    },
}

/// Size of the buffer.
const RING_BYTES: u64 = 1 << 20;

/// The four counters at the start.
const COUNTER_BYTES: u64 = 16;

const HEADER_WORDS: usize = 4;

/// The buffer of one dispatch.
pub(crate) struct Ring {
    device: Rc<dyn Device>,
    buffer: BufferId,
}

impl Ring {
    pub fn new(context: &Context) -> Result<Ring> {
        let device = context.device("print from a kernel on")?;
        let buffer = device.alloc(RING_BYTES, MemoryUsage::Device)?;
        Ok(Ring { device, buffer })
    }

    /// Discards its content.
    pub fn reset(&self) -> Result<()> {
        Ok(self.device.write(self.buffer, 0, &[0; COUNTER_BYTES as usize])?)
    }

    /// Its binding in the interface.
    pub fn binding(&self, interface: &Interface) -> Option<Binding> {
        let wanted = interface.buffers.iter().find(|buffer| buffer.name.as_deref() == Some(PRINT))?;
        let (set, binding) = (wanted.set, wanted.binding);
        let access = Access::ReadWrite;
        Some(Binding { set, binding, buffer: self.buffer, offset: 0, size: RING_BYTES, access })
    }

    /// Takes the records of the dispatch; waits for it.
    pub fn take(&self, sites: &[Site]) -> Result<Report> {
        let counters = self.words(0, COUNTER_BYTES as usize / 4)?;
        let counters: [u32; 4] = counters.try_into().expect("as many words were read");
        let total = ((RING_BYTES - COUNTER_BYTES) / 4) as usize;
        let for_asserts = RECORD_ASSERT_WORDS as usize;
        if sites.iter().any(|site| site.kind == MessageKind::Trace) {
            return self.take_trace(sites, counters);
        }
        let n_prints = (counters[0] as usize).min(total - for_asserts);
        let n_asserts = (counters[2] as usize).min(for_asserts);
        let mut messages = decode(&self.words(COUNTER_BYTES + 4 * for_asserts as u64, n_prints)?, sites);
        messages.extend(decode(&self.words(COUNTER_BYTES, n_asserts)?, sites));
        messages.sort_by_key(|message| {
            let [x, y, z] = message.invocation;
            (z, y, x)
        });
        Ok(Report { messages, lost: counters[1].into(), lost_asserts: counters[3].into() })
    }

    /// The steps in their order, then the failed assertions.
    fn take_trace(&self, sites: &[Site], counters: [u32; 4]) -> Result<Report> {
        let [n_steps, _, assert_words, lost_asserts] = counters;
        let (start, width) = (COUNTER_BYTES + 4 * u64::from(RECORD_ASSERT_WORDS), RECORD_STEP_WORDS as usize);
        let n_places = n_steps.min(2 * RECORD_STEPS_STORED) as usize;
        let places = self.words(start, n_places * width)?;
        let steps = step_order(n_steps);
        let mut messages: Vec<Message> =
            steps.filter_map(|at| decode(&places[at * width..][..width], sites).into_iter().next()).collect();
        let n_asserts = assert_words.min(RECORD_ASSERT_WORDS) as usize;
        messages.extend(decode(&self.words(COUNTER_BYTES, n_asserts)?, sites));
        let lost = n_steps.saturating_sub(2 * RECORD_STEPS_STORED);
        Ok(Report { messages, lost: lost.into(), lost_asserts: lost_asserts.into() })
    }

    fn words(&self, offset: u64, n: usize) -> Result<Vec<u32>> {
        let mut bytes = vec![0; 4 * n];
        if n > 0 {
            self.device.read(self.buffer, offset, &mut bytes)?;
        }
        Ok(crate::element::from_bytes(&bytes))
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        self.device.free(self.buffer);
    }
}

/// The slots of the stored steps, from the first step on.
fn step_order(n_steps: u32) -> impl Iterator<Item = usize> {
    let n_stored = RECORD_STEPS_STORED;
    let first = 0..n_steps.min(n_stored);
    // Step `n` after the first ones is at `n` modulo their number.
    let last = n_steps.saturating_sub(n_stored).max(n_stored.min(n_steps))..n_steps;
    first.chain(last.map(move |n| n_stored + n % n_stored)).map(|at| at as usize)
}

fn decode(mut words: &[u32], sites: &[Site]) -> Vec<Message> {
    let mut messages = Vec::new();
    while let [id, x, y, z, rest @ ..] = words
        && let Some(site) = sites.iter().find(|site| site.id == *id)
    {
        let mut values = rest;
        let pieces = site.template.iter().map_while(|part| part.read(&mut values));
        let pieces: Vec<Piece> = pieces.collect();
        if pieces.len() < site.template.len() {
            break;
        }
        let (kind, line) = (site.kind, site.line.clone());
        messages.push(Message { kind, line, invocation: [*x, *y, *z], pieces });
        words = &words[HEADER_WORDS + rest.len() - values.len()..];
    }
    messages
}

impl Part {
    /// Reads a piece; its value is taken from the front of `words`.
    fn read(&self, words: &mut &[u32]) -> Option<Piece> {
        let (format, shape) = match self {
            Part::Text(text) => return Some(Piece::Text(text.clone())),
            Part::Slot { format, shape } => (format.clone(), shape),
        };
        let n_numbers = shape.iter().product();
        let numbers: Option<Vec<Number>> = (0..n_numbers).map(|_| read_number(format.dtype, words)).collect();
        Some(match (&*numbers?, shape.is_empty()) {
            ([number], true) => Piece::Value { number: *number, format },
            (numbers, _) => Piece::Array { numbers: numbers.to_vec(), shape: shape.clone(), format },
        })
    }
}

/// Reads a number from the front of `words`.
fn read_number(dtype: DType, words: &mut &[u32]) -> Option<Number> {
    // As in push constants, narrow numbers are stored as 32-bit ones.
    let carried = dtype.in_push_constants();
    let (value, rest) = words.split_at_checked(carried.size().div_ceil(4))?;
    *words = rest;
    let bytes: Vec<u8> = value.iter().flat_map(|word| word.to_le_bytes()).collect();
    let number = Number::load(carried, &bytes);
    Some(if dtype == DType::Bool { truth(number) } else { number })
}

fn truth(number: Number) -> Number {
    Number::Bool(number != Number::Int(0))
}

/// The sites of a module.
pub(crate) fn sites(interface: &Interface) -> Vec<Site> {
    interface.records.iter().filter_map(|text| Site::parse(text)).collect()
}

impl Site {
    /// Parses `kps.record 1 print 12 5 job.kps`, and the template on the lines below.
    fn parse(text: &str) -> Option<Site> {
        let (head, template) = text.split_once('\n')?;
        let mut words = head.splitn(6, ' ').skip(1);
        let id = words.next()?.parse().ok()?;
        let kind = match words.next()? {
            "print" => MessageKind::Print,
            "assert" => MessageKind::Assert,
            "trace" => MessageKind::Trace,
            _ => return None,
        };
        let (line, column) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let line = SourceLine { file: words.next()?.to_owned(), line, column };
        Some(Site { id, kind, line, template: parse_template(template)? })
    }
}

fn parse_template(template: &str) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut rest = template;
    while let Some(at) = rest.find(['{', '}']) {
        text += &rest[..at];
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if let Some(escaped) = rest.strip_prefix(brace) {
            text += brace;
            rest = escaped;
            continue;
        }
        let (slot, behind) = rest.split_once('}')?;
        if !text.is_empty() {
            parts.push(Part::Text(std::mem::take(&mut text)));
        }
        parts.push(parse_slot(slot)?);
        rest = behind;
    }
    text += rest;
    if !text.is_empty() {
        parts.push(Part::Text(text));
    }
    Some(parts)
}

/// `f32`, `i32:>5`, `bool!r`, `f32[3]`, `f32[2,3]!r`.
fn parse_slot(slot: &str) -> Option<Part> {
    let (head, spec) = match slot.split_once(':') {
        Some((head, spec)) => (head, Some(spec.to_owned())),
        None => (slot, None),
    };
    let (name, conversion) = match head.split_once('!') {
        Some((name, conversion)) => (name, conversion.chars().next()),
        None => (head, None),
    };
    let (name, shape) = match name.strip_suffix(']').and_then(|name| name.split_once('[')) {
        Some((name, sizes)) => (name, sizes.split(',').map(|size| size.parse().ok()).collect::<Option<_>>()?),
        None => (name, Vec::new()),
    };
    Some(Part::Slot { format: Format { dtype: DType::parse(name)?, conversion, spec }, shape })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(template: &str) -> Site {
        Site::parse(&format!("kps.record 1 print 12 5 my job.kps\n{template}")).expect("a site")
    }

    fn shown(pieces: &[Piece]) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Value { number, format } => format!("<{number} {format:?}>"),
            Piece::Array { numbers, shape, format } => format!("<{numbers:?} {shape:?} {format:?}>"),
        };
        pieces.iter().map(piece).collect()
    }

    #[test]
    fn records_fill_the_templates_of_their_sites() {
        let sites = [site("{{x}}: {f32:.2f}, {i64}\n{bool!r}")];
        let words = [1, 7, 0, 0, 1.5f32.to_bits(), u32::MAX, u32::MAX, 1, 0, 9, 9, 9];
        let messages = decode(&words, &sites);
        assert_eq!(messages.len(), 1);
        assert_eq!(messages[0].invocation, [7, 0, 0]);
        assert_eq!(messages[0].line.file, "my job.kps");
        let value = |text: &str, format: &str| format!("<{text} Format {{ {format} }}>");
        let float = value("1.5", "dtype: F32, conversion: None, spec: Some(\".2f\")");
        let int = value("-1", "dtype: I64, conversion: None, spec: None");
        let truth = value("true", "dtype: Bool, conversion: Some('r'), spec: None");
        assert_eq!(shown(&messages[0].pieces), format!("{{x}}: {float}, {int}\n{truth}"));
    }

    #[test]
    fn steps_go_round_behind_the_first_ones() {
        let order = |n: u32| step_order(n).collect::<Vec<_>>();
        let n_stored = RECORD_STEPS_STORED as usize;
        assert_eq!(order(3), [0, 1, 2]);
        assert_eq!(order(RECORD_STEPS_STORED + 2), (0..n_stored + 2).collect::<Vec<_>>());
        assert_eq!(order(2 * RECORD_STEPS_STORED), (0..2 * n_stored).collect::<Vec<_>>());
        let round = order(2 * RECORD_STEPS_STORED + 1);
        assert_eq!(round.len(), 2 * n_stored);
        assert_eq!((round[n_stored], round[2 * n_stored - 1]), (n_stored + 1, n_stored));
    }

    #[test]
    fn a_record_that_was_cut_off_is_left_out() {
        let sites = [site("{f64}")];
        assert!(decode(&[1, 0, 0, 0, 5], &sites).is_empty());
        assert!(decode(&[2, 0, 0, 0, 5, 6], &sites).is_empty());
    }
}
