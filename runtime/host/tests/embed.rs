//! The embedding API and the prompt's session, as a Rust host sees them.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use kps::device::Checks;
use kps::{Checking, Evaluated, Host, Outcome, Program, Session};
use kps_snapshots::Sink;

fn program(text: &str) -> Program {
    Program::parse("job.kps", text).expect("the script compiles")
}

fn message(text: &str, host: &mut Host) -> String {
    match Program::parse("job.kps", text).and_then(|program| host.run(&program)) {
        Ok(outcome) => format!("{outcome:?}"),
        Err(diagnostics) => diagnostics.iter().next().expect("an error says why").message.clone(),
    }
}

#[test]
fn values_and_functions_go_both_ways() {
    let mut host = Host::builder().output(std::io::sink()).build();
    host.register("area", |width: f64, height: f64| width * height);
    host.register("parse", |text: String| text.parse::<i64>());
    host.set("items", vec![1i64, 2, 3]);
    host.run(&program(
        "def step(n, x):\n    return [area(i, x) for i in range(n)]\ntotal = 0\nfor i in items: total += i\n",
    ))
    .expect("the script runs");
    assert_eq!(host.get::<i64>("total").expect("it is there"), 6);
    let rows: Vec<f32> = host.call("step", (3, 0.5)).expect("the call works");
    assert_eq!(rows, [0.0, 0.5, 1.0]);
    let pair: (String, Option<i64>) =
        host.call("parse", ("12",)).map(|n: i64| (n.to_string(), None)).expect("it parses");
    assert_eq!(pair, ("12".to_owned(), None));
    assert_eq!(message("area(1)", &mut host), "TypeError: area() takes exactly 2 arguments (1 given)");
    assert_eq!(message("area('x', 1)", &mut host), "TypeError: expected float, got str");
    assert_eq!(message("parse('q')", &mut host), "RuntimeError: invalid digit found in string");
    assert!(host.call::<i64>("missing", ()).is_err());
}

#[test]
fn limits_end_what_never_ends() {
    let endless = "while True:\n    try:\n        while True: pass\n    except: pass\n";
    for endless in [endless, "while True:\n    try:\n        while True: pass\n    finally: continue\n"] {
        let mut fueled = Host::builder().fuel(10_000).build();
        assert_eq!(message(endless, &mut fueled), "TimeoutError: the script used up its fuel");
    }
    let mut timed = Host::builder().time_limit(Duration::from_millis(20)).build();
    let ended = "try:\n    while True: pass\nexcept Exception: pass\nfinally: done = True\n";
    assert_eq!(message(ended, &mut timed), "TimeoutError: the script ran past its time limit");
    assert!(timed.get::<bool>("done").expect("it is there"), "a host goes on behind a limit");
    timed.run(&program("done = 3")).expect("there is time again");
    let mut host = Host::builder().build();
    let interrupter = host.interrupter();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        interrupter.interrupt();
    });
    assert_eq!(message("while True: pass", &mut host), "KeyboardInterrupt");
}

#[test]
fn a_host_hears_of_the_mistakes_of_kernels() {
    let reported = Rc::new(RefCell::new(Vec::new()));
    let heard = reported.clone();
    let mut host = Host::builder()
        .device("cpu")
        .checked(Checking::Always(Checks::usual()))
        .on_finding(move |finding| heard.borrow_mut().push((finding.code, finding.message.clone())))
        .build();
    host.run(&program(
        "@kernel\ndef shift(x: Array[f32], y: Array[f32]):\n    y[global_id.x] = x[global_id.x + 1]\n\
         x, y = Tensor([1.0, 2.0, 3.0]), Tensor([0.0, 0.0, 0.0])\nshift(x, y)\nshift(x, y)\n",
    ))
    .expect("mistakes of kernels are no exceptions");
    let message = "index 3 is out of range for `x`, which has 3 elements".to_owned();
    assert_eq!(*reported.borrow(), [("checked/out-of-bounds", message)]);
    assert_eq!((host.findings().n_mistakes(), host.findings().n_times()), (1, 2));
}

#[test]
fn a_script_may_exit() {
    let mut host = Host::builder().build();
    assert_eq!(host.run(&program("raise SystemExit(3)")).expect("leaving is no error"), Outcome::Exit(3));
    assert_eq!(host.run(&program("raise SystemExit")).expect("leaving is no error"), Outcome::Exit(0));
}

#[test]
fn more_values_than_a_frame_holds_are_an_error() {
    let names = (0..70_000).map(|at| format!("x{at}")).collect::<Vec<_>>().join(", ");
    for text in [format!("[{names}] = y"), format!("match y:\n    case [{names}]: pass")] {
        let message = message(&text, &mut Host::builder().build());
        assert_eq!(message, "this code has too many values at once");
    }
}

#[test]
fn deep_recursion_is_an_error_on_any_stack() {
    for n_bytes in [128 << 10, 256 << 10, 1 << 20, 2 << 20, 8 << 20] {
        let thread = std::thread::Builder::new().stack_size(n_bytes).spawn(recurse_in_many_ways);
        thread.expect("a thread starts").join().expect("nothing overflows");
    }
}

fn recurse_in_many_ways() {
    let mut host = Host::builder().recursion_limit(100_000).build();
    let expected = "RecursionError: maximum recursion depth exceeded";
    for text in [
        "def f(n): return f(n + 1)\nf(0)",
        "class R:\n    def __repr__(self): return repr(self)\nrepr(R())",
        "class R:\n    def __add__(self, o): return self + o\nR() + 1",
        "def g(n): yield from g(n + 1)\nfor x in g(0): pass",
        "a = []\nfor i in range(100000): a = [a]\nrepr(a)",
    ] {
        assert_eq!(message(text, &mut host), expected, "{text}");
    }
    // A direct caller of the machine has the thread's own stack.
    host.run(&program("class R:\n    def __repr__(self): return repr(self)\ndef again(): return repr(R())"))
        .expect("it only defines");
    let again = host.get("again").expect("it is there");
    assert!(host.vm().call(&again, &[]).is_err());
    let nested = format!("x = {}1{}", "(".repeat(5000), ")".repeat(5000));
    assert!(Program::parse("job.kps", nested).is_err(), "the depth of a text is bounded");
}

#[test]
fn a_host_has_streams_of_its_own() {
    let (output, errors) = (Sink::default(), Sink::default());
    let mut host = Host::builder()
        .output(output.clone())
        .error_output(errors.clone())
        .input("first\nsecond\r\n\nlast".as_bytes())
        .build();
    let script = "import sys, logging\nprint(input('name? '))\nprint([line for line in sys.stdin])\n\
                  sys.stderr.write('careful\\n')\nlogging.warning('odd')\n\
                  print('too', file=sys.stderr)\nprint(sys.stdin.isatty(), sys.stderr.isatty())\n\
                  try: input()\nexcept EOFError as e: print(e)\nsys.exit('over')";
    assert_eq!(host.run(&program(script)).expect("leaving is no error"), Outcome::Exit(1));
    let printed = "name? first\n['second\\n', '\\n', 'last']\nFalse False\nEOF when reading a line\n";
    assert_eq!(output.take(), printed);
    assert_eq!(errors.take(), "careful\nWARNING:root:odd\ntoo\nover\n");
}

#[test]
fn a_host_has_a_working_folder_of_its_own() {
    let folder = std::env::temp_dir().join(format!("kps-embed-{}", std::process::id()));
    for name in ["one", "two"] {
        std::fs::create_dir_all(folder.join(name).join("below")).expect("a folder can be made");
        let module = folder.join(name).join("below").join("where.kps");
        std::fs::write(module, format!("here = '{name}'\n")).expect("a file can be written");
    }
    let folder = folder.canonicalize().expect("it was made");
    let before = std::env::current_dir().expect("there is one");
    let host = |name: &str| {
        let sink = Sink::default();
        let host = Host::builder().module_path(".").output(sink.clone()).working_folder(folder.join(name));
        (host.build(), sink)
    };
    let (mut one, mut two) = (host("one"), host("two"));
    for (host, sink) in [&mut one, &mut two] {
        let script = "import os\nprint(os.listdir('.'))\nos.chdir('below')\nprint(os.getcwd())\n";
        host.run(&program(script)).expect("the folder is there");
        let name = if sink.take().contains("/one/") { "one" } else { "two" };
        let script = "import where, np, kp\nfrom pathlib import Path\nopen('a.txt', 'w').write(where.here)\n\
                      np.save('b.npy', np.arange(3))\nkp.write_png('c.png', np.zeros((2, 2)))\n\
                      print(Path('a.txt').read_text(), Path.cwd().name, np.load('b.npy'))\n\
                      os.rename('b.npy', '../b.npy')\nos.remove('a.txt')\nprint(sorted(os.listdir()))\n";
        let script = script.replace("where, np, kp", "where, kp\nimport numpy as np");
        host.run(&program(&script)).expect("its files are there");
        assert_eq!(sink.take(), format!("{name} below [0 1 2]\n['c.png', 'where.kps']\n"));
        assert!(folder.join(name).join("b.npy").exists());
        let missing = "FileNotFoundError: [Errno 2] No such file or directory: 'nowhere'";
        assert_eq!(message("os.chdir('nowhere')", host), missing);
        let no_folder = "NotADirectoryError: [Errno 20] Not a directory: 'c.png'";
        assert_eq!(message("os.chdir('c.png')", host), no_folder);
    }
    assert_eq!(std::env::current_dir().expect("there is one"), before);
    std::fs::remove_dir_all(&folder).expect("it was made");
}

#[test]
fn objects_that_hold_each_other_end_with_their_host() {
    let scripts = [
        "class A: pass\na = A()\na.a = a\na.f = probe",
        "class A: pass\ndef f():\n    a = A()\n    a.a = a\n    a.f = probe\nf()",
        "def f():\n    held = probe\n    def g(): return g, held\n    g()\nf()",
        "a = [probe]\na.append(a)\nb = {}\nb[1] = (b, a)",
        "class A:\n    f = probe\n    def __init__(self): super().__init__()\n    def me(self): return A\nA().me()",
        "def f():\n    class A:\n        f = probe\n        def again(self): return A().again\n    A().again()\nf()",
        "class A:\n    def go(self, n):\n        self.f = probe\n        if n: self.go(n - 1)\nA().go(3)\nA = None",
        "def g():\n    me = yield\n    held = probe\n    yield me\nx = g()\nnext(x)\nx.send(x)",
        "from collections import deque, namedtuple\nclass A: pass\na = A()\na.q = deque([a])\na.f = probe",
        "from enum import Enum\nclass E(Enum):\n    A = 1\n    def f(self): return E\n\
         E.A.f()\nclass H: pass\nh = H()\nh.e, h.h, h.f = E.A, h, probe",
        "try:\n    raise ValueError(probe)\nexcept ValueError as e:\n    kept = e\n    e.me = e",
        "p = property(lambda self: probe)\nclass A: q = p\na = A()\nm = a.__init__\na.m = m",
    ];
    for script in scripts {
        let alive = Rc::new(());
        let retained = alive.clone();
        let mut host = Host::builder().output(std::io::sink()).build();
        host.register("probe", move || drop(retained.clone()));
        host.run(&program(script)).expect(script);
        drop(host);
        assert_eq!(Rc::strong_count(&alive), 1, "{script}");
    }
}

#[test]
fn what_an_embedder_holds_stays_whole() {
    let mut host = Host::builder().output(std::io::sink()).build();
    let script = "class A:\n    def twice(self): return [self.n, self.n]\na = A()\na.me, a.n = a, 4\nkept = [a]\nlost = [a, kept]";
    host.run(&program(script)).expect("the script runs");
    let kept: kps::Value = host.get("kept").expect("it is there");
    drop(host);
    let mut other = Host::builder().output(std::io::sink()).build();
    other.set("kept", kept);
    other.run(&program("total = sum(kept[0].me.twice())")).expect("it is whole");
    assert_eq!(other.get::<i64>("total").expect("it is there"), 8);
}

#[track_caller]
fn check(session: &mut Session, entry: &str, expect: &str) {
    let shown = match session.eval(entry) {
        Ok(Evaluated::Nothing) => String::new(),
        Ok(Evaluated::Repr(text)) => text,
        Ok(Evaluated::Exit(code)) => format!("exit {code}"),
        Err(diagnostics) => diagnostics.iter().next().expect("an error says why").message.clone(),
    };
    assert_eq!(shown, expect, "{entry}");
}

#[test]
fn a_session_keeps_its_names() {
    let mut session = Session::new(Host::builder().output(std::io::sink()).build());
    check(&mut session, "x = 40", "");
    check(&mut session, "x + 2", "42");
    check(&mut session, "_ * 2", "84");
    check(&mut session, "def f():\n    return x\n", "");
    check(&mut session, "f()", "40");
    check(&mut session, "'text'", "'text'");
    check(&mut session, "y = 1; 1 / 0; z = 2", "ZeroDivisionError: division by zero");
    check(&mut session, "y", "1");
    check(&mut session, "z", "NameError: name 'z' is not defined");
    assert!(session.is_complete("x + 1"));
    assert!(!session.is_complete("def f():"));
    assert!(!session.is_complete("(1,"));
    check(&mut session, "None", "");
    check(&mut session, "print(1)", "");
    check(&mut session, "raise SystemExit(2)", "exit 2");
    assert!(session.complete("pri").contains(&"print".to_owned()));
    assert!(session.complete("1 + le").contains(&"len".to_owned()));
    check(&mut session, "class Box:\n    def open(self): pass\nbox = Box()\nbox.width = 3\n", "");
    assert_eq!(session.complete("box."), ["open", "width"]);
    assert_eq!(session.complete("box.wi"), ["width"]);
    assert_eq!(
        session.complete("@kernel\ndef k(x: Array[f32]):\n    x[0] = atomic_comp"),
        ["atomic_compare_exchange"]
    );
    assert_eq!(session.complete("@kernel\ndef k(x: Array[f32]):\n    x[0] = math.lgam"), ["lgamma"]);
    assert!(session.complete("atomic_comp").is_empty());
}

#[test]
fn a_session_completes_members_by_the_types_in_a_kernel() {
    let mut session = Session::new(Host::builder().output(std::io::sink()).build());
    let setup = "@struct\nclass Ball:\n    at: vec2\n    speed: f32\n    def far(self): return self.at.x > 9\n\
                 def moved(v):\n    return v * 2\n";
    check(&mut session, setup, "");
    let cases = [
        ("v = vec3(x[0], 1, 2)\n    x[0] = v.", &["x", "y", "z"][..]),
        ("v = moved(vec2(1, 2))\n    for i in range(3):\n        x[i] = 2 * v.", &["x", "y"]),
        ("b = Ball(vec2(1, 2), n)\n    x[0] = b.", &["at", "far", "speed"]),
        ("b = Ball(vec2(1, 2), n)\n    x[0] = b.at.", &["x", "y"]),
        ("x[0] = x.s", &["shape", "size"]),
        ("p = points[0].", &["x", "y", "z"]),
        ("m = mat3(n)\n    x[0] = (m @ vec3(n)).", &["x", "y", "z"]),
        ("x[0] = unknown + 1\n    v = vec2(1)\n    x[1] = v.", &["x", "y"]),
        ("x[0] = n.", &[]),
        ("x[0] = open.", &[]),
    ];
    for (line, expect) in cases {
        let entry = format!("@kernel\ndef k(x: Array[f32], points: Array[vec3], n: f32, open):\n    {line}");
        assert_eq!(session.complete(&entry), expect, "{entry}");
    }
}
