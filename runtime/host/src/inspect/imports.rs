//! Reads imported modules without running them: files beside the script, and those of the standard library.
//!
//! A name in an import goes in; the module's bindings come out, as far as they are known. A module that is
//! not found, or does not parse, is unknown. Each file is read once.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};

use kps_kernel::{EnvModule, EnvValue, Holder, KernelEnv};
use kps_syntax::Source;
use kps_syntax::ast::Name;

use super::names::StaticEnv;
use crate::modules;
use crate::vm::import::{absolute, file_of};

/// Where the imports of one module are resolved.
#[derive(Clone)]
pub(super) struct Imports {
    /// Of the modules that were read, which import one another.
    read: Weak<Modules>,
    /// The script itself keeps them.
    _kept: Option<Rc<Modules>>,
    /// The full name of the module that imports.
    name: Name,
    is_package: bool,
}

struct Modules {
    /// The folder of the script; `None` for text without a file.
    folder: Option<PathBuf>,
    read: RefCell<BTreeMap<Name, Option<Read>>>,
}

#[derive(Clone)]
struct Read {
    env: StaticEnv,
    imports: Imports,
    file: Option<PathBuf>,
}

impl Imports {
    pub fn of_script(script: &Source) -> Imports {
        let file = Some(Path::new(script.name())).filter(|file| file.is_file());
        let folder = file.and_then(Path::parent).map(Path::to_owned);
        let modules = Rc::new(Modules { folder, read: RefCell::default() });
        let read = Rc::downgrade(&modules);
        Imports { read, _kept: Some(modules), name: "__main__".into(), is_package: false }
    }

    /// A module by its name after `level` dots.
    pub fn module(&self, name: &str, level: usize) -> Option<EnvModule> {
        let name: Name = absolute((&self.name, self.is_package), name, level)?.into();
        let read = self.read(&name)?;
        Some(EnvModule { name, kind: Holder::Module, members: Rc::new(Members(read)) })
    }

    /// The bindings of such a module.
    pub fn names_of(&self, name: &str, level: usize) -> Option<StaticEnv> {
        let name: Name = absolute((&self.name, self.is_package), name, level)?.into();
        Some(self.read(&name)?.env)
    }

    /// Whether such a module is known not to exist: text without a file has no modules beside it.
    pub fn lacks(&self, name: &str) -> bool {
        let folder = self.read.upgrade().and_then(|modules| modules.folder.clone());
        let is_of_scripts =
            |folder: PathBuf| file_of(&folder, name, Path::is_file).is_none() && !folder.join(name).is_dir();
        // Importing from `__future__` is a word to the compiler.
        name != "__future__"
            && modules::find(name).is_none()
            && kps_stdlib::source(name).is_none()
            && folder.is_some_and(is_of_scripts)
    }

    fn read(&self, name: &Name) -> Option<Read> {
        let modules = self.read.upgrade()?;
        if let Some(known) = modules.read.borrow().get(name) {
            return known.clone();
        }
        let read = self.read_new(&modules, name);
        modules.read.borrow_mut().insert(name.clone(), read.clone());
        read
    }

    fn read_new(&self, modules: &Modules, name: &Name) -> Option<Read> {
        // Modules in Rust take precedence; `builtin` handles them.
        if modules::find(name).is_some() {
            return None;
        }
        let (source, file, is_package) = self.find(modules, name)?;
        let (module, mistakes) = kps_syntax::parse(&source);
        let imports = Imports { read: self.read.clone(), _kept: None, name: name.clone(), is_package };
        let env = StaticEnv::of_module(&module, imports.clone());
        (!mistakes.has_errors()).then_some(Read { env, imports, file })
    }

    /// The text of a module, its file, and whether it is a package.
    fn find(&self, modules: &Modules, name: &Name) -> Option<(Source, Option<PathBuf>, bool)> {
        if let Some(text) = kps_stdlib::source(name) {
            return Some((Source::new(format!("<{name}>"), text), None, false));
        }
        let (folder, last) = match name.rsplit_once('.') {
            None => (modules.folder.clone()?, &**name),
            Some((package, last)) => {
                let package = self.read(&package.into()).filter(|read| read.imports.is_package)?;
                (package.file?.parent()?.to_owned(), last)
            }
        };
        let (file, is_package) = file_of(&folder, last, Path::is_file)?;
        let text = std::fs::read_to_string(&file).ok()?;
        Some((Source::new(file.display().to_string(), text), Some(file), is_package))
    }
}

/// The bindings of a module, and its submodules if it is a package.
struct Members(Read);

impl KernelEnv for Members {
    fn get(&self, name: &str) -> Option<EnvValue> {
        let Read { env, imports, .. } = &self.0;
        env.get(name).or_else(|| {
            let package = Some(&imports.name).filter(|_| imports.is_package)?;
            imports.module(&format!("{package}.{name}"), 0).map(EnvValue::Module)
        })
    }

    fn names(&self) -> Vec<Name> {
        self.0.env.names()
    }

    fn candidates(&self) -> Option<Vec<Name>> {
        self.0.env.candidates()
    }

    fn identity(&self) -> usize {
        self.0.env.identity()
    }
}
