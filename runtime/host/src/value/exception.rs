//! Exceptions: the built-in classes, the content of an exception object, and how Rust code raises one.
//!
//! Native code returns `Err(type_error(format!(..)))` (see `errors.rs` for the constructors): a [`Raise`]
//! names the class and its arguments. The machine turns it into an object.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use kps_device::SourceLine;
use kps_syntax::source::Location;
use kps_syntax::{Diagnostic, Diagnostics};

use super::{Attrs, Doc, Instance, Name, Value, teardown};

/// The result of native code: a value, or a raised exception.
pub type Result<T = Value> = std::result::Result<T, Raise>;

macro_rules! exception_kinds {
    ($($kind:ident: $base:ident),* $(,)?) => {
        /// The built-in exception classes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum ExceptionKind {
            BaseException,
            $($kind),*
        }

        impl ExceptionKind {
            pub const ALL: &[ExceptionKind] = &[ExceptionKind::BaseException, $(ExceptionKind::$kind),*];

            pub fn name(self) -> &'static str {
                match self {
                    ExceptionKind::BaseException => "BaseException",
                    $(ExceptionKind::$kind => stringify!($kind)),*
                }
            }

            /// The stable code of an uncaught exception of this class.
            pub fn code(self) -> &'static str {
                match self {
                    ExceptionKind::BaseException => "runtime/BaseException",
                    $(ExceptionKind::$kind => concat!("runtime/", stringify!($kind))),*
                }
            }

            pub fn base(self) -> Option<ExceptionKind> {
                match self {
                    ExceptionKind::BaseException => None,
                    $(ExceptionKind::$kind => Some(ExceptionKind::$base)),*
                }
            }
        }
    };
}

exception_kinds! {
    SystemExit: BaseException,
    KeyboardInterrupt: BaseException,
    GeneratorExit: BaseException,
    Exception: BaseException,
    StopIteration: Exception,
    StopAsyncIteration: Exception,
    ArithmeticError: Exception,
    FloatingPointError: ArithmeticError,
    OverflowError: ArithmeticError,
    ZeroDivisionError: ArithmeticError,
    AssertionError: Exception,
    AttributeError: Exception,
    BufferError: Exception,
    EOFError: Exception,
    ImportError: Exception,
    ModuleNotFoundError: ImportError,
    LookupError: Exception,
    IndexError: LookupError,
    KeyError: LookupError,
    MemoryError: Exception,
    OutOfMemoryError: MemoryError,
    NameError: Exception,
    UnboundLocalError: NameError,
    OSError: Exception,
    BlockingIOError: OSError,
    ChildProcessError: OSError,
    ConnectionError: OSError,
    ConnectionAbortedError: ConnectionError,
    ConnectionRefusedError: ConnectionError,
    ConnectionResetError: ConnectionError,
    BrokenPipeError: ConnectionError,
    FileExistsError: OSError,
    FileNotFoundError: OSError,
    InterruptedError: OSError,
    IsADirectoryError: OSError,
    NotADirectoryError: OSError,
    PermissionError: OSError,
    ProcessLookupError: OSError,
    TimeoutError: OSError,
    ReferenceError: Exception,
    RuntimeError: Exception,
    DeviceLostError: RuntimeError,
    NotImplementedError: RuntimeError,
    RecursionError: RuntimeError,
    SyntaxError: Exception,
    IndentationError: SyntaxError,
    TabError: IndentationError,
    SystemError: Exception,
    TypeError: Exception,
    ShaderError: TypeError,
    ValueError: Exception,
    UnicodeError: ValueError,
    UnicodeDecodeError: UnicodeError,
    UnicodeEncodeError: UnicodeError,
    UnicodeTranslateError: UnicodeError,
    Warning: Exception,
    BytesWarning: Warning,
    DeprecationWarning: Warning,
    EncodingWarning: Warning,
    FutureWarning: Warning,
    ImportWarning: Warning,
    PendingDeprecationWarning: Warning,
    ResourceWarning: Warning,
    RuntimeWarning: Warning,
    SyntaxWarning: Warning,
    UnicodeWarning: Warning,
    UserWarning: Warning,
}

impl ExceptionKind {
    /// The documentation of a class that CPython does not have.
    pub fn doc(self) -> Option<Doc> {
        let sentence = match self {
            ExceptionKind::DeviceLostError => {
                "A device stopped working, and what only it had is gone; another manager works."
            }
            ExceptionKind::OutOfMemoryError => {
                "A device has no room for a tensor; the message has the bytes that were asked for, and those that \
                 are free."
            }
            _ => return None,
        };
        Some(Doc { signature: "", sentence })
    }

    /// Whether this is the class or one that derives from it.
    pub fn is_of(self, kind: ExceptionKind) -> bool {
        std::iter::successors(Some(self), |kind| kind.base()).any(|candidate| candidate == kind)
    }
}

/// An exception under way. Small, so that `Result` stays cheap.
pub struct Raise(Box<Raised>);

/// Whether an exception is an order of the host, which scripts cannot refuse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    #[default]
    None,
    /// No `except` catches it; `finally` and `with` still run.
    End,
    /// Nothing of the script runs any more.
    EndNow,
}

enum Raised {
    /// Not an object yet.
    New {
        kind: ExceptionKind,
        args: Vec<Value>,
        order: Order,
        help: Option<String>,
        diagnostics: Option<Diagnostics>,
        place: Option<KernelPlace>,
        expression: Option<Location>,
        members: Vec<(&'static str, Value)>,
    },
    Object(Rc<Instance>),
}

impl Raise {
    /// An exception of a built-in class with a message.
    pub fn new(kind: ExceptionKind, message: impl Into<String>) -> Raise {
        Raise::with_args(kind, vec![Value::str(message)])
    }

    pub fn with_args(kind: ExceptionKind, args: Vec<Value>) -> Raise {
        Raise(Box::new(Raised::New {
            kind,
            args,
            order: Order::None,
            help: None,
            diagnostics: None,
            place: None,
            expression: None,
            members: Vec::new(),
        }))
    }

    /// An exception object; its payload must be [`super::Payload::Exception`].
    pub fn object(instance: Rc<Instance>) -> Raise {
        debug_assert!(instance.exception().is_some());
        Raise(Box::new(Raised::Object(instance)))
    }

    /// An exception with diagnostics of the kernel compiler or of a device, which are printed if it is
    /// unhandled. Its message is that of the first one.
    pub fn with_diagnostics(kind: ExceptionKind, diagnostics: Diagnostics) -> Raise {
        let message = diagnostics.iter().next().map_or(String::new(), |first| first.message.clone());
        Raise::with_message_and_diagnostics(kind, message, diagnostics)
    }

    /// The same with a separate message, for code that handles it.
    pub fn with_message_and_diagnostics(
        kind: ExceptionKind,
        message: String,
        diagnostics: Diagnostics,
    ) -> Raise {
        let args = vec![Value::str(message)];
        Raise(Box::new(Raised::New {
            kind,
            args,
            order: Order::None,
            help: None,
            diagnostics: Some(diagnostics),
            place: None,
            expression: None,
            members: Vec::new(),
        }))
    }

    pub fn with_diagnostic(kind: ExceptionKind, diagnostic: Diagnostic) -> Raise {
        Raise::with_diagnostics(kind, Diagnostics::from(diagnostic))
    }

    /// Adds a help text.
    pub fn help(mut self, text: impl Into<String>) -> Raise {
        match &mut *self.0 {
            Raised::New { help, .. } => *help = Some(text.into()),
            Raised::Object(instance) => {
                if let Some(data) = instance.exception() {
                    *data.help.borrow_mut() = Some(text.into());
                }
            }
        }
        self
    }

    /// Sets a member that is not an argument: the `name` of a NameError.
    pub(crate) fn with_member(mut self, name: &'static str, value: Value) -> Raise {
        if let Raised::New { members, .. } = &mut *self.0 {
            members.push((name, value));
        }
        self
    }

    /// The `value` of a StopIteration.
    pub(crate) fn stop_value(&self) -> Value {
        let first = |args: &[Value]| args.first().cloned().unwrap_or(Value::None);
        match &*self.0 {
            Raised::New { args, .. } => first(args),
            Raised::Object(instance) => {
                instance.exception().map_or(Value::None, |data| first(&data.args.borrow()))
            }
        }
    }

    /// Adds the place in a kernel.
    pub fn in_kernel(mut self, kernel_place: KernelPlace) -> Raise {
        match &mut *self.0 {
            Raised::New { place, .. } => *place = Some(kernel_place),
            Raised::Object(instance) => {
                if let Some(data) = instance.exception() {
                    *data.place.borrow_mut() = Some(kernel_place);
                }
            }
        }
        self
    }

    /// Adds the launch to a place in a kernel, and says in the message what was launched.
    pub(crate) fn launched(mut self, call: Location, what: &str) -> Raise {
        if let Raised::New { args, place: Some(place), .. } = &mut *self.0 {
            place.launch = Some(call);
            if let [Value::Str(message)] = &args[..] {
                *args = vec![Value::str(format!("{} ({what})", message.as_str()))];
            }
        }
        self
    }

    /// Adds the place of the expression that was being computed.
    pub(crate) fn computing(mut self, location: Location) -> Raise {
        if let Raised::New { expression, .. } = &mut *self.0 {
            *expression = Some(location);
        }
        self
    }

    /// Whether a kernel failed, and the exception is not an object yet.
    pub(crate) fn is_new_fault(&self) -> bool {
        matches!(&*self.0, Raised::New { kind: ExceptionKind::RuntimeError, place: Some(_), .. })
    }

    /// Marks an exception that is not an object yet as ordered by the host.
    pub(crate) fn ordered(mut self, by_host: Order) -> Raise {
        if let Raised::New { order, .. } = &mut *self.0 {
            *order = by_host;
        }
        self
    }

    /// Whether the machine or a device was interrupted just now; not one that a script raises again.
    pub(crate) fn is_new_interrupt(&self) -> bool {
        matches!(&*self.0, Raised::New { kind: ExceptionKind::KeyboardInterrupt, .. })
    }

    /// Whether it is an interrupt, or a limit of the host.
    pub(crate) fn is_interrupt(&self) -> bool {
        let order = match &*self.0 {
            Raised::New { order, .. } => *order,
            Raised::Object(instance) => instance.order(),
        };
        order != Order::None || self.is(ExceptionKind::KeyboardInterrupt)
    }

    /// Replaces the class, and the message by the result of `message`; place and help stay. An object is
    /// unchanged.
    pub(crate) fn turn_into(
        mut self,
        new_kind: ExceptionKind,
        message: impl FnOnce(&str) -> String,
    ) -> Raise {
        if let Raised::New { kind, args, .. } = &mut *self.0 {
            let said = args.first().and_then(Value::as_str).unwrap_or_default();
            let said = message(said);
            *kind = new_kind;
            *args = vec![Value::str(said)];
        }
        self
    }

    /// Whether this is the built-in class `kind` or a class derived from it.
    pub fn is(&self, kind: ExceptionKind) -> bool {
        self.kind().is_of(kind)
    }

    /// The built-in class that it is of, or derives from.
    pub fn kind(&self) -> ExceptionKind {
        match &*self.0 {
            Raised::New { kind, .. } => *kind,
            Raised::Object(instance) => instance.class().exception_kind(),
        }
    }

    /// The object for handlers; `class_of` returns the class of a built-in kind.
    pub(crate) fn into_object(
        self,
        class_of: impl FnOnce(ExceptionKind) -> Rc<super::Class>,
    ) -> Rc<Instance> {
        match *self.0 {
            Raised::Object(instance) => instance,
            Raised::New { kind, args, order, help, diagnostics, place, expression, members } => {
                let data = ExceptionData::default();
                *data.args.borrow_mut() = args;
                data.order.set(order);
                *data.help.borrow_mut() = help;
                *data.diagnostics.borrow_mut() = diagnostics;
                *data.place.borrow_mut() = place;
                *data.expression.borrow_mut() = expression;
                if kind.is_of(ExceptionKind::OSError) {
                    data.take_file();
                }
                for (name, value) in members {
                    data.members.borrow_mut().insert(Name::from(name), value);
                }
                Rc::new(Instance::new(class_of(kind), super::Payload::Exception(Box::new(data))))
            }
        }
    }
}

/// For messages about the host's own mistakes; scripts see the exception object.
impl std::fmt::Debug for Raise {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &*self.0 {
            Raised::New { kind, args, .. } => write!(f, "{}({args:?})", kind.name()),
            Raised::Object(instance) => write!(f, "{}(..)", instance.class().name),
        }
    }
}

impl super::Class {
    /// The built-in exception class that this one is or derives from.
    pub fn exception_kind(&self) -> ExceptionKind {
        match self.layout {
            super::Layout::Exception(kind) => kind,
            _ => ExceptionKind::BaseException,
        }
    }
}

impl Instance {
    /// Whether this is an exception that the host ordered.
    pub fn order(&self) -> Order {
        self.exception().map_or(Order::None, |data| data.order.get())
    }
}

/// One frame that an exception passed through.
#[derive(Clone)]
pub struct TraceEntry {
    pub location: Location,
    pub function: Name,
}

/// The place in a kernel that a device reported, and a short description.
#[derive(Clone, Debug)]
pub struct KernelPlace {
    pub line: SourceLine,
    pub text: String,
    /// The launch, if it is not the call that raised the exception.
    pub launch: Option<Location>,
}

/// The content of an exception object besides its attributes.
#[derive(Default)]
pub struct ExceptionData {
    pub args: RefCell<Vec<Value>>,
    /// Frames passed so far, innermost first.
    pub trace: RefCell<Vec<TraceEntry>>,
    /// `raise .. from cause`.
    pub cause: RefCell<Option<Rc<Instance>>>,
    /// The exception that was being handled when this was raised.
    pub context: RefCell<Option<Rc<Instance>>>,
    /// `from None`, or a cause: the context is not printed.
    pub suppress_context: Cell<bool>,
    pub order: Cell<Order>,
    pub help: RefCell<Option<String>>,
    pub diagnostics: RefCell<Option<Diagnostics>>,
    pub place: RefCell<Option<KernelPlace>>,
    /// The expression of arrays that was being computed.
    pub expression: RefCell<Option<Location>>,
    /// Values that a script assigned to `value`, `code`, `errno` and similar members, which are otherwise
    /// arguments.
    pub members: RefCell<Attrs>,
}

impl ExceptionData {
    /// Of the arguments of an OSError, the number and the message stay; the file becomes a member.
    pub(crate) fn take_file(&self) {
        let mut args = self.args.borrow_mut();
        if args.len() == 3 {
            let file = args.pop().expect("there are three");
            self.members.borrow_mut().insert(Name::from("filename"), file);
        }
    }

    /// The class of OSErrors with the number in the first argument.
    pub(crate) fn kind_of_system(&self) -> Option<ExceptionKind> {
        let args = self.args.borrow();
        let [Value::Int(number), _, ..] = &args[..] else { return None };
        Some(match number {
            1 | 13 => ExceptionKind::PermissionError,
            2 => ExceptionKind::FileNotFoundError,
            3 => ExceptionKind::ProcessLookupError,
            4 => ExceptionKind::InterruptedError,
            10 => ExceptionKind::ChildProcessError,
            11 | 114 | 115 => ExceptionKind::BlockingIOError,
            17 => ExceptionKind::FileExistsError,
            20 => ExceptionKind::NotADirectoryError,
            21 => ExceptionKind::IsADirectoryError,
            32 | 108 => ExceptionKind::BrokenPipeError,
            103 => ExceptionKind::ConnectionAbortedError,
            104 => ExceptionKind::ConnectionResetError,
            110 => ExceptionKind::TimeoutError,
            111 => ExceptionKind::ConnectionRefusedError,
            _ => return None,
        })
    }
}

impl Drop for ExceptionData {
    fn drop(&mut self) {
        let args = (std::mem::take(self.args.get_mut()), std::mem::take(self.members.get_mut()));
        let linked = (self.cause.get_mut().take(), self.context.get_mut().take());
        teardown((args, linked));
    }
}
