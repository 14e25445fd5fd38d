//! A safe wrapper of glslang, Khronos' reference compiler: text goes in, SPIR-V or glslang's log comes out.
//!
//! The crate `glslang` has such functions too, but none that emits lines, so this file calls the C interface
//! that it binds. The log is not interpreted here.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::OnceLock;

use glslang::limits::ResourceLimits;
use glslang_sys as sys;

use super::functions;
use crate::nesting::{self, Excess};
use crate::{Language, Stage};

/// A text and the settings for its compilation.
pub(super) struct Input<'t> {
    pub text: &'t str,
    pub language: Language,
    pub stage: Stage,
    /// The function that a device enters.
    pub entry_point: &'t str,
    /// Lines that take effect as if they followed `#version`: of `#extension`, and of `#define`.
    pub extensions: &'t str,
    pub definitions: &'t str,
}

/// Returns a header, given its name in the directive and the file that includes it.
pub(super) type Include<'i> = dyn FnMut(&str, &str) -> Option<Header> + 'i;

/// An included file: its name in messages and lines, and its text.
pub(super) struct Header {
    pub name: String,
    pub text: String,
}

/// The phase that failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The preprocessor; places are positions in the text.
    Preprocessor(String),
    /// The parser; places are positions in the preprocessed text.
    Parser { log: String, preprocessed: String },
    /// The linker, which reports no places.
    Linker(String),
    /// The preprocessed text is too deep to be parsed, at a byte of it.
    TooDeep { at: usize, excess: Excess, preprocessed: String },
    /// A function of the language that glslang cannot translate.
    Untranslated(&'static str),
}

/// GLSL's version if the text does not name one.
const DEFAULT_VERSION: c_int = 450;

/// The version of GLSL for Vulkan, which the text sees as `VULKAN`.
const VULKAN_VERSION: c_int = 100;

pub(super) fn compile(input: &Input, include: &mut Include) -> Result<Vec<u32>, Failure> {
    initialize();
    let text = c_string(input.text);
    let preamble = c_string(&[input.extensions, input.definitions].concat());
    let entry_point = c_string(input.entry_point);
    let mut context = IncludeContext { include };
    let limits = limits();
    let settings = settings(input, &text, limits, &mut context);
    let shader = Shader::new(&settings);
    // SAFETY: the shader is alive, and both strings outlive it: they are declared before it.
    unsafe {
        sys::glslang_shader_set_preamble(shader.0, preamble.as_ptr());
        sys::glslang_shader_set_source_entry_point(shader.0, entry_point.as_ptr());
    }
    // SAFETY: as above; `settings` and what it points at (text, limits, context) are alive.
    if unsafe { sys::glslang_shader_preprocess(shader.0, &settings) } == 0 {
        return Err(Failure::Preprocessor(shader.log()));
    }
    // The preprocessor of GLSL sets it to `main`, to which the parser would rename the function of this name.
    // SAFETY: as above.
    unsafe { sys::glslang_shader_set_entry_point(shader.0, entry_point.as_ptr()) }
    shader.drop_echo(input.extensions);
    let preprocessed = shader.preprocessed();
    if let Some((at, excess)) = nesting::find(&preprocessed) {
        return Err(Failure::TooDeep { at, excess, preprocessed });
    }
    if input.language == Language::Hlsl
        && let Some(name) = functions::untranslated(&preprocessed)
    {
        return Err(Failure::Untranslated(name));
    }
    // SAFETY: as above.
    if unsafe { sys::glslang_shader_parse(shader.0, &settings) } == 0 {
        return Err(Failure::Parser { log: shader.log(), preprocessed });
    }
    let program = Program::new();
    program.link(&shader, settings.messages)?;
    Ok(program.words(settings.stage))
}

fn settings<'s>(
    input: &Input,
    text: &'s CStr,
    limits: &'s sys::glslang_resource_t,
    context: &'s mut IncludeContext,
) -> sys::glslang_input_t {
    use sys::glslang_messages_t as messages;
    let language_messages = match input.language {
        Language::Hlsl => messages::READ_HLSL.0 | messages::HLSL_OFFSETS.0,
        _ => 0,
    };
    let all = messages::VULKAN_RULES.0 | messages::SPV_RULES.0 | messages::DISPLAY_ERROR_COLUMN.0;
    sys::glslang_input_t {
        language: match input.language {
            Language::Hlsl => sys::glslang_source_t::HLSL,
            _ => sys::glslang_source_t::GLSL,
        },
        stage: match input.stage {
            Stage::Compute => sys::glslang_stage_t::Compute,
            Stage::Vertex => sys::glslang_stage_t::Vertex,
            Stage::Fragment => sys::glslang_stage_t::Fragment,
        },
        client: sys::glslang_client_t::Vulkan,
        client_version: sys::glslang_target_client_version_t::Vulkan1_2,
        target_language: sys::glslang_target_language_t::SPIRV,
        target_language_version: sys::glslang_target_language_version_t::SPIRV1_5,
        code: text.as_ptr(),
        default_version: DEFAULT_VERSION,
        default_profile: sys::glslang_profile_t::None,
        force_default_version_and_profile: 0,
        forward_compatible: 0,
        messages: sys::glslang_messages_t(all | language_messages),
        resource: limits,
        callbacks: sys::glsl_include_callbacks_t {
            include_system: Some(include),
            include_local: Some(include),
            free_include_result: Some(free_include_result),
        },
        callbacks_ctx: ptr::from_mut(context).cast(),
    }
}

/// Devices check their own limits, so these limits are as wide as glslang accepts.
fn limits() -> &'static sys::glslang_resource_t {
    static LIMITS: OnceLock<ResourceLimits> = OnceLock::new();
    let limits = LIMITS.get_or_init(|| {
        let mut limits = ResourceLimits::default();
        limits.set_max_compute_work_group_size_x(i32::MAX);
        limits.set_max_compute_work_group_size_y(i32::MAX);
        limits.set_max_compute_work_group_size_z(i32::MAX);
        limits
    });
    // SAFETY: `ResourceLimits` is a transparent wrapper of this type.
    unsafe { &*ptr::from_ref(limits).cast() }
}

/// glslang must be initialised once in a process. It may then compile on several threads.
fn initialize() {
    static STARTED: OnceLock<()> = OnceLock::new();
    STARTED.get_or_init(|| {
        // SAFETY: it is called once, before all else.
        let started = unsafe { sys::glslang_initialize_process() };
        assert_ne!(started, 0, "glslang initializes its tables");
    });
}

/// C strings end at a NUL: a text that contains one is cut there, as a C source file is.
fn c_string(text: &str) -> CString {
    let text = text.split('\0').next().unwrap_or_default();
    CString::new(text).expect("the text was cut at its first NUL")
}

struct Shader(*mut sys::glslang_shader_t);

impl Shader {
    fn new(settings: &sys::glslang_input_t) -> Shader {
        // This call alone reads the dialect's version from the field in which the others expect the text's
        // version.
        let settings = sys::glslang_input_t { default_version: VULKAN_VERSION, ..*settings };
        // SAFETY: the settings are complete, and everything they point to outlives this call.
        let shader = unsafe { sys::glslang_shader_create(&settings) };
        assert!(!shader.is_null(), "the stage and the language are known to glslang");
        Shader(shader)
    }

    fn log(&self) -> String {
        // SAFETY: the shader is alive, and its log is a C string that is copied at once.
        unsafe { string(sys::glslang_shader_get_info_log(self.0)) }
    }

    /// Drops the preprocessor's copy of the `#extension` lines, which precedes `#version` and counts as
    /// lines.
    fn drop_echo(&self, extensions: &str) {
        let preprocessed = self.preprocessed();
        if let Some(rest) = preprocessed.strip_prefix(extensions) {
            let rest = c_string(rest);
            // SAFETY: the shader is alive, and copies the string.
            unsafe { sys::glslang_shader_set_preprocessed_code(self.0, rest.as_ptr()) }
        }
    }

    fn preprocessed(&self) -> String {
        // SAFETY: as for the log.
        unsafe { string(sys::glslang_shader_get_preprocessed_code(self.0)) }
    }
}

impl Drop for Shader {
    fn drop(&mut self) {
        // SAFETY: it was created once, and no other reference to it exists.
        unsafe { sys::glslang_shader_delete(self.0) }
    }
}

struct Program(*mut sys::glslang_program_t);

impl Program {
    fn new() -> Program {
        // SAFETY: glslang is initialized.
        let program = unsafe { sys::glslang_program_create() };
        assert!(!program.is_null(), "glslang allocates a program");
        Program(program)
    }

    fn link(&self, shader: &Shader, messages: sys::glslang_messages_t) -> Result<(), Failure> {
        // SAFETY: both are alive, and the shader outlives the program: it is declared before it.
        let is_linked = unsafe {
            sys::glslang_program_add_shader(self.0, shader.0);
            sys::glslang_program_link(self.0, messages.0) != 0
        };
        match is_linked {
            true => Ok(()),
            // SAFETY: the program is alive, and its log is a C string that is copied at once.
            false => Err(Failure::Linker(unsafe { string(sys::glslang_program_get_info_log(self.0)) })),
        }
    }

    /// The SPIR-V of a linked program, with the names and the lines of the text.
    fn words(&self, stage: sys::glslang_stage_t) -> Vec<u32> {
        let mut options = sys::glslang_spv_options_t {
            generate_debug_info: true,
            strip_debug_info: false,
            disable_optimizer: true,
            optimize_size: false,
            optimize_performance: false,
            disassemble: false,
            validate: false,
            emit_nonsemantic_shader_debug_info: false,
            emit_nonsemantic_shader_debug_source: false,
            compile_only: false,
            optimize_allow_expanded_id_bound: false,
            compiler_signature: ptr::null(),
            command_line_arguments: ptr::null(),
            current_working_directory: ptr::null(),
        };
        // SAFETY: the program is linked and has a shader of this stage. The words are copied out of a vector
        // that the program owns, of the length that it reports.
        unsafe {
            sys::glslang_program_SPIRV_generate_with_options(self.0, stage, &mut options);
            let mut words = vec![0; sys::glslang_program_SPIRV_get_size(self.0)];
            sys::glslang_program_SPIRV_get(self.0, words.as_mut_ptr());
            words
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: it was created once, and no other reference to it exists.
        unsafe { sys::glslang_program_delete(self.0) }
    }
}

/// # Safety
/// `text` is null or a C string.
unsafe fn string(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the caller guarantees it.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// The context that the callbacks of one compilation receive.
struct IncludeContext<'c, 'i> {
    include: &'c mut Include<'i>,
}

/// A header that glslang uses until it frees it.
#[repr(C)]
struct IncludeResult {
    /// First, because glslang gets a pointer to this field and returns that pointer.
    result: sys::glsl_include_result_t,
    name: CString,
    text: CString,
}

unsafe extern "C" fn include(
    context: *mut c_void,
    header: *const c_char,
    includer: *const c_char,
    _depth: usize,
) -> *mut sys::glsl_include_result_t {
    // SAFETY: glslang passes the context of this compilation and two C strings.
    let (context, header, includer) =
        unsafe { (&mut *context.cast::<IncludeContext>(), string(header), string(includer)) };
    let Some(found) = (context.include)(&header, &includer) else { return ptr::null_mut() };
    let (name, text) = (c_string(&found.name), c_string(&found.text));
    let result = sys::glsl_include_result_t {
        header_name: name.as_ptr(),
        header_data: text.as_ptr(),
        header_length: text.as_bytes().len(),
    };
    Box::into_raw(Box::new(IncludeResult { result, name, text })).cast()
}

unsafe extern "C" fn free_include_result(
    _context: *mut c_void,
    result: *mut sys::glsl_include_result_t,
) -> c_int {
    if !result.is_null() {
        // SAFETY: `include` created it from such a box, and glslang frees it once.
        drop(unsafe { Box::from_raw(result.cast::<IncludeResult>()) });
    }
    0
}
