//! Kernels from a file, with the environment of its module.

use std::rc::Rc;
use std::sync::Arc;

use kps_kernel::{
    ArrayParam, Constant, EnvModule, EnvValue, HelperFunction, Holder, IndexRange, Ints, KernelEnv,
    KernelModule, KernelOptions, LaunchAssumptions, MapEnv, ParamType, Reach, Scalar, Signature, Target,
    Type, Width,
};
use kps_syntax::ast::{ArgumentKind, Expr, ExprKind, FunctionDef, Module, Name, Stmt, StmtKind, UnaryOp};
use kps_syntax::{Diagnostic, Diagnostics, Severity, Source};

/// What the statements of a module define: constants, plain functions, structs, imported modules.
#[derive(Clone)]
pub struct ModuleEnv(Rc<Module>);

impl KernelEnv for ModuleEnv {
    fn get(&self, name: &str) -> Option<EnvValue> {
        // The last definition counts, as it would after the module has run.
        self.0.body.iter().rev().find_map(|stmt| self.defined(stmt, name))
    }

    fn names(&self) -> Vec<Name> {
        let defined = self.0.body.iter().filter_map(|stmt| match &stmt.kind {
            StmtKind::Function(def) => Some(def.name.name.clone()),
            StmtKind::Assign { targets, .. } => match &targets[0].kind {
                ExprKind::Name(name) => Some(name.clone()),
                _ => None,
            },
            _ => None,
        });
        defined.collect()
    }

    fn identity(&self) -> usize {
        Rc::as_ptr(&self.0) as usize
    }
}

impl ModuleEnv {
    pub fn new(module: &Rc<Module>) -> ModuleEnv {
        ModuleEnv(Rc::clone(module))
    }

    fn defined(&self, stmt: &Stmt, name: &str) -> Option<EnvValue> {
        match &stmt.kind {
            StmtKind::Function(def) if &*def.name.name == name => Some(EnvValue::Function(HelperFunction {
                def: Arc::clone(def),
                source: self.0.source.clone(),
                env: Rc::new(ModuleEnv(Rc::clone(&self.0))),
            })),
            StmtKind::Assign { targets, value } => match &targets[0].kind {
                ExprKind::Name(target) if &**target == name => Some(self.value(value)),
                _ => None,
            },
            StmtKind::Class(def) if &*def.name.name == name => {
                let env: Rc<dyn KernelEnv> = Rc::new(self.clone());
                let of = kps_kernel::read_struct(def, &self.0.source, &env);
                let of = of.unwrap_or_else(|mistakes| panic!("{}", render(&mistakes.0)));
                Some(EnvValue::Type(Type::Struct(Rc::new(of))))
            }
            StmtKind::Import(imports) => {
                let import = imports.iter().find(|import| &*import.path[0].name == name)?;
                let members = Rc::new(MapEnv::new());
                Some(EnvValue::Module(EnvModule {
                    name: import.path[0].name.clone(),
                    kind: Holder::Module,
                    members,
                }))
            }
            _ => None,
        }
    }
}

impl ModuleEnv {
    fn value(&self, value: &Expr) -> EnvValue {
        if let ExprKind::Lambda(lambda) = &value.kind {
            return EnvValue::Function(HelperFunction {
                def: Arc::new(lambda.to_function(value.span)),
                source: self.0.source.clone(),
                env: Rc::new(self.clone()),
            });
        }
        match kps_kernel::read_type(value, &self.0.source, self) {
            Ok(ty) if matches!(value.kind, ExprKind::Call { .. }) => ty.into(),
            _ => constant(value),
        }
    }
}

fn constant(value: &Expr) -> EnvValue {
    match &value.kind {
        ExprKind::Int(value) => EnvValue::Int(value.to_string().parse().expect("a case's ints are small")),
        ExprKind::Float(value) => EnvValue::Float(*value),
        ExprKind::True => EnvValue::Bool(true),
        ExprKind::False => EnvValue::Bool(false),
        ExprKind::Unary { op: UnaryOp::Minus, operand } => match constant(operand) {
            EnvValue::Int(value) => EnvValue::Int(-value),
            EnvValue::Float(value) => EnvValue::Float(-value),
            other => other,
        },
        ExprKind::Str(text) => EnvValue::Str(Arc::from(&**text)),
        _ => EnvValue::Other { type_name: "list".to_owned() },
    }
}

/// One compiled kernel of a file.
pub struct Compiled {
    pub name: String,
    pub module: KernelModule,
}

/// Compiles every kernel of a text, every array reached in one way; kernels with mistakes leave them in the list,
/// others their warnings. A line `# wide` in the text counts elements and invocations as those that are more
/// than an i32 counts, a line `# far` reaches every array by its address.
pub fn compile(file: &str, text: &str, target: &Target, reach: Reach) -> (Vec<Compiled>, Vec<Diagnostic>) {
    let source = Source::new(file, text);
    let (module, diagnostics) = kps_syntax::parse(&source);
    let mut mistakes: Vec<Diagnostic> = diagnostics.into_iter().collect();
    let module = Rc::new(module);
    let env = ModuleEnv::new(&module);
    let mut compiled = Vec::new();
    for stmt in &module.body {
        let StmtKind::Function(def) = &stmt.kind else { continue };
        let Some(options) = options(def) else { continue };
        match compile_one(def, &source, &env, options, text, target, reach) {
            Ok((module, warnings)) => {
                compiled.push(Compiled { name: def.name.name.to_string(), module });
                mistakes.extend(warnings);
            }
            Err(found) => mistakes.extend(found),
        }
    }
    (compiled, mistakes)
}

/// What the annotations say, or the lines `# with`.
pub fn signature(template: &kps_kernel::KernelTemplate, env: &dyn KernelEnv, text: &str) -> Signature {
    let declared = Signature::declared(template, env);
    let signature = declared.unwrap_or_else(|| Signature::new(template, env, given(template, text)));
    let assumptions = LaunchAssumptions { index_range: IndexRange::Assumed, ..signature.assumptions };
    signature.with_assumptions(assumptions)
}

fn compile_one(
    def: &Arc<FunctionDef>,
    source: &Source,
    env: &dyn KernelEnv,
    options: KernelOptions,
    text: &str,
    target: &Target,
    reach: Reach,
) -> Result<(KernelModule, Diagnostics), Diagnostics> {
    let template = kps_kernel::check(def, source, env, options)?;
    let mut signature = signature(&template, env, text);
    let says = |directive: &str| text.lines().any(|line| line == directive);
    let counts = if says("# wide") { Width::Wide } else { Width::Narrow };
    let reach = if says("# far") { Reach::Address } else { reach };
    for (param, given) in template.params.iter().zip(&mut signature.params) {
        if let ParamType::Array(array) = given
            && !matches!(param.kind, kps_kernel::ParamKind::Uniform { .. })
        {
            (array.reach, array.counts) = (reach, counts);
        }
    }
    let ints = if says("# modest") { Ints::Modest } else { Ints::Any };
    let assumptions = LaunchAssumptions { ids: counts, ints, ..signature.assumptions };
    let signature = signature.with_assumptions(assumptions);
    let module = kps_kernel::specialize(&template, env, &signature, target)?;
    let mut warnings = template.warnings;
    warnings.extend(module.warnings.clone());
    Ok((module, warnings))
}

/// The types of parameters without an annotation: lines such as `# with N = 4, x = Array f32 2`.
fn given(template: &kps_kernel::KernelTemplate, text: &str) -> Vec<ParamType> {
    let declared =
        text.lines().filter_map(|line| line.strip_prefix("# with ")).flat_map(|line| line.split(','));
    let given: Vec<(&str, &str)> = declared
        .map(|item| item.split_once('=').expect("`# with name = value`"))
        .map(|(name, value)| (name.trim(), value.trim()))
        .collect();
    let params = template.params.iter().map(|param| {
        use kps_kernel::ParamKind;
        match &param.kind {
            ParamKind::Array(array) => return ParamType::Array(array.clone()),
            ParamKind::Buffer { element, .. } => return ParamType::Array(ArrayParam::flat(element.clone())),
            ParamKind::Uniform { ty, .. } | ParamKind::Cell { ty, .. } => {
                return ParamType::Array(ArrayParam::flat(ty.clone()));
            }
            ParamKind::Scalar(ty) => return ParamType::Scalar(ty.clone()),
            ParamKind::Input { .. } | ParamKind::Port(_) => return ParamType::Input,
            ParamKind::Texture { ty, .. } => return ParamType::Texture(*ty),
            ParamKind::Sampler { .. } => return ParamType::Sampler,
            ParamKind::Untyped | ParamKind::Const(_) => {}
        }
        let name = &*param.name.name;
        let (_, value) =
            given.iter().find(|(known, _)| *known == name).expect("`# with` names every parameter");
        match (value.split_once(' '), value.parse::<i32>()) {
            (Some(("Array", element)), _) => {
                let (element, rank) = element.split_once(' ').unwrap_or((element, "1"));
                let element = Type::by_name(element).expect("an element type");
                ParamType::Array(ArrayParam::new(element, rank.parse().expect("a number of axes")))
            }
            (_, Ok(value)) => ParamType::Const(Constant::int(Scalar::I32, i128::from(value))),
            _ => ParamType::Scalar(Type::by_name(value).expect("a scalar type")),
        }
    });
    params.collect()
}

/// The options in the decorator; `None` for functions that are no kernels.
pub fn options(def: &FunctionDef) -> Option<KernelOptions> {
    let [decorator] = &def.decorators[..] else { return None };
    let (name, args) = match &decorator.kind {
        ExprKind::Name(name) => (name, &[][..]),
        ExprKind::Call { func, args } => match &func.kind {
            ExprKind::Name(name) => (name, &args[..]),
            _ => return None,
        },
        _ => return None,
    };
    let mut options = match &**name {
        "kernel" => KernelOptions::kernel(),
        "python2shader" => KernelOptions::python2shader(),
        _ => return None,
    };
    for arg in args {
        let ArgumentKind::Keyword(keyword, value) = &arg.kind else { continue };
        match (&*keyword.name, &value.kind) {
            ("precise", ExprKind::True) => options.precise = true,
            ("local_size", ExprKind::Tuple(items)) => {
                let mut size = [1; 3];
                for (axis, item) in size.iter_mut().zip(items) {
                    if let ExprKind::Int(value) = &item.kind {
                        *axis = value.to_string().parse().expect("a small int");
                    }
                }
                options.local_size = Some(size);
            }
            _ => {}
        }
    }
    Some(options)
}

/// Diagnostics as expected files have them: code, place, message, labels, help.
pub fn render(diagnostics: &[Diagnostic]) -> String {
    let mut text = String::new();
    for diagnostic in diagnostics {
        let severity = if diagnostic.severity == Severity::Warning { "warning " } else { "" };
        text += &format!("{severity}{}: {}\n", diagnostic.code, diagnostic.message);
        for label in &diagnostic.labels {
            let (line, column) = label.location.source.line_column(label.location.span.start);
            let slice = label.location.source.slice(label.location.span);
            let slice = slice.lines().next().unwrap_or("");
            text += &format!("  {line}:{column} `{slice}`");
            text += &if label.text.is_empty() { "\n".to_owned() } else { format!(" -- {}\n", label.text) };
        }
        if let Some(help) = &diagnostic.help {
            text += &format!("  help: {help}\n");
        }
    }
    text
}
