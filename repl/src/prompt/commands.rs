//! Commands to the prompt itself: lines that begin with a colon.

use kps::Session;
use kps::inspect::nearest;

use crate::Failure;
use crate::console::{print_error, report_all, show};
use crate::visible::visible;

/// The commands, with their descriptions.
const COMMANDS: [(&str, &str); 4] = [
    (
        ":explain NAME[:LINE]",
        "what a kernel means: types, conversions, tests, what devices lack; or all of a line",
    ),
    (":profile", "what kernels have cost so far, where the prompt was started with `kps --profile`"),
    (":help", "this list; `help(x)` describes a value"),
    (":quit", "leaves, as `exit()` and Ctrl-D do"),
];

/// Whether an entry is for the prompt.
pub fn is_command(entry: &str) -> bool {
    entry.trim_start().starts_with(':')
}

/// Commands with this prefix.
pub fn completions(head: &str) -> Vec<String> {
    names().filter(|name| name.starts_with(head)).map(str::to_owned).collect()
}

fn names() -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().map(|(usage, _)| usage.split(' ').next().unwrap_or(usage))
}

/// What the prompt does after a command.
pub enum Then {
    GoOn,
    Leave,
}

pub fn run(session: &mut Session, entry: &str) -> Result<Then, Failure> {
    let entry = entry.trim();
    let (command, rest) = entry.split_once(char::is_whitespace).unwrap_or((entry, ""));
    match (command, rest.trim()) {
        (":explain", "") => complain("`:explain` takes the name of a kernel: `:explain saxpy`"),
        (":explain", kernel) => explain(session, kernel)?,
        (":profile", "") => match session.host().profile() {
            Some(profile) => show(&*visible(&profile.text()))?,
            None => complain("nothing is counted here: start the prompt with `kps --profile`"),
        },
        (":help", "") => help()?,
        (":quit", "") => return Ok(Then::Leave),
        (":profile" | ":help" | ":quit", _) => complain(&format!("`{command}` takes nothing behind it")),
        _ => complain(&unknown(command)),
    }
    Ok(Then::GoOn)
}

fn unknown(command: &str) -> String {
    match nearest(command, names()) {
        Some(meant) => format!("there is no command `{command}`; did you mean `{meant}`?"),
        None => format!("there is no command `{command}`; `:help` lists those there are"),
    }
}

/// `saxpy`, `saxpy:3`, `module.saxpy`.
fn explain(session: &mut Session, kernel: &str) -> Result<(), Failure> {
    let (name, line) = match kernel.rsplit_once(':') {
        Some((name, line)) => match line.parse() {
            Ok(line) => (name, Some(line)),
            Err(_) => {
                complain(&format!("`{line}` is not the number of a line: write `:explain {name}:3`"));
                return Ok(());
            }
        },
        None => (kernel, None),
    };
    match session.explain(name, line) {
        Ok(text) => show(&*visible(&text))?,
        Err(diagnostics) => report_all(&diagnostics),
    }
    Ok(())
}

fn help() -> Result<(), Failure> {
    let width = COMMANDS.iter().map(|(usage, _)| usage.len()).max().unwrap_or(0);
    for (usage, meaning) in COMMANDS {
        show(format!("{usage:width$}  {meaning}\n"))?;
    }
    Ok(())
}

fn complain(sentence: &str) {
    print_error(format_args!("{}\n", visible(sentence)));
}
