//! Every file in `cases/ok` compiles to valid modules, for every target, with arrays in descriptors and by address. A
//! `.spvasm` file beside it is the expected module. Every file in `cases/errors` gives exactly the diagnostics in the
//! file beside it. `UPDATE=1` writes the expected files.

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use kps_kernel::workarounds::Driver;
use kps_kernel::{
    ExplainedFunction, Explanation, Matrices, Reach, RemarkKind, RemarkType, Target, Workarounds,
};
use kps_snapshots::{cases, compare};
use kps_spirv_tools::{Options, TargetEnv};
use kps_syntax::ast::StmtKind;
use kps_syntax::{Severity, Source};

use support::{ModuleEnv, compile, options, render, signature};

const LAVAPIPE: Workarounds = Workarounds::of(Driver::Lavapipe, None);
const NVIDIA: Workarounds = Workarounds::of(Driver::Nvidia, None);
const ROBUST: Target = Target { robust_access: true, ..Target::portable() };
/// A device with cooperative matrices.
const MATRICES: Target = Target {
    matrices: Matrices::of_all(32, 48 << 10),
    robust_access: true,
    scalar_layout: true,
    ..Target::portable()
};
/// With debug information.
const DEBUG: Target = Target { debug_info: true, workarounds: NVIDIA, ..Target::portable() };
const TARGETS: [Target; 6] = [
    Target::portable(),
    Target {
        scalar_layout: true,
        robust_access: true,
        float_controls: true,
        workarounds: LAVAPIPE.or(NVIDIA),
        f32_atomic_add: true,
        f64_atomic_add: true,
        matrices: Matrices::NONE,
        trace: None,
        checks: false,
        checks_results: false,
        debug_info: false,
    },
    ROBUST,
    Target { checks: true, checks_results: true, ..Target::portable() },
    MATRICES,
    DEBUG,
];

fn files(folder: &str) -> Vec<PathBuf> {
    cases(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(folder), &["kps"])
}

fn validate(words: &[u32], target: &Target) -> Result<(), String> {
    let options = Options { scalar_block_layout: target.scalar_layout, ..Options::default() };
    kps_spirv_tools::validate(words, TargetEnv::Vulkan_1_2, options)
}

#[test]
fn ok_cases_compile_and_validate() {
    let mut failures = Vec::new();
    for path in files("ok") {
        let text = fs::read_to_string(&path).expect("a case");
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        for target in &TARGETS {
            let (kernels, mut mistakes) = compile(&name, &text, target, Reach::Binding);
            // A kernel with warnings compiles.
            mistakes.retain(|found| found.severity == Severity::Error);
            if !mistakes.is_empty() || kernels.is_empty() {
                failures.push(format!("{name}: {} kernels\n{}", kernels.len(), render(&mistakes)));
                break;
            }
            let (again, _) = compile(&name, &text, target, Reach::Binding);
            for (kernel, again) in kernels.iter().zip(&again) {
                if kernel.module.words != again.module.words {
                    failures.push(format!("{name}: {} is not deterministic", kernel.name));
                }
                if let Err(message) = validate(&kernel.module.words, target) {
                    failures.push(format!("{name}: {} {target:?}\n{message}", kernel.name));
                }
            }
            let (by_address, _) = compile(&name, &text, target, Reach::Address);
            for kernel in &by_address {
                if let Err(message) = validate(&kernel.module.words, target) {
                    failures.push(format!("{name}: {} by address {target:?}\n{message}", kernel.name));
                }
            }
            // Modules with robust access, matrices or debug information have their own expected files.
            let expected = match target {
                _ if *target == Target::portable() => path.with_extension("spvasm"),
                _ if *target == ROBUST => path.with_extension("robust.spvasm"),
                _ if *target == MATRICES => path.with_extension("matrices.spvasm"),
                _ if *target == DEBUG => path.with_extension("debug.spvasm"),
                _ => continue,
            };
            if expected.exists() {
                let text: Vec<String> = kernels
                    .iter()
                    .filter_map(|kernel| kps_kernel::disassemble(&kernel.module.words))
                    .collect();
                failures.extend(compare(&expected, &(text.join("\n\n") + "\n")).err());
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn error_cases_give_their_diagnostics() {
    let mut failures = Vec::new();
    for path in files("errors") {
        let text = fs::read_to_string(&path).expect("a case");
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let (_, mistakes) = compile(&name, &text, &Target::portable(), Reach::Binding);
        assert!(!mistakes.is_empty(), "{name} has a mistake");
        assert!(
            mistakes.iter().all(|mistake| mistake.code != "kernel/internal"),
            "{name}: {}",
            render(&mistakes)
        );
        failures.extend(compare(&path.with_extension("txt"), &render(&mistakes)).err());
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The explanation of every kernel of a text, and its remarks as expected files have them: place, text, kind.
fn explain(file: &str, text: &str) -> Vec<(Explanation, String)> {
    let source = Source::new(file, text);
    let module = Rc::new(kps_syntax::parse(&source).0);
    let env = ModuleEnv::new(&module);
    let mut explained = Vec::new();
    for stmt in &module.body {
        let StmtKind::Function(def) = &stmt.kind else { continue };
        let Some(options) = options(def) else { continue };
        let template = kps_kernel::check(def, &source, &env, options).expect("a case has no mistakes");
        let signature = signature(&template, &env, text);
        let found = kps_kernel::explain(&template, &env, &signature, &Target::portable());
        let found = found.unwrap_or_else(|mistakes| panic!("{}", render(&mistakes.0)));
        let rendered = found.functions.iter().map(render_remarks).collect();
        explained.push((found, rendered));
    }
    explained
}

fn render_remarks(function: &ExplainedFunction) -> String {
    let mut text = format!("{}{}\n", function.name, function.signature);
    for remark in &function.remarks {
        let (line, column) = function.source.line_column(remark.span.start);
        let slice = function.source.slice(remark.span).lines().next().unwrap_or("");
        let kind = match &remark.kind {
            RemarkKind::Type(ty) => format!("Type({:?})", ty.to_string()),
            RemarkKind::Assigned(ty @ RemarkType::Weak(_)) => format!("Assigned({:?})", format!("weak {ty}")),
            RemarkKind::Assigned(ty) => format!("Assigned({:?})", ty.to_string()),
            kind => format!("{kind:?}"),
        };
        text += &format!("  {line}:{column} `{slice}` {kind}\n");
    }
    text
}

#[test]
fn explained_cases_give_their_remarks() {
    let mut failures = Vec::new();
    for path in files("explain") {
        let text = fs::read_to_string(&path).expect("a case");
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let found = explain(&name, &text);
        let (kernels, _) = compile(&name, &text, &Target::portable(), Reach::Binding);
        for ((explanation, _), kernel) in found.iter().zip(&kernels) {
            assert_eq!(explanation.module.words, kernel.module.words, "{name}: explaining changes nothing");
        }
        let found: String = found.into_iter().map(|(_, rendered)| rendered).collect();
        failures.extend(compare(&path.with_extension("txt"), &found).err());
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The kind of a mistake: the message without the code in backquotes and the numbers.
fn kind_of(message: &str) -> String {
    let outside = message.split('`').step_by(2).collect::<Vec<_>>().join("_");
    outside.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect()
}

#[test]
fn mistakes_of_learners_have_a_place_and_a_help() {
    let mut kinds = BTreeSet::new();
    for path in files("errors") {
        let expected = fs::read_to_string(path.with_extension("txt")).unwrap_or_default();
        let lines: Vec<&str> = expected.lines().collect();
        let starts: Vec<usize> = (0..lines.len()).filter(|at| !lines[*at].starts_with("  ")).collect();
        for (nth, start) in starts.iter().enumerate() {
            let end = starts.get(nth + 1).copied().unwrap_or(lines.len());
            let (head, rest) = (lines[*start], &lines[start + 1..end]);
            let message = head.split_once(": ").map_or(head, |(_, message)| message);
            assert!(!message.contains("invalid"), "{}: say what would be valid: {head}", path.display());
            assert!(!rest.is_empty(), "{}: no place: {head}", path.display());
            if rest.iter().any(|line| line.starts_with("  help: ")) {
                kinds.insert(kind_of(message));
            }
        }
    }
    assert!(kinds.len() >= 80, "{} kinds of mistakes: {kinds:#?}", kinds.len());
}

/// An environment that cancels its compilation when it is asked for the n-th time.
struct Cancelling {
    env: ModuleEnv,
    n_left: std::cell::Cell<u32>,
}

impl kps_kernel::KernelEnv for Cancelling {
    fn get(&self, name: &str) -> Option<kps_kernel::EnvValue> {
        self.env.get(name)
    }

    fn names(&self) -> Vec<kps_syntax::ast::Name> {
        self.env.names()
    }

    fn identity(&self) -> usize {
        self.env.identity()
    }

    fn is_cancelled(&self) -> bool {
        self.n_left.set(self.n_left.get().saturating_sub(1));
        self.n_left.get() == 0
    }
}

#[test]
fn compiling_ends_where_it_is_cancelled() {
    let lines = "    a[0] = a[1] + a[2] * a[3]\n".repeat(1000);
    let source = Source::new("long.kps", format!("@kernel\ndef k(a: Array[f32]):\n{lines}"));
    let module = Rc::new(kps_syntax::parse(&source).0);
    let StmtKind::Function(def) = &module.body[0].kind else { panic!("it is a function") };
    let options = options(def).expect("it is a kernel");
    for n_asked in [1, 10, 50] {
        let env = Cancelling { env: ModuleEnv::new(&module), n_left: std::cell::Cell::new(n_asked) };
        let template = kps_kernel::check(def, &source, &env, options).expect("it calls nothing");
        let signature = kps_kernel::Signature::declared(&template, &env).expect("all is declared");
        let found = kps_kernel::specialize(&template, &env, &signature, &Target::portable());
        let found = found.expect_err("it was cancelled");
        let codes: Vec<&str> = found.iter().map(|found| found.code).collect();
        assert_eq!(codes, [kps_kernel::CANCELLED], "{n_asked}");
    }
}

#[test]
fn every_unknown_name_of_many_is_reported() {
    let names: String = (0..8000).map(|at| format!("    a[0] = unknown_{at}\n")).collect();
    let text = format!("@kernel\ndef k(a: Array[f32]):\n{names}");
    let (_, mistakes) = compile("many.kps", &text, &Target::portable(), Reach::Binding);
    assert_eq!(mistakes.len(), 8000);
}
