//! Running a script and seeing what it prints.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use kps::{Host, Program};

#[derive(Clone, Default)]
struct Sink(Rc<RefCell<Vec<u8>>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs a script and compares what it printed, and the message that ended it if one did.
pub fn check(script: &str, expect: &str) {
    let sink = Sink::default();
    let program = Program::parse("test.kps", script).expect("the script is well formed");
    let mut host = Host::builder().device("cpu").output(sink.clone()).build();
    let result = host.run(&program);
    drop(host);
    let mut shown = String::from_utf8(sink.0.take()).expect("scripts print text");
    if let Err(diagnostics) = result {
        for diagnostic in diagnostics.iter() {
            let help = diagnostic.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
            shown += &format!("{}{help}\n", diagnostic.message);
        }
    }
    assert_eq!(shown, expect);
}
