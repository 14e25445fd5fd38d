//! Runs a script and checks its output.

use kps::{Host, Program};
use kps_snapshots::Sink;

/// Runs a script and compares its output, and the message of its error if there is one.
pub fn check(script: &str, expect: &str) {
    let sink = Sink::default();
    let program = Program::parse("test.kps", script).expect("the script is well formed");
    let mut host = Host::builder().device("cpu").output(sink.clone()).build();
    let result = host.run(&program);
    drop(host);
    let mut shown = sink.take();
    if let Err(diagnostics) = result {
        for diagnostic in diagnostics.iter() {
            let help = diagnostic.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
            shown += &format!("{}{help}\n", diagnostic.message);
        }
    }
    assert_eq!(shown, expect);
}
