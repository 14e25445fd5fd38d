//! The sources of entries: a terminal with editing, history and completion, or a pipe.

use std::borrow::Cow;
use std::cell::RefCell;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::rc::Rc;

use kps::Session;
use kps_syntax::{Completeness, completeness};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Editor};

use super::commands::{completions, is_command};
use super::highlight::highlight;
use super::paste::is_transcript;
use crate::Failure;
use crate::console::show;
use crate::render::Colour;
use crate::run::is_interrupt;

const FIRST: &str = ">>> ";
const NEXT: &str = "... ";

/// The source of entries.
pub enum Lines {
    Terminal(Box<Terminal>),
    Pipe(Rc<RefCell<Session>>),
}

/// The result of reading an entry.
pub enum Read {
    Entry(String),
    /// An empty one, or one that Ctrl-C threw away.
    Nothing,
    End,
}

impl Lines {
    pub fn open(session: Rc<RefCell<Session>>) -> Result<Lines, Failure> {
        match std::io::stdin().is_terminal() {
            true => Ok(Lines::Terminal(Box::new(Terminal::open(session)?))),
            false => Ok(Lines::Pipe(session)),
        }
    }

    pub fn read(&mut self) -> Result<Read, Failure> {
        match self {
            Lines::Terminal(terminal) => terminal.read(),
            Lines::Pipe(session) => read_pipe(session),
        }
    }
}

/// Reads lines until they form an entry, prompting for each. Answers inside of a pasted transcript are
/// skipped, up to the next prompt or empty line.
fn read_pipe(session: &RefCell<Session>) -> Result<Read, Failure> {
    let mut entry = String::new();
    let mut prompt = FIRST;
    loop {
        show(prompt)?;
        let line = match session.borrow_mut().host().read_line() {
            Ok(Some(line)) => line,
            Ok(None) if entry.trim().is_empty() => return Ok(Read::End),
            Ok(None) => return Ok(Read::Entry(entry)),
            Err(diagnostics) if is_interrupt(&diagnostics) => return Ok(Read::Nothing),
            Err(diagnostics) => return Err(diagnostics.into()),
        };
        entry.push_str(&line);
        if is_finished(&entry) {
            return Ok(if entry.trim().is_empty() { Read::Nothing } else { Read::Entry(entry) });
        }
        prompt = NEXT;
    }
}

/// Whether these lines, the last one with its end, form an entry. A transcript ends with an empty line,
/// because its answers may be anything.
fn is_finished(lines: &str) -> bool {
    match is_transcript(lines) {
        true => lines.ends_with("\n\n"),
        false if is_command(lines) => true,
        false => completeness(lines.strip_suffix('\n').unwrap_or(lines)) != Completeness::Incomplete,
    }
}

/// A terminal, with the session for completion.
pub struct Terminal {
    editor: Editor<Helper, FileHistory>,
    history: Option<PathBuf>,
}

impl Terminal {
    fn open(session: Rc<RefCell<Session>>) -> Result<Terminal, Failure> {
        let config = Config::builder().completion_type(CompletionType::List).auto_add_history(true).build();
        let editor = Editor::with_config(config);
        let mut editor =
            editor.map_err(|error| Failure::Usage(format!("no terminal to edit on: {error}")))?;
        editor.set_helper(Some(Helper { session, colour: Colour::for_stderr() }));
        let history = history_file();
        if let Some(history) = &history {
            // There is no history yet at the first start.
            let _ = editor.load_history(history);
        }
        Ok(Terminal { editor, history })
    }

    fn read(&mut self) -> Result<Read, Failure> {
        match self.editor.readline(FIRST) {
            Ok(text) if text.trim().is_empty() => Ok(Read::Nothing),
            Ok(text) => {
                self.save_history();
                Ok(Read::Entry(text + "\n"))
            }
            Err(ReadlineError::Interrupted) => Ok(Read::Nothing),
            Err(ReadlineError::Eof) => Ok(Read::End),
            Err(error) => Err(Failure::Usage(error.to_string())),
        }
    }

    /// After every entry, so that a crash of the terminal loses nothing.
    fn save_history(&mut self) {
        if let Some(history) = &self.history {
            // A history that cannot be written is no reason to stop working.
            let _ = self.editor.append_history(history);
        }
    }
}

/// `kps/history` in the user's folder for data.
fn history_file() -> Option<PathBuf> {
    let data = std::env::var_os("XDG_DATA_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let folder =
        data.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/share")))?.join("kps");
    std::fs::create_dir_all(&folder).ok()?;
    Some(folder.join("history"))
}

struct Helper {
    session: Rc<RefCell<Session>>,
    colour: Colour,
}

impl rustyline::Helper for Helper {}

impl Hinter for Helper {
    type Hint = String;
}

impl Validator for Helper {
    fn validate(&self, context: &mut ValidationContext) -> rustyline::Result<ValidationResult> {
        let text = context.input();
        Ok(match is_transcript(text) || is_command(text) || completeness(text) != Completeness::Incomplete {
            true => ValidationResult::Valid(None),
            false => ValidationResult::Incomplete,
        })
    }
}

impl Highlighter for Helper {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        match self.colour {
            Colour::Always => Cow::Owned(highlight(line)),
            Colour::Never => Cow::Borrowed(line),
        }
    }

    fn highlight_char(&self, _: &str, _: usize, _: CmdKind) -> bool {
        self.colour == Colour::Always
    }
}

impl Completer for Helper {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context) -> rustyline::Result<(usize, Vec<String>)> {
        let before = &line[..at];
        if is_command(before) && !before.contains(char::is_whitespace) {
            return Ok((0, completions(before)));
        }
        let start = before
            .rfind(|char: char| !(char.is_alphanumeric() || char == '_'))
            .map_or(0, |found| found + before[found..].chars().next().map_or(1, char::len_utf8));
        // If there is nothing to complete, tab indents.
        if before[before.rfind('\n').map_or(0, |end| end + 1)..].trim().is_empty() {
            return Ok((at, vec!["    ".to_owned()]));
        }
        Ok((start, self.session.borrow_mut().complete(before)))
    }
}
