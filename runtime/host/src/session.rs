//! The session of a prompt: entries that run one after another in one module.

use std::rc::Rc;

use kps_kernel::names;
use kps_syntax::suggest::nearest;
use kps_syntax::{Diagnostics, Source};

use crate::builtins;
use crate::errors;
use crate::host::{Host, Outcome};
use crate::inspect;
use crate::modules::kernels;
use crate::value::{Raise, Value};
use crate::vm::{compile_running, syntax_error};

/// A host with a prompt in front of it.
pub struct Session {
    host: Host,
    n_entries: usize,
}

/// The result of an entry.
#[derive(Debug)]
pub enum Evaluated {
    /// Statements, or an expression that is None.
    Nothing,
    /// The repr of the expression at the end of the entry.
    Repr(String),
    /// The entry requested to exit with this code.
    Exit(i32),
}

impl Session {
    pub fn new(host: Host) -> Session {
        Session { host, n_entries: 0 }
    }

    pub fn host(&mut self) -> &mut Host {
        &mut self.host
    }

    /// Runs one entry. The value of a final expression is returned as its repr, and stored as `_`. After an
    /// error the session continues with the definitions so far. Findings of checked launches are reported
    /// anew in each entry.
    pub fn eval(&mut self, text: &str) -> Result<Evaluated, Diagnostics> {
        self.n_entries += 1;
        let of_kernels = self.name_of_kernels(text).map(|name| format!("help(\"{name}\")"));
        let source =
            Source::new(format!("<entry {}>", self.n_entries), of_kernels.as_deref().unwrap_or(text));
        let main = self.host.main().clone();
        self.host.vm().findings.begin_anew();
        let result = self.host.enter(|vm| {
            let program = compile_running(&source, kps_bytecode::compile_entry)?.map_err(syntax_error)?;
            let value = vm.run_program(&program, main.name.clone(), &main.namespace)?;
            if value.is_none() {
                return Ok(Evaluated::Nothing);
            }
            if is_exit(&value, text) {
                return Ok(Evaluated::Exit(0));
            }
            let shown = vm.repr(&value)?;
            main.set("_", value);
            Ok(Evaluated::Repr(shown))
        });
        result.or_else(|raise| self.ended_by(raise))
    }

    /// The name in an entry `help(clamp)` that only kernels know.
    fn name_of_kernels<'t>(&mut self, entry: &'t str) -> Option<&'t str> {
        let name = entry.trim().strip_prefix("help(")?.strip_suffix(')')?.trim();
        (kps_kernel::is_name(name) && self.value_of(name).is_none()).then_some(name)
    }

    fn ended_by(&mut self, raise: Raise) -> Result<Evaluated, Diagnostics> {
        let vm = self.host.vm();
        let exception = vm.exception_object(raise);
        match vm.exit_code(&exception) {
            Some(code) => Ok(Evaluated::Exit(code)),
            None => Err(vm.unhandled(Raise::object(exception))),
        }
    }

    /// Runs a whole program in the session's module, as `kps -i` does.
    pub fn run(&mut self, source: &Source) -> Result<Outcome, Diagnostics> {
        self.host.run_source(source)
    }

    /// Whether the text is a whole entry, or the prompt should read another line.
    pub fn is_complete(&self, text: &str) -> bool {
        kps_syntax::completeness(text) != kps_syntax::Completeness::Incomplete
    }

    /// Names that may follow the end of `prefix`, whole: names in scope, or attributes after a dot.
    /// Attributes are looked up without running code of the script. In a kernel, the names that kernels know are among
    /// them, and members by the types of expressions.
    pub fn complete(&mut self, prefix: &str) -> Vec<String> {
        let start = prefix.rfind(|char: char| !(char.is_alphanumeric() || char == '_' || char == '.'));
        let expression = start.map_or(prefix, |at| {
            let width = prefix[at..].chars().next().map_or(0, char::len_utf8);
            &prefix[at + width..]
        });
        let (object, head) = match expression.rsplit_once('.') {
            Some((object, head)) => (Some(object), head),
            None => (None, expression),
        };
        let mut found: Vec<String> = match object {
            Some(object) => self.attributes_of(object),
            None => self.names_in_scope(),
        };
        if is_in_kernel(prefix) {
            match object {
                None => found.extend(names::names().map(str::to_owned)),
                Some("math" | "stdlib") => found.extend(names::member_names().map(str::to_owned)),
                Some(_) => {
                    let entry = &prefix[..prefix.len() - head.len() - 1];
                    found.extend(inspect::members(entry, &*kernels::module_env(self.host.main())));
                }
            }
        }
        found.retain(|name| name.starts_with(head) && (head.starts_with('_') || !name.starts_with('_')));
        found.sort();
        found.dedup();
        found
    }

    fn names_in_scope(&mut self) -> Vec<String> {
        let globals = self.host.main().namespace.to_pairs();
        let globals = globals.into_iter().map(|(name, _)| name.to_string());
        globals.chain(builtins::names().map(str::to_owned)).collect()
    }

    /// Explains the kernel with this name, dotted if it is a module's, as its method `explain` does: all of
    /// it, or one line.
    pub fn explain(&mut self, path: &str, line: Option<u32>) -> Result<String, Diagnostics> {
        let value = self.value_of(path);
        let known = self.names_in_scope();
        let explained = self.host.enter(|vm| {
            let meant = || nearest(path, known.iter().map(String::as_str)).map(str::to_owned);
            let value = value.ok_or_else(|| errors::name_not_defined(path, meant()))?;
            let text = kernels::explained(vm, &value, line);
            text.unwrap_or_else(|| Err(errors::only_kernels_are_explained(path, &value)))
        });
        explained.map_err(|raise| self.host.vm().unhandled(raise))
    }

    fn attributes_of(&mut self, path: &str) -> Vec<String> {
        match self.value_of(path) {
            Some(value) => {
                let names = self.host.vm().attr_names(&value);
                names.iter().map(|name| name.to_string()).collect()
            }
            None => Vec::new(),
        }
    }

    /// The value of a dotted path, looked up without running code of the script.
    fn value_of(&mut self, path: &str) -> Option<Value> {
        let mut names = path.split('.');
        let first = names.next().unwrap_or("");
        let main: Rc<_> = self.host.main().clone();
        let vm = self.host.vm();
        let mut value = match main.get(first) {
            Some(value) => value,
            None => match builtins::lookup(vm, first) {
                Ok(Some(value)) => value,
                _ => return None,
            },
        };
        for name in names {
            let next = match &value {
                Value::Module(module) => module.get(name),
                Value::Instance(instance) => instance.get_text(name),
                _ => None,
            };
            value = next?;
        }
        Some(value)
    }
}

/// Whether an entry is a kernel so far, whose names are those of kernels, too.
fn is_in_kernel(entry: &str) -> bool {
    entry.lines().any(|line| line.starts_with("@kernel") || line.starts_with("@python2shader"))
}

/// Whether an entry is only `exit` or `quit`, and the script has not rebound the name.
fn is_exit(value: &Value, entry: &str) -> bool {
    let name = entry.trim();
    matches!(name, "exit" | "quit")
        && matches!(value, Value::NativeFunction(function) if &*function.name == name)
}
