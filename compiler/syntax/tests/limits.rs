//! No input overflows the stack, panics or takes long, and excessive depth is reported once.

use std::path::Path;
use std::time::{Duration, Instant};

use kps_syntax::{Source, completeness, dump, parse, tokens};

const MANY: usize = 100_000;

/// Parses `text` and compares the codes of its diagnostics, dropping the tree on this small stack.
fn check(name: &str, text: String, expect: &[&str]) {
    let start = Instant::now();
    let (module, diagnostics) = parse(&Source::new(name, text.as_str()));
    let codes: Vec<&str> = diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
    assert_eq!(codes, expect, "{name}");
    dump(&module);
    completeness(&text);
    tokens(&Source::new(name, text));
    assert!(start.elapsed() < Duration::from_secs(20), "{name} took {:?}", start.elapsed());
}

fn nested(open: &str, middle: &str, close: &str, n: usize) -> String {
    format!("x = {}{middle}{}\n", open.repeat(n), close.repeat(n))
}

const TOO_DEEP: &[&str] = &["syntax/too-deep"];
const BRACKETS: &[&str] = &["syntax/too-many-brackets"];

#[test]
fn brackets() {
    check("parens", nested("(", "1", ")", MANY), BRACKETS);
    check("open parens", nested("(", "", "", MANY), BRACKETS);
    check("lists", nested("[", "", "", MANY), BRACKETS);
    check("calls", nested("f(", "1", ")", MANY), BRACKETS);
    check("dicts", nested("{1:", "1", "}", MANY), BRACKETS);
    check("199 parens", nested("(", "1", ")", 199), &[]);
    check("199 lists", nested("[", "1", "]", 199), &[]);
}

#[test]
fn chains_that_nest() {
    check("sum", format!("x = {}1\n", "1 + ".repeat(MANY)), TOO_DEEP);
    check("power", format!("x = {}1\n", "1 ** ".repeat(MANY)), TOO_DEEP);
    check("attributes", format!("x{}\n", ".a".repeat(MANY)), TOO_DEEP);
    check("calls", format!("f{}\n", "()".repeat(MANY)), TOO_DEEP);
    check("subscripts", format!("a{}\n", "[0]".repeat(MANY)), TOO_DEEP);
    check("not", format!("x = {}y\n", "not ".repeat(MANY)), TOO_DEEP);
    check("minus", format!("x = {}y\n", "- ".repeat(MANY)), TOO_DEEP);
    check("lambda", format!("x = {}1\n", "lambda: ".repeat(MANY)), TOO_DEEP);
    check("lambda default", format!("x = {}1{}\n", "lambda y=".repeat(MANY), ": 1".repeat(MANY)), TOO_DEEP);
    check("ternary", format!("x = {}1\n", "a if b else ".repeat(MANY)), TOO_DEEP);
    check("await", format!("async def f():\n x = {}1\n", "await ".repeat(MANY)), TOO_DEEP);
}

#[test]
fn chains_that_are_flat() {
    check("and", format!("x = {}y\n", "y and ".repeat(MANY)), &[]);
    check("compare", format!("x = {}y\n", "y < ".repeat(MANY)), &[]);
    check("strings", format!("x = {}\n", "'a' ".repeat(MANY)), &[]);
    check("elif", format!("if a: b\n{}", "elif a: b\n".repeat(MANY)), &[]);
    check("targets", format!("{}1\n", "x = ".repeat(MANY)), &[]);
    check("arguments", format!("f({})\n", "a, ".repeat(MANY)), &[]);
    check("or pattern", format!("match x:\n case {}1: y\n", "1 | ".repeat(MANY)), &[]);
    check("comprehension", format!("[x {}]\n", "for x in y ".repeat(MANY)), &[]);
    check("decorators", format!("{}def f(): pass\n", "@a\n".repeat(MANY)), &[]);
    check("semicolons", format!("{}x\n", "x; ".repeat(MANY)), &[]);
}

#[test]
fn blocks_and_fstrings() {
    let blocks = |n: usize| (0..n).map(|level| format!("{}if x:\n", " ".repeat(level))).collect::<String>();
    check("99 blocks", format!("{}{}y\n", blocks(99), " ".repeat(99)), &[]);
    check("blocks", format!("{}y\n", blocks(1000)), &["syntax/too-many-indents"]);
    check("fstrings", format!("x = {}1{}\n", "f'{".repeat(MANY), "}'".repeat(MANY)), &["syntax/fstring"]);
    check("70 fstrings", format!("x = {}1{}\n", "f'{".repeat(70), "}'".repeat(70)), &[]);
    check("specs", format!("x = f'{{{}1{}'\n", "1:{".repeat(MANY), "}".repeat(MANY)), &["syntax/fstring"]);
    check("patterns", format!("match x:\n case {}y{}: z\n", "(".repeat(MANY), ")".repeat(MANY)), BRACKETS);
    let names: String = (0..150).map(|level| format!(" as z{level})")).collect();
    check("as patterns", format!("match x:\n case {}y{names}: z\n", "(".repeat(150)), &[]);
}

/// Every prefix of every case, and cases with bytes exchanged: nothing may panic or hang.
#[test]
fn damaged_cases() {
    // A line that ends in a lone carriage return, a letter of two bytes before it.
    survive("é\r x = 1\ny ; 2\n".to_owned());
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let signs: Vec<char> = "()[]{}'\"\\\n\r\t :;,.=+-*/@!?<>#fbr0x1_aé\u{200b}if".chars().collect();
    for folder in ["ok", "errors"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(folder);
        let entries = std::fs::read_dir(folder).expect("the folder of cases is there");
        let mut paths: Vec<_> =
            entries.map(|entry| entry.expect("the folder can be listed").path()).collect();
        // The damage is the same on every machine.
        paths.sort();
        for path in paths {
            if path.extension().is_none_or(|extension| extension != "kps") {
                continue;
            }
            let text: Vec<char> = std::fs::read_to_string(&path).expect("cases are UTF-8").chars().collect();
            for end in 0..text.len() {
                survive(text[..end].iter().collect());
            }
            for _ in 0..200 {
                let mut damaged = text.clone();
                for _ in 0..=random(4) {
                    let at = random(damaged.len());
                    match random(3) {
                        0 => damaged[at] = signs[random(signs.len())],
                        1 => damaged.insert(at, signs[random(signs.len())]),
                        _ if damaged.len() > 1 => {
                            damaged.remove(at);
                        }
                        _ => {}
                    }
                }
                survive(damaged.iter().collect());
            }
        }
    }
}

fn survive(text: String) {
    let source = Source::new("damaged", text);
    let (module, diagnostics) = parse(&source);
    dump(&module);
    completeness(source.text());
    let classed = tokens(&source);
    assert!(classed.windows(2).all(|pair| pair[0].0.end <= pair[1].0.start), "{:?}", source.text());
    for diagnostic in diagnostics.iter() {
        assert!(diagnostic.help.is_some() && !diagnostic.labels.is_empty(), "{diagnostic:?}");
        for label in &diagnostic.labels {
            let range = label.location.span.range();
            assert!(source.text().get(range).is_some(), "{diagnostic:?} in {:?}", source.text());
        }
    }
}
