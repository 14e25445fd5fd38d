//! Invalid shaders, each with its diagnostics in a file beside it; and the shaders of the suite, each of
//! which must become a valid module. `UPDATE=1` writes the diagnostics.

use std::path::{Path, PathBuf};

use kps_foreign::{Language, Stage, compile};
use kps_snapshots::{cases, compare};
use kps_spirv_tools::{Options, TargetEnv};
use kps_syntax::{Diagnostic, Diagnostics, Source};

fn shaders(folder: &Path) -> Vec<PathBuf> {
    cases(folder, &["comp", "vert", "frag", "glsl", "wgsl"])
}

fn compiled(path: &Path) -> Result<Vec<u32>, Diagnostics> {
    let text = std::fs::read_to_string(path).expect("a case is text");
    let name = path.file_name().unwrap_or_default().display().to_string();
    let language = Language::of_file(path).expect("it was chosen by its name");
    let options = kps_foreign::Options { stage: Stage::of_file(path), ..Default::default() };
    compile(&Source::new(name, text), language, &options)
}

fn validate(path: &Path, words: &[u32]) {
    let options = Options { scalar_block_layout: true, ..Options::default() };
    if let Err(error) = kps_spirv_tools::validate(words, TargetEnv::Vulkan_1_3, options) {
        panic!("{} is not valid: {error}", path.display());
    }
}

/// The message with its labels, each with what it points at, and the help.
fn shown(diagnostic: &Diagnostic) -> String {
    let mut lines = vec![diagnostic.one_line()];
    for label in &diagnostic.labels {
        let at = label.location.source.slice(label.location.span).lines().next().unwrap_or_default();
        let dots = if label.text.is_empty() { "" } else { ": " };
        lines.push(format!("    at `{at}`{dots}{}", label.text));
    }
    lines.extend(diagnostic.help.iter().map(|help| format!("    help: {help}")));
    lines.join("\n") + "\n"
}

#[test]
fn mistakes_are_reported_with_their_places() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut wrong = Vec::new();
    for path in shaders(&folder) {
        let found = match compiled(&path) {
            Err(found) => found.iter().map(shown).collect::<String>(),
            Ok(words) => {
                validate(&path, &words);
                "no mistake\n".to_owned()
            }
        };
        let mut beside = path.clone().into_os_string();
        beside.push(".txt");
        wrong.extend(compare(Path::new(&beside), &found).err());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_the_suite_runs_is_valid() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/foreign");
    for path in shaders(&folder) {
        match compiled(&path) {
            Ok(words) => validate(&path, &words),
            Err(found) => panic!("{}", found.iter().map(shown).collect::<String>()),
        }
    }
}

#[test]
fn the_same_text_gives_the_same_words() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/foreign");
    for path in shaders(&folder).into_iter().step_by(7) {
        assert_eq!(compiled(&path).ok(), compiled(&path).ok(), "{}", path.display());
    }
}

/// A shader in each language that stores a sum of so many terms.
fn sums(n_terms: usize) -> [(Language, String); 3] {
    let sum = vec!["y"; n_terms].join("+");
    [
        (
            Language::Glsl,
            format!(
                "#version 450\nlayout(local_size_x = 1) in;\nlayout(binding = 0) buffer X {{ float x[]; }};\n\
                 void main() {{ float y = x[1]; x[0] = {sum}; }}\n"
            ),
        ),
        (
            Language::Hlsl,
            format!(
                "RWStructuredBuffer<float> x;\n[numthreads(1, 1, 1)]\nvoid main() {{ float y = x[1]; x[0] = {sum}; }}\n"
            ),
        ),
        (
            Language::Wgsl,
            format!(
                "@group(0) @binding(0) var<storage, read_write> x: array<f32>;\n\
                 @compute @workgroup_size(1) fn main() {{ let y = x[1]; x[0] = {sum}; }}\n"
            ),
        ),
    ]
}

#[test]
fn long_sums_compile_and_longer_ones_are_refused() {
    let compiled = |n_terms| {
        sums(n_terms).map(|(language, text)| {
            let result = compile(&Source::new("sum", text), language, &kps_foreign::Options::default());
            (language, result.map_err(|found| found.iter().map(shown).collect::<String>()))
        })
    };
    for (language, result) in compiled(49_000) {
        assert!(result.is_ok(), "{language:?}: {}", result.unwrap_err());
    }
    for (language, result) in compiled(200_000) {
        let found = result.err().unwrap_or_default();
        assert!(found.contains("a statement has more than 50000 operators"), "{language:?}: {found}");
    }
}
