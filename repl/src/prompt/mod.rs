//! The prompt: reads an entry, runs it, shows its value, and goes on after every error.

mod commands;
mod highlight;
mod line;
mod paste;

use std::cell::RefCell;
use std::io::{IsTerminal, Write};
use std::rc::Rc;

use kps::device::Checks;
use kps::{Checking, Evaluated, Session};

use crate::args::HostOptions;
use crate::run::{self, interrupt_on_ctrl_c};
use crate::{Failure, tell_all};
use commands::Then;
use line::{Lines, Read};

/// Runs a prompt until the input ends or a script exits; the exit code.
pub fn start(options: HostOptions) -> Result<u8, Failure> {
    let profile = options.profile.clone();
    let mut host = run::host(options.clone());
    // A launch is checked or counted, not both.
    if options.check.is_none() && options.seed.is_none() && options.profile.is_none() {
        host = host.checked(Checking::Small(Checks::usual()));
    }
    let mut host = host.module_path(".").args([String::new()]).build();
    interrupt_on_ctrl_c(&host);
    if std::io::stdin().is_terminal() {
        println!("kps {} (:help for help, Ctrl-D leaves)", env!("CARGO_PKG_VERSION"));
    }
    host.flush()?;
    let session = Rc::new(RefCell::new(Session::new(host)));
    let mut lines = Lines::open(Rc::clone(&session))?;
    let code = run_entries(&mut lines, &session)?;
    session.borrow_mut().host().end()?;
    if let (Some(file), Some(profile)) = (profile, session.borrow_mut().host().profile()) {
        run::tell_profile(&file, &profile)?;
    }
    Ok(code)
}

/// Entry after entry, until the input ends or one of them exits.
fn run_entries(lines: &mut Lines, session: &RefCell<Session>) -> Result<u8, Failure> {
    loop {
        let entry = match lines.read()? {
            Read::Entry(entry) => entry,
            Read::Nothing => continue,
            Read::End => return Ok(0),
        };
        if commands::is_command(&entry) {
            if let Then::Leave = commands::run(&mut session.borrow_mut(), &entry)? {
                return Ok(0);
            }
        } else if let Some(code) = run_entry(session, &entry)? {
            return Ok(code);
        }
    }
}

/// Runs what was typed or pasted; the exit code when it asked for the end.
fn run_entry(session: &RefCell<Session>, entry: &str) -> Result<Option<u8>, Failure> {
    for part in paste::entries(entry) {
        session.borrow_mut().host().interrupter().clear();
        let result = session.borrow_mut().eval(&part);
        match result {
            Ok(Evaluated::Nothing) => {}
            Ok(Evaluated::Repr(shown)) => writeln!(std::io::stdout(), "{shown}")?,
            Ok(Evaluated::Exit(code)) => return Ok(Some(code as u8)),
            Err(diagnostics) => {
                tell_all(&diagnostics);
                break;
            }
        }
    }
    Ok(None)
}
