//! The columns of the table: the executors of the rows. Kernels run on the devices; the same expressions run
//! as host code in kps and in CPython.
//!
//! All are scripts that print a line of numbers for every row, so the comparison covers what a user sees.

use std::fmt::Write as _;
use std::io::Write;
use std::process::{Command, Stdio};

use kps::{Host, Program};
use kps_snapshots::Sink;

use crate::lines::Output;
use crate::number::{Number, Triple};

/// Rows in one kernel: drivers are slow on long ones.
const ROWS_OF_A_KERNEL: usize = 24;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Host code in kps.
    Machine,
    /// The CPU device.
    BuiltIn,
    /// A Vulkan device, under its validation layer.
    Vulkan,
}

impl Column {
    pub fn name(self) -> &'static str {
        match self {
            Column::Machine => "the host",
            Column::BuiltIn => "the built-in device",
            Column::Vulkan => "Vulkan",
        }
    }

    pub fn selector(self) -> &'static str {
        match self {
            Column::Machine | Column::BuiltIn => "cpu",
            Column::Vulkan => "vulkan",
        }
    }
}

/// One result; `None` if the host raised an exception.
pub type Cell = Option<Printed>;

/// A printed value, wide enough for every type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Printed {
    Int(i128),
    Float(f64),
}

/// A whole table: the cells of every row.
pub type Cells = Vec<Vec<Cell>>;

/// Rows that are run together.
pub struct Batch<'r> {
    pub number: Number,
    pub output: Output,
    pub calls: Vec<&'r str>,
    /// The length of vectors; 1 for scalars.
    pub width: usize,
    /// The arguments in Python's notation.
    pub args: &'r [Triple<String>],
}

impl Batch<'_> {
    /// Runs the kernels on a device.
    pub fn on_device(&self, column: Column) -> Result<Cells, String> {
        let mut script = self.arguments();
        for (at, calls) in self.calls.chunks(ROWS_OF_A_KERNEL).enumerate() {
            script += &self.kernel(at, calls);
        }
        let printed = run(column.selector(), &script)?;
        let mut cells = Cells::new();
        for line in printed.lines() {
            let line = line.split_whitespace().map(parse).collect::<Result<Vec<_>, _>>()?;
            cells.extend(line.chunks(self.args.len()).map(<[Cell]>::to_vec));
        }
        if cells.len() != self.calls.len() || cells.iter().any(|cells| cells.len() != self.args.len()) {
            return Err("the kernels gave another number of results than they were asked for".to_owned());
        }
        Ok(cells)
    }

    /// Three tensors. Adjacent elements form vectors.
    fn arguments(&self) -> String {
        let mut script = "import numpy as np\nnan, inf = float('nan'), float('inf')\n".to_owned();
        for (at, name) in ["a", "b", "c"].iter().enumerate() {
            let values: Vec<&str> = self.args.iter().map(|Triple(args)| args[at].as_str()).collect();
            let dtype = self.number.dtype();
            writeln!(script, "{name} = Tensor(np.array([{}], dtype='{dtype}'))", values.join(", "))
                .expect("a string takes all");
        }
        script
    }

    fn kernel(&self, at: usize, calls: &[&str]) -> String {
        let (ty, result) = (self.of(&self.number.name()), self.of(&self.output.name()));
        let n = self.args.len();
        let mut script = format!(
            "@kernel(precise=True)\ndef rows{at}(a: Array[{ty}], b: Array[{ty}], c: Array[{ty}], out: Array[{result}]):\n    \
             i = global_id.x\n    n = len(a)\n    x, y, z = a[i], b[i], c[i]\n"
        );
        for (row, call) in calls.iter().enumerate() {
            let call = self.in_kernel(call);
            let text = match is_assignment(&call) {
                true => {
                    format!("    t = x\n    {}\n    out[i + {row} * n] = t\n", call.replacen('x', "t", 1))
                }
                false => format!("    out[i + {row} * n] = {call}\n"),
            };
            script += &text;
        }
        let (len, domain) = (n * calls.len(), n / self.width);
        script
            + &format!(
                "out = Tensor(np.zeros({len}, dtype='{}'))\nrows{at}[{domain}](a, b, c, out)\nprint(*out.data().tolist())\n",
                self.output.dtype()
            )
    }

    /// The scalar, or a vector of it.
    fn of(&self, scalar: &str) -> String {
        match self.width {
            1 => scalar.to_owned(),
            width => format!("Vector({width}, {scalar})"),
        }
    }

    /// A call with the vectors of its type; `T` is its result type.
    fn in_kernel(&self, call: &str) -> String {
        let name = self.number.name();
        let vectors = [("vec2(", 2), ("vec3(", 3)];
        let call = call.replace("T(", &format!("{}(", self.of(&name)));
        vectors
            .iter()
            .fold(call, |call, (written, n)| call.replace(written, &format!("Vector({n}, {name})(")))
    }
}

/// Whether a row is a statement such as `x += y`.
fn is_assignment(call: &str) -> bool {
    let op = call.strip_prefix("x ").and_then(|rest| rest.strip_suffix("= y"));
    op.is_some_and(|op| !["=", "!", "<", ">"].contains(&op))
}

/// Rows as host code: expressions over `x`, `y` and `z`, and the conversion of the arguments.
pub struct HostRows<'r> {
    pub calls: Vec<&'r str>,
    pub args: Vec<Triple<String>>,
    pub prelude: String,
    /// Converts an argument: `int`, `np.float32`.
    pub make: &'static str,
    /// The width to which ints wrap around before printing: the host's are unbounded.
    pub bits: Option<u32>,
}

impl HostRows<'_> {
    fn script(&self) -> String {
        let mut script = format!("import math\nnan, inf = float('nan'), float('inf')\n{}\n", self.prelude);
        script += "args = [";
        for Triple([x, y, z]) in &self.args {
            write!(script, "({x}, {y}, {z}),").expect("a string takes all");
        }
        let make = self.make;
        let shown = match self.bits {
            Some(bits) => format!("result if isinstance(result, float) else int(result) % 2 ** {bits}"),
            None => "result if type(result).__name__.startswith('bool') else float(result)".to_owned(),
        };
        write!(
            script,
            "]\nargs = [tuple({make}(v) for v in triple) for triple in args]\n\
             def show(row, x, y, z):\n    \
                 try:\n        result = row(x, y, z)\n    \
                 except (ArithmeticError, ValueError):\n        return None\n    \
                 return result if result is None else {shown}\n"
        )
        .expect("a string takes all");
        for call in &self.calls {
            writeln!(script, "print(*[show(lambda x, y, z: {call}, *triple) for triple in args])")
                .expect("a string takes all");
        }
        script
    }

    pub fn on_machine(&self) -> Result<String, String> {
        run("cpu", &self.script())
    }

    /// The output of CPython for the same script; `None` if it is not installed, or lacks a module that the
    /// script imports.
    pub fn on_cpython(&self) -> Result<Option<String>, String> {
        let modules = if self.prelude.contains("numpy") { "import numpy" } else { "import math" };
        let is_there = Command::new("python3").args(["-c", modules]).stderr(Stdio::null()).status();
        if !is_there.is_ok_and(|status| status.success()) {
            return Ok(None);
        }
        let mut command = Command::new("python3");
        command.args(["-W", "ignore", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let mut stdin = child.stdin.take().expect("standard input is a pipe");
        // It reads all input before it prints.
        stdin.write_all(self.script().as_bytes()).map_err(|error| error.to_string())?;
        drop(stdin);
        let output = child.wait_with_output().map_err(|error| error.to_string())?;
        match output.status.success() {
            true => Ok(Some(String::from_utf8_lossy(&output.stdout).into_owned())),
            false => Err("CPython does not run the script".to_owned()),
        }
    }
}

/// Parses the lines of numbers that a script printed.
pub fn cells(printed: &str) -> Result<Cells, String> {
    printed.lines().map(|line| line.split_whitespace().map(parse).collect()).collect()
}

fn parse(text: &str) -> Result<Cell, String> {
    Ok(Some(match text {
        "None" => return Ok(None),
        "True" => Printed::Int(1),
        "False" => Printed::Int(0),
        text => match (text.parse(), text.parse()) {
            (Ok(int), _) => Printed::Int(int),
            (_, Ok(float)) => Printed::Float(float),
            _ => return Err(format!("`{text}` was printed where a number should be")),
        },
    }))
}

/// The output of a script, or the message of its error.
pub fn run(device: &str, script: &str) -> Result<String, String> {
    let message = |diagnostics: kps::Diagnostics| {
        let lines = diagnostics.iter().map(|diagnostic| {
            let label = diagnostic
                .labels
                .first()
                .map(|label| label.location.source.slice(label.location.span).to_owned());
            format!("{} at `{}`", diagnostic.message, label.unwrap_or_default())
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    let program = Program::parse("conformance.kps", script).map_err(message)?;
    let sink = Sink::default();
    let mut host = Host::builder().device(device).output(sink.clone()).build();
    host.run(&program).map_err(message)?;
    drop(host);
    Ok(sink.take())
}
