//! The sources of lines in kernels: those of the loaded programs, and of shaders.
//!
//! A shader's module contains its text, so that a place in it is found wherever the module came from.

use kps_device::{SourceLine, source_texts};
use kps_syntax::{Location, Source, Span};
use rustc_hash::FxHashMap;

use super::Vm;

/// The name of shaders that were given as text.
pub const SHADER: &str = "<shader>";

/// Whether a text is a shader that was given as text: the second one is called `<shader 2>`.
pub fn is_shader_name(name: &str) -> bool {
    name == SHADER || name.strip_prefix("<shader ").is_some_and(|rest| rest.ends_with('>'))
}

#[derive(Default)]
pub(super) struct Sources {
    programs: FxHashMap<Box<str>, Source>,
    shaders: FxHashMap<Box<str>, Source>,
}

impl Sources {
    pub fn add_program(&mut self, source: &Source) {
        self.programs.insert(source.name().into(), source.clone());
    }

    fn add_shader(&mut self, source: Source) {
        self.shaders.insert(source.name().into(), source);
    }

    /// A name that no other text has.
    fn shader_name(&self, text: &str) -> String {
        let numbered = (2..).map(|n| format!("<shader {n}>"));
        let mut names = std::iter::once(SHADER.to_owned()).chain(numbered);
        let is_free =
            |name: &String| self.shaders.get(name.as_str()).is_none_or(|known| known.text() == text);
        names.find(is_free).expect("there are more names than texts")
    }

    fn locate(&self, line: &SourceLine) -> Option<Location> {
        let (source, comment) = match self.programs.get(&*line.file) {
            Some(program) => (program, "#"),
            None => (self.shaders.get(&*line.file)?, "//"),
        };
        let start = source.offset(line.line, line.column);
        let rest = source.slice(Span::new(start, source.offset(line.line, u32::MAX)));
        let length = rest.split(comment).next().unwrap_or("").trim_end().len().max(1);
        Some(source.at(Span::new(start, start + length as u32)))
    }
}

impl Vm {
    /// The location of a kernel's line in its source, from the column on.
    pub(crate) fn locate(&self, line: &SourceLine) -> Option<Location> {
        self.sources.borrow().locate(line)
    }

    /// The text of a kernel's line; empty if its source is unknown.
    pub(crate) fn source_line(&self, line: &SourceLine) -> String {
        let sources = self.sources.borrow();
        let source = sources.programs.get(&*line.file).or_else(|| sources.shaders.get(&*line.file));
        source.map_or(String::new(), |source| source.line_text(line.line).to_owned())
    }

    /// A shader that was given as text, with a unique name for lookups of its lines.
    pub(crate) fn shader_source(&self, text: &str) -> Source {
        let mut sources = self.sources.borrow_mut();
        let source = Source::new(sources.shader_name(text), text);
        sources.add_shader(source.clone());
        source
    }

    /// Stores the texts that a module contains.
    pub(crate) fn keep_sources(&self, words: &[u32]) {
        let mut sources = self.sources.borrow_mut();
        for one in source_texts(words) {
            sources.add_shader(Source::new(one.file, one.text));
        }
    }
}
