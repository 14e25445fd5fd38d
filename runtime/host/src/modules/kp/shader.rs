//! `kp.Shader`: compiles text to SPIR-V, for the third generation of Kompute's scripts.

use kps_syntax::Source;

use super::errors;
use super::ops;
use crate::convert::FromValue;
use crate::errors::{type_error, value_error};
use crate::foreign::{self, Language, Options};
use crate::modules::kernels::compile_error;
use crate::value::{Args, NativeDef, NativeType, Result, Value};
use crate::vm::Vm;

pub static SHADER: NativeType = NativeType {
    methods: &[
        NativeDef::static_method("compile_source", compile_source).doc(
            "(source, entryPoint=None, definitions=[])",
            "Compiles GLSL, HLSL or WGSL, and returns SPIR-V as bytes; a mistake raises \
                 `ShaderError`.",
        ),
        NativeDef::static_method("compile_sources", compile_sources).doc(
            "(sources, files=[], entryPoint=None, definitions=[])",
            "As `compile_source`, for texts that are joined into one; `files` names them in \
                 messages.",
        ),
    ],
    ..NativeType::new("Shader", "kp").doc("", "The compiler of shaders.")
};

/// `compile_source(source, entryPoint="main", definitions=[])`: GLSL or WGSL in, SPIR-V bytes out.
fn compile_source(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("compile_source");
    let source = String::from_value(vm, parser.required("source")?)?;
    let entry_point = parser.optional("entryPoint")?.or(parser.keyword_only("entry_point"));
    let definitions = parser.optional("definitions")?;
    parser.finish()?;
    let source = vm.shader_source(&source);
    compile(vm, &source, entry_point, definitions)
}

/// `compile_sources(sources, files=[], entryPoint="main", definitions=[])`: the sources one after the other.
fn compile_sources(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("compile_sources");
    let given = parser.required("sources")?;
    if let Some(text) = given.as_str() {
        return Err(errors::text_for_list("sources", text));
    }
    let sources: Vec<String> = Vec::from_value(vm, given)?;
    let files = parser.optional("files")?;
    let entry_point = parser.optional("entryPoint")?.or(parser.keyword_only("entry_point"));
    let definitions = parser.optional("definitions")?;
    parser.finish()?;
    if sources.is_empty() {
        return Err(value_error("compile_sources takes one text or more, not an empty list"));
    }
    let files: Vec<String> = match files.filter(|given| !given.is_none()) {
        Some(files) => Vec::from_value(vm, files)?,
        None => Vec::new(),
    };
    let text = sources.join("\n");
    let source = files.first().map_or_else(|| vm.shader_source(&text), |name| Source::new(name, &*text));
    compile(vm, &source, entry_point, definitions)
}

fn compile(vm: &mut Vm, source: &Source, entry_point: Option<&Value>, definitions: Option<&Value>) -> Result {
    let definitions = definitions.map_or(Ok(Vec::new()), |given| read_definitions(vm, given))?;
    let language = Language::of_text(source.text());
    let options = Options { definitions, ..ops::options(vm, entry_point)? };
    let words = foreign::compile(source, language, &options).map_err(compile_error)?;
    Ok(Value::bytes(kps_compute::words::to_bytes(&words)))
}

/// Pairs of a name and its replacement, or a dict of them.
fn read_definitions(vm: &mut Vm, given: &Value) -> Result<Vec<(String, String)>> {
    let mut definitions = Vec::new();
    let pairs = match given {
        Value::Dict(dict) => {
            dict.to_pairs().into_iter().map(|(name, text)| Value::tuple([name, text])).collect()
        }
        other => vm.collect(other)?,
    };
    for pair in &pairs {
        let [name, text] = &vm.collect(pair)?[..] else {
            return Err(type_error("a definition is a pair of a name and a text"));
        };
        definitions.push((vm.str(name)?, vm.str(text)?));
    }
    Ok(definitions)
}
