//! `pyshader.dev`: PyShader's tools to inspect shaders, without external programs.

use super::errors;
use crate::convert::FromValue;
use crate::errors::{type_error, value_error};
use crate::foreign::{self, Language, Options, Stage};
use crate::modules::kp;
use crate::value::{Args, NativeDef, NativeModule, Result, Value};
use crate::vm::Vm;

pub static DEV: NativeModule = NativeModule {
    functions: &[
        NativeDef::function("glsl2spirv", glsl2spirv),
        NativeDef::function("wgsl2spirv", wgsl2spirv),
        NativeDef::function("assemble", assemble),
        NativeDef::function("disassemble", disassemble),
        NativeDef::function("validate", validate),
    ],
    ..NativeModule::new("pyshader.dev")
};

/// `glsl2spirv(code, type)`: the type is compute, vertex or fragment.
fn glsl2spirv(vm: &mut Vm, args: &Args) -> Result {
    let [code, ty] = args.exactly("glsl2spirv")?;
    compile(vm, code, ty, Language::Glsl)
}

fn wgsl2spirv(vm: &mut Vm, args: &Args) -> Result {
    let [code, ty] = args.exactly("wgsl2spirv")?;
    compile(vm, code, ty, Language::Wgsl)
}

fn compile(vm: &mut Vm, code: &Value, ty: &Value, language: Language) -> Result {
    let text = code
        .as_str()
        .ok_or_else(|| type_error(format!("the code of a shader is a str, not {}", code.type_name())))?;
    let stage = match ty.as_str() {
        Some("compute") => Stage::Compute,
        Some("vertex") => Stage::Vertex,
        Some("fragment") => Stage::Fragment,
        _ => {
            return Err(value_error("the type of a shader is \"compute\", \"vertex\" or \"fragment\""));
        }
    };
    let options = Options { stage, ..Options::default() };
    let words = foreign::compile(&vm.shader_source(text), language, &options);
    Ok(bytes(&words.map_err(errors::compile)?))
}

/// Assembles text to SPIR-V; lines that begin with `#` are comments, as in PyShader.
fn assemble(vm: &mut Vm, args: &Args) -> Result {
    let [text] = args.exactly("assemble")?;
    let text = String::from_value(vm, text)?;
    Ok(bytes(&foreign::assemble(&text).map_err(errors::compile)?))
}

/// The assembly of SPIR-V bytes or of a kernel.
fn disassemble(vm: &mut Vm, args: &Args) -> Result {
    let [module] = args.exactly("disassemble")?;
    let words = kp::words(vm, module, &Options::default())?;
    Ok(Value::str(foreign::disassemble(&words).map_err(errors::compile)?))
}

/// Raises if SPIR-V bytes, or a kernel, are not valid.
fn validate(vm: &mut Vm, args: &Args) -> Result {
    let [module] = args.exactly("validate")?;
    foreign::validate(&kp::words(vm, module, &Options::default())?).map_err(errors::compile)?;
    Ok(Value::None)
}

fn bytes(words: &[u32]) -> Value {
    Value::bytes(kps_compute::words::to_bytes(words))
}
