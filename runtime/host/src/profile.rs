//! The cost of a profiled run: a table beside the source, with an interpretation of the numbers, and JSON.
//!
//! The counts are those of [`kps_device::profile`]. Lines are sorted by cost: an instruction of an invocation
//! counts 1, a sector of memory and a pass of shared memory 8. Nothing here prints.

use std::fmt::Write;

use kps_device::SourceLine;
use kps_device::profile::{BANKS, Counts, KernelProfile, SECTOR, WARP};

use crate::text::quote;

/// The cost of a sector or of a pass of shared memory, in instructions.
const ACCESS_COST: u64 = 8;
/// The label of built-in values, array lengths and similar costs that belong to no line.
const NO_LINE: &str = "(what all lines share)";
/// Lines of a kernel that are shown at most.
const MAX_LINES: usize = 20;
/// The widest source text in a table.
const MAX_SOURCE: usize = 40;

/// The kernels of a run, those that cost most first.
pub struct Profile {
    kernels: Vec<Kernel>,
}

struct Kernel {
    profile: KernelProfile,
    lines: Vec<Line>,
}

struct Line {
    line: Option<SourceLine>,
    /// `6`, or `helpers.kps:6` in a kernel with lines of several files.
    number: String,
    source: String,
    counts: Counts,
}

impl Line {
    fn cost(&self) -> u64 {
        self.counts.instructions + ACCESS_COST * (self.counts.sectors + self.counts.shared_passes)
    }
}

impl Kernel {
    fn cost(&self) -> u64 {
        self.lines.iter().map(Line::cost).sum()
    }
}

impl Profile {
    /// `source_of` returns the text of a line.
    pub(crate) fn new(kernels: Vec<KernelProfile>, source_of: impl Fn(&SourceLine) -> String) -> Profile {
        let kernel = |profile: KernelProfile| {
            let mut files = profile.lines.iter().filter_map(|(line, _)| Some(&line.as_ref()?.file));
            let first = files.next();
            let has_files = files.any(|file| Some(file) != first);
            let number = |line: &SourceLine| match has_files {
                true => format!("{}:{}", line.file, line.line),
                false => line.line.to_string(),
            };
            let line = |(line, counts): &(Option<SourceLine>, Counts)| Line {
                line: line.clone(),
                number: line.as_ref().map_or_else(|| "-".to_owned(), number),
                source: line.as_ref().map_or_else(|| NO_LINE.to_owned(), &source_of).trim().to_owned(),
                counts: *counts,
            };
            let mut lines: Vec<Line> = profile.lines.iter().map(line).collect();
            lines.sort_by_key(|line| std::cmp::Reverse(line.cost()));
            Kernel { profile, lines }
        };
        let mut kernels: Vec<Kernel> = kernels.into_iter().map(kernel).collect();
        kernels.sort_by_key(|kernel| std::cmp::Reverse(kernel.cost()));
        Profile { kernels }
    }

    pub fn text(&self) -> String {
        if self.kernels.is_empty() {
            return "profile: no kernel ran\n".to_owned();
        }
        let mut text = String::from(HEADER);
        for kernel in &self.kernels {
            kernel_text(kernel, &mut text);
        }
        text
    }

    /// The format is described in docs/src/guide/profiling.md.
    pub fn json(&self) -> String {
        let kernels: Vec<String> = self.kernels.iter().map(kernel_json).collect();
        format!(
            "{{\"version\": 1, \"warp\": {WARP}, \"sector_bytes\": {SECTOR}, \"banks\": {BANKS}, \"kernels\": [{}]}}\n",
            kernels.join(", ")
        )
    }
}

const HEADER: &str = "\
profile: what kernels do, as a GPU with warps of 32 lanes would see it
  work     scalar operations of all invocations
  sectors  pieces of 32 bytes that the accesses of warps touch / as few as would hold their bytes
  passes   of shared memory, whose 32 banks give a word of 4 bytes each / as few as would do
  parted   branches at which the lanes of a warp went different ways / branches
  time     as measured while all this was counted
";

fn kernel_text(kernel: &Kernel, text: &mut String) {
    let KernelProfile { name, dispatches, invocations, time, .. } = &kernel.profile;
    let plural = if *dispatches == 1 { "" } else { "es" };
    let milliseconds = time.as_secs_f64() * 1e3;
    let _ = writeln!(
        text,
        "\nkernel `{name}`: {dispatches} dispatch{plural}, {invocations} invocations, time {milliseconds:.3} ms"
    );
    let total = kernel.cost().max(1);
    let mut table = vec![TITLES.map(str::to_owned)];
    for line in kernel.lines.iter().take(MAX_LINES) {
        table.push(row(line, total));
    }
    let width = |column: usize| table.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; N_COLUMNS] = std::array::from_fn(width);
    for row in &table {
        let cells: Vec<String> =
            row.iter().zip(widths).map(|(cell, width)| format!("{cell:>width$}")).collect();
        let (source, numbers) = cells.split_last().expect("there are columns");
        let _ = writeln!(text, "{} | {}", numbers.join("  "), source.trim());
    }
    if kernel.lines.len() > MAX_LINES {
        let _ = writeln!(text, "and {} more lines", kernel.lines.len() - MAX_LINES);
    }
    for line in &kernel.lines {
        advice(line, text);
    }
}

const N_COLUMNS: usize = 9;
const TITLES: [&str; N_COLUMNS] =
    ["line", "cost", "work", "read", "written", "sectors", "passes", "parted", "source"];

fn row(line: &Line, total: u64) -> [String; N_COLUMNS] {
    let counts = &line.counts;
    let number = |n: u64| if n == 0 { "-".to_owned() } else { n.to_string() };
    let ratio = |n: u64, of: u64| if of == 0 { "-".to_owned() } else { format!("{n}/{of}") };
    [
        line.number.clone(),
        format!("{:.0}%", 100.0 * line.cost() as f64 / total as f64),
        number(counts.instructions),
        number(counts.bytes_read),
        number(counts.bytes_written),
        ratio(counts.sectors, counts.ideal_sectors),
        ratio(counts.shared_passes, counts.ideal_passes),
        ratio(counts.parted, counts.branches),
        shortened(&line.source),
    ]
}

/// The problems of a line, and their remedies.
fn advice(line: &Line, text: &mut String) {
    let counts = &line.counts;
    let number = &line.number;
    let per = |n: u64, of: u64| n as f64 / of.max(1) as f64;
    if counts.sectors > 2 * counts.ideal_sectors {
        let (touched, ideal) =
            (per(counts.sectors, counts.requests), per(counts.ideal_sectors, counts.requests));
        let _ = writeln!(
            text,
            "line {number}: an access of a warp touches {touched:.1} sectors where {ideal:.1} would do: its lanes go \
             to memory far apart. Let neighbours along `global_id.x` go to neighbouring elements"
        );
    }
    if counts.shared_passes > counts.ideal_passes {
        let ways = per(counts.shared_passes, counts.shared_requests);
        let _ = writeln!(
            text,
            "line {number}: an access of a warp takes {ways:.1} passes of shared memory: its lanes go to different \
             words of one bank. Make rows one element longer, or let neighbours go to neighbouring words"
        );
    }
    if 4 * counts.parted > counts.branches {
        let share = 100.0 * per(counts.parted, counts.branches);
        let _ = writeln!(
            text,
            "line {number}: the lanes of a warp part at {share:.0}% of its branches here: a GPU goes both ways, one \
             after the other. Let whole warps go the same way, or choose values instead: `a if test else b`"
        );
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_SOURCE) {
        Some((end, _)) => format!("{}..", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

fn kernel_json(kernel: &Kernel) -> String {
    let KernelProfile { name, dispatches, invocations, time, .. } = &kernel.profile;
    let lines: Vec<String> = kernel.lines.iter().map(line_json).collect();
    format!(
        "{{\"name\": {}, \"dispatches\": {dispatches}, \"invocations\": {invocations}, \"nanoseconds\": {}, \
         \"lines\": [{}]}}",
        quote::json(name),
        time.as_nanos(),
        lines.join(", ")
    )
}

fn line_json(line: &Line) -> String {
    let counts = &line.counts;
    let (file, number) = match &line.line {
        Some(line) => (quote::json(&line.file), line.line.to_string()),
        None => ("null".to_owned(), "null".to_owned()),
    };
    let numbers = [
        ("cost", line.cost()),
        ("instructions", counts.instructions),
        ("bytes_read", counts.bytes_read),
        ("bytes_written", counts.bytes_written),
        ("requests", counts.requests),
        ("sectors", counts.sectors),
        ("ideal_sectors", counts.ideal_sectors),
        ("shared_requests", counts.shared_requests),
        ("shared_passes", counts.shared_passes),
        ("ideal_passes", counts.ideal_passes),
        ("branches", counts.branches),
        ("parted", counts.parted),
    ];
    let numbers: Vec<String> = numbers.iter().map(|(name, n)| format!("\"{name}\": {n}")).collect();
    let source = quote::json(&line.source);
    format!("{{\"file\": {file}, \"line\": {number}, \"source\": {source}, {}}}", numbers.join(", "))
}
