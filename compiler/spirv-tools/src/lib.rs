//! Khronos' validator and assembler of SPIR-V, behind two safe functions.
//!
//! A module and its target environment go in, and the violated rule comes out; or assembly goes in, and a
//! module comes out. No device is needed.
//!
//! ```
//! use kps_spirv_tools::{Options, TargetEnv, assemble, validate};
//!
//! let text = "OpCapability Shader\nOpCapability Linkage\nOpMemoryModel Logical GLSL450\n";
//! let words = assemble(text, TargetEnv::Vulkan_1_2).expect("it is assembly");
//! assert!(validate(&words, TargetEnv::Universal_1_5, Options::default()).is_ok());
//! assert!(validate(&words[..7], TargetEnv::Universal_1_5, Options::default()).is_err());
//! ```

use std::ffi::CStr;
use std::ptr;

pub use spirv_tools_sys::shared::TargetEnv;
use spirv_tools_sys::{assembler, diagnostics, shared, val};

/// Rules that hold besides those of an environment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Blocks may have the layouts of `VK_EXT_scalar_block_layout`.
    pub scalar_block_layout: bool,
    /// Uniforms may be laid out as buffers are.
    pub uniform_buffer_standard_layout: bool,
    /// Pointers may be variables and results.
    pub relax_logical_pointer: bool,
}

/// Why a text is not assembly, and on which of its lines, counted from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct AssemblyError {
    pub message: String,
    pub line: u32,
}

/// The first violated rule, in the validator's words.
pub fn validate(words: &[u32], env: TargetEnv, options: Options) -> Result<(), String> {
    let (context, options) = (Context::new(env), ValidatorOptions::new(options));
    let binary = shared::Binary { code: words.as_ptr(), size: words.len() };
    let mut diagnostic = Diagnostic(ptr::null_mut());
    // SAFETY: the context, the options and the words are alive. The diagnostic is written once, and freed
    // with its owner.
    let result = unsafe { val::validate_with_options(context.0, options.0, &binary, &mut diagnostic.0) };
    match result {
        shared::SpirvResult::Success => Ok(()),
        other => Err(diagnostic.message().unwrap_or_else(|| other.to_string())),
    }
}

/// Assembles a module; numeric ids are preserved.
pub fn assemble(text: &str, env: TargetEnv) -> Result<Vec<u32>, AssemblyError> {
    let context = Context::new(env);
    let (mut binary, mut diagnostic) = (ptr::null_mut(), Diagnostic(ptr::null_mut()));
    // SAFETY: the context and the text are alive, and the length is correct. Both results are written once,
    // and freed below and with their owner.
    let result = unsafe {
        let text = (text.as_ptr().cast(), text.len());
        assembler::assemble(context.0, text.0, text.1, KEEP_NO_IDS, &mut binary, &mut diagnostic.0)
    };
    if result != shared::SpirvResult::Success || binary.is_null() {
        let message = diagnostic.message().unwrap_or_else(|| result.to_string());
        return Err(AssemblyError { message, line: diagnostic.line() });
    }
    // SAFETY: the binary has the number of words that it states until it is freed, which is done once.
    unsafe {
        let words = std::slice::from_raw_parts((*binary).code, (*binary).size).to_vec();
        shared::binary_destroy(binary);
        Ok(words)
    }
}

/// The assembler assigns new ids.
const KEEP_NO_IDS: u32 = assembler::BinaryOptions::None as u32;

struct Context(*mut shared::ToolContext);

impl Context {
    fn new(env: TargetEnv) -> Context {
        // SAFETY: the only argument is an environment that the tools know.
        let context = unsafe { shared::context_create(env) };
        assert!(!context.is_null(), "the tools know the environment");
        Context(context)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: it was created once, and no other reference to it exists.
        unsafe { shared::context_destroy(self.0) }
    }
}

struct ValidatorOptions(*mut val::ValidatorOptions);

impl ValidatorOptions {
    fn new(options: Options) -> ValidatorOptions {
        // SAFETY: the options are created here, and alive until they are dropped.
        unsafe {
            let created = val::validator_options_create();
            val::validator_options_set_scalar_block_layout(created, options.scalar_block_layout);
            val::validator_options_set_uniform_buffer_standard_layout(
                created,
                options.uniform_buffer_standard_layout,
            );
            val::validator_options_set_relax_logical_pointer(created, options.relax_logical_pointer);
            ValidatorOptions(created)
        }
    }
}

impl Drop for ValidatorOptions {
    fn drop(&mut self) {
        // SAFETY: as for a context.
        unsafe { val::validator_options_destroy(self.0) }
    }
}

/// The tools' diagnostic of a failure; null if there is none.
struct Diagnostic(*mut diagnostics::Diagnostic);

impl Diagnostic {
    fn message(&self) -> Option<String> {
        // SAFETY: one that is not null was written by the tools, and its message is a C string that lives as long.
        unsafe {
            let error = self.0.as_ref()?.error;
            (!error.is_null()).then(|| CStr::from_ptr(error).to_string_lossy().into_owned())
        }
    }

    fn line(&self) -> u32 {
        // SAFETY: as for the message.
        unsafe { self.0.as_ref() }.map_or(1, |diagnostic| diagnostic.position.line as u32 + 1)
    }
}

impl Drop for Diagnostic {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: the tools created it, and it is freed once.
            unsafe { diagnostics::diagnostic_destroy(self.0) }
        }
    }
}
