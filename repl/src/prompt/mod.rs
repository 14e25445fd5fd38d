//! The prompt: reads an entry, runs it, shows its value, and continues after every error.

mod commands;
mod highlight;
mod line;
mod paste;

use std::cell::RefCell;
use std::io::IsTerminal;
use std::path::Path;
use std::rc::Rc;

use kps::{Checking, Evaluated, Outcome, Session};

use crate::Failure;
use crate::args::HostOptions;
use crate::console::{print_error, report_all, show};
use crate::run::{self, Script, interrupt_on_ctrl_c};
use commands::Then;
use line::{Lines, Read};

/// Runs a prompt until the input ends or an entry exits; the exit code. A script runs first, and the prompt has its
/// names, however it ended.
pub fn start(script: Option<&Script>, options: HostOptions) -> Result<u8, Failure> {
    run::verify_device(options.device.clone())?;
    let (profile, trace) = (options.profile.clone(), options.trace.clone());
    let host = run::host(options, Checking::at_prompt());
    let (folder, args) = match script {
        Some(script) => (&*script.folder, script.args.clone()),
        None => (Path::new("."), vec![String::new()]),
    };
    let host = host.module_path(folder).args(args).build();
    interrupt_on_ctrl_c(&host);
    let session = Rc::new(RefCell::new(Session::new(host)));
    if let Some(script) = script {
        run_script(&session, script);
    }
    if std::io::stdin().is_terminal() {
        show(format!("kps {} (:help for help, Ctrl-D leaves)\n", env!("CARGO_PKG_VERSION")))?;
    }
    let mut lines = Lines::open(Rc::clone(&session))?;
    let code = run_entries(&mut lines, &session)?;
    session.borrow_mut().host().end()?;
    if let (Some(file), Some(profile)) = (profile, session.borrow_mut().host().profile()) {
        run::report_profile(&file, &profile)?;
    }
    if let Some(file) = trace {
        run::write_trace(&file, session.borrow_mut().host())?;
    }
    Ok(code)
}

/// Runs the script of `kps -i`. Neither an error nor an exit of it ends the prompt.
fn run_script(session: &RefCell<Session>, script: &Script) {
    let result = session.borrow_mut().run(&script.source());
    match result {
        Ok(Outcome::Finished) => {}
        Ok(Outcome::Exit(code)) => print_error(format_args!("the script exited with {code}\n")),
        Err(diagnostics) => report_all(&diagnostics),
    }
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

/// Runs typed or pasted text; returns the exit code if it requested the end.
fn run_entry(session: &RefCell<Session>, entry: &str) -> Result<Option<u8>, Failure> {
    for part in paste::entries(entry) {
        session.borrow_mut().host().interrupter().clear();
        let result = session.borrow_mut().eval(&part);
        match result {
            Ok(Evaluated::Nothing) => {}
            Ok(Evaluated::Repr(shown)) => show(shown + "\n")?,
            Ok(Evaluated::Exit(code)) => return Ok(Some(code as u8)),
            Err(diagnostics) => {
                report_all(&diagnostics);
                break;
            }
        }
    }
    Ok(None)
}
