//! Finds and runs modules: those written in Rust, those of the standard library, files beside the script.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use kps_syntax::{Diagnostics, Source, ast};

use super::{Vm, checkpoint};
use crate::blocking;
use crate::errors;
use crate::modules;
use crate::value::{ExceptionKind, Module, Name, NativeFunction, NativeModule, Raise, Result, Value};

/// Endings of files that are modules, in the order they are looked for.
const ENDINGS: [&str; 2] = ["kps", "py"];

/// The text of a module and its origin.
struct Found {
    source: Source,
    file: Option<PathBuf>,
    is_package: bool,
}

impl Vm {
    /// The module with this dotted name, run at its first import; its packages are imported first.
    pub fn import(&mut self, name: &str) -> Result<Rc<Module>> {
        if let Some(module) = self.modules.get(name) {
            return Ok(module.clone());
        }
        self.check_stack()?;
        let parent = match name.rsplit_once('.') {
            Some((parent, _)) => Some(self.import(parent)?),
            None => None,
        };
        // The package's own code may have imported it.
        if let Some(module) = self.modules.get(name) {
            return Ok(module.clone());
        }
        let module = match modules::find(name) {
            Some(native) => self.import_native(native)?,
            None => {
                let found = self.find(name, parent.as_deref())?;
                self.run_module(name, found)?
            }
        };
        if let (Some(parent), Some((_, last))) = (parent, name.rsplit_once('.')) {
            parent.namespace.set(last, Value::Module(module.clone()));
        }
        Ok(module)
    }

    fn import_native(&mut self, native: &'static NativeModule) -> Result<Rc<Module>> {
        let module = Rc::new(Module::new(self.name(native.name)));
        if let Some(doc) = native.doc {
            module.set("__doc__", doc.sentence);
        }
        for def in native.functions {
            let function = NativeFunction::of_module(def);
            module.namespace.set(def.name, Value::NativeFunction(Rc::new(function)));
        }
        for ty in native.types {
            module.namespace.set(ty.name, Value::Class(self.native_class(ty)));
        }
        self.modules.insert(native.name.to_owned(), module.clone());
        if let Some(init) = native.init
            && let Err(raise) = init(self, &module)
        {
            self.modules.shift_remove(native.name);
            return Err(raise);
        }
        Ok(module)
    }

    /// A submodule in the standard library, which scripts need not import explicitly.
    pub(crate) fn library_submodule(&mut self, module: &Module, name: &str) -> Result<Option<Value>> {
        let full = format!("{}.{name}", module.name);
        match kps_stdlib::source(&full) {
            Some(_) => self.import(&full).map(|module| Some(Value::Module(module))),
            None => Ok(None),
        }
    }

    fn find(&self, name: &str, parent: Option<&Module>) -> Result<Found> {
        if let Some(text) = kps_stdlib::source(name) {
            let source = Source::new(format!("<{name}>"), text);
            return Ok(Found { source, file: None, is_package: false });
        }
        let last = name.rsplit('.').next().unwrap_or(name);
        let folders = match parent {
            None => modules::sys::search_path(self),
            Some(parent) if parent.is_package => {
                let folder = parent.file.as_deref().and_then(Path::parent);
                folder.map(Path::to_owned).into_iter().collect()
            }
            Some(parent) => {
                let message = format!("No module named '{name}'; '{}' is not a package", parent.name);
                return Err(Raise::new(ExceptionKind::ModuleNotFoundError, message));
            }
        };
        // A file in the current folder is reported without the folder, as the script is.
        let mut plain = folders.iter().map(|folder| folder.strip_prefix(".").unwrap_or(folder));
        if let Some((file, is_package)) =
            plain.find_map(|folder| file_of(folder, last, |file| self.path_of(file).is_file()))
        {
            let source = read_source(&file, &self.path_of(&file))?;
            return Ok(Found { source, file: Some(file), is_package });
        }
        Err(errors::module_not_found(name, kps_syntax::suggest::nearest(name, modules::names())))
    }

    /// Runs a text as a module that nothing can import.
    pub(crate) fn run_text(&mut self, name: &str, text: &str) -> Result<Rc<Module>> {
        let source = Source::new(name, text);
        let program = compile_running(&source, kps_bytecode::compile)?.map_err(syntax_error)?;
        let module = Rc::new(Module::new(self.name(name)));
        module.namespace.set("__name__", module.name.value());
        self.run_program(&program, module.name.clone(), &module.namespace)?;
        Ok(module)
    }

    fn run_module(&mut self, name: &str, found: Found) -> Result<Rc<Module>> {
        let program = compile_running(&found.source, kps_bytecode::compile)?.map_err(syntax_error)?;
        let mut module = Module::new(self.name(name));
        module.file = found.file;
        module.is_package = found.is_package;
        let module = Rc::new(module);
        module.namespace.set("__name__", module.name.value());
        if let Some(file) = &module.file {
            module.namespace.set("__file__", Value::str(file.display().to_string()));
        }
        self.modules.insert(name.to_owned(), module.clone());
        let result = self.run_program(&program, module.name.clone(), &module.namespace);
        if let Err(raise) = result {
            self.modules.shift_remove(name);
            return Err(raise);
        }
        Ok(module)
    }

    /// `import name`, with `level` leading dots counted from the running module's package.
    pub(super) fn import_from_code(&mut self, name: &str, level: usize) -> Result<Rc<Module>> {
        let absolute = self.absolute_name(name, level)?;
        self.import(&absolute)
    }

    fn absolute_name(&self, name: &str, level: usize) -> Result<String> {
        let running = self.frames.last().map(|frame| frame.function.code.program.module.clone());
        let running = running.unwrap_or_else(|| Name::from("__main__"));
        let is_package = self.modules.get(&*running).is_some_and(|module| module.is_package);
        absolute((&running, is_package), name, level)
            .ok_or_else(|| errors::import_error("attempted relative import with no known parent package"))
    }

    /// `from module import name`: an attribute, or a module beneath the package.
    pub(super) fn import_name(&mut self, module: &Value, name: &Name) -> Result {
        if let Some(value) = self.find_attr(module, name)? {
            return Ok(value);
        }
        let Value::Module(module) = module else {
            return Err(errors::import_error(format!("cannot import name '{name}'")));
        };
        if module.is_package || modules::find(&format!("{}.{name}", module.name)).is_some() {
            match self.import(&format!("{}.{name}", module.name)) {
                Ok(submodule) => return Ok(Value::Module(submodule)),
                Err(raise) if raise.is(ExceptionKind::ModuleNotFoundError) => {}
                Err(raise) => return Err(raise),
            }
        }
        let place = match &module.file {
            Some(file) => file.display().to_string(),
            None => "unknown location".to_owned(),
        };
        let raise =
            errors::import_error(format!("cannot import name '{name}' from '{}' ({place})", module.name));
        if &*module.name == "kp" && kps_kernel::is_name(name) {
            return Err(raise.help(format!("leave it out: kernels know `{name}` without an import")));
        }
        let known = module.namespace.to_pairs();
        Err(match kps_syntax::suggest::nearest(name, known.iter().map(|(name, _)| &**name)) {
            Some(suggestion) => raise.help(format!("did you mean `{suggestion}`?")),
            None => raise,
        })
    }

    /// The names and values of `from module import *`.
    pub(super) fn public_names(&mut self, module: &Value) -> Result<Vec<(Name, Value)>> {
        let Value::Module(module) = module else {
            return Err(errors::import_error("only modules can be imported from"));
        };
        if let Some(listed) = module.namespace.get("__all__") {
            let mut names = Vec::new();
            for name in self.collect(&listed)? {
                let Some(text) = name.as_str() else { continue };
                let value = self.get_attr(&Value::Module(module.clone()), text)?;
                names.push((self.name(text), value));
            }
            return Ok(names);
        }
        let all = module.namespace.to_pairs();
        Ok(all.into_iter().filter(|(name, _)| !name.starts_with('_')).collect())
    }
}

/// The file of a module in a folder, and whether that is a package's.
pub(crate) fn file_of(folder: &Path, last: &str, is_file: impl Fn(&Path) -> bool) -> Option<(PathBuf, bool)> {
    let files = ENDINGS.iter().flat_map(|ending| {
        let package = folder.join(last).join(format!("__init__.{ending}"));
        [(package, true), (folder.join(format!("{last}.{ending}")), false)]
    });
    files.into_iter().find(|(file, _)| is_file(file))
}

/// The absolute name of a module imported with `level` leading dots from another one, which may be a package;
/// `None` if there is no package at that level.
pub(crate) fn absolute((running, is_package): (&str, bool), name: &str, level: usize) -> Option<String> {
    if level == 0 {
        return Some(name.to_owned());
    }
    let mut package = running;
    for _ in 0..level - usize::from(is_package) {
        package = package.rsplit_once('.').map_or("", |(package, _)| package);
    }
    match (package, name) {
        ("", _) => None,
        (package, "") => Some(package.to_owned()),
        (package, name) => Some(format!("{package}.{name}")),
    }
}

/// A text in code, or every mistake that was found in it.
pub(crate) type Compiled = std::result::Result<kps_bytecode::Program, Diagnostics>;

/// Parses and compiles within a run, and raises its interrupt.
pub(crate) fn compile_running(source: &Source, compile: fn(&ast::Module) -> Compiled) -> Result<Compiled> {
    let going_on = Cell::new(Ok(()));
    let is_cancelled = || {
        let asked = checkpoint();
        let is_cancelled = asked.is_err();
        going_on.set(asked);
        is_cancelled
    };
    let parsed = kps_syntax::parse_unless(source, &is_cancelled);
    going_on.into_inner()?;
    let (module, mistakes) = parsed.unwrap_or_else(|| unreachable!("what cancels a parse raises"));
    Ok(if mistakes.has_errors() { Err(mistakes) } else { compile(&module) })
}

/// The exception for a text that does not compile.
pub(crate) fn syntax_error(mistakes: Diagnostics) -> Raise {
    Raise::with_diagnostics(ExceptionKind::SyntaxError, mistakes)
}

/// The source named `file`, which is at `path`.
fn read_source(file: &Path, path: &Path) -> Result<Source> {
    match blocking::read_file(path)? {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Ok(Source::new(file.display().to_string(), text)),
            Err(_) => Err(errors::import_error(format!("`{}` is not UTF-8 text", file.display()))),
        },
        Err(error) => Err(errors::import_error(format!("cannot read `{}`: {error}", file.display()))),
    }
}
