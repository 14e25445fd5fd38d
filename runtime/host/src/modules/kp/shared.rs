//! The managers of one machine: which device a script selects, and which manager runs a kernel without one.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::VecDeque;
use std::ops::Deref;
use std::rc::{Rc, Weak};
use std::time::Duration;

use kps_array::Engine;
use kps_array::target::target_of;
use kps_compute::{ComputeError, Kernel, Manager, Running, Sequence, Tensor};
use kps_device::{DeviceInfo, Feature, Instrument, Selector, Ticket, select};
use kps_kernel::{KernelModule, Target};
use kps_syntax::diagnostic::Frame;
use rustc_hash::FxHashMap;

use super::errors::{self, compute};
use super::messages::{Ran, deliver};
use crate::checking::Checking;
use crate::errors::value_error;
use crate::modules::logging;
use crate::value::{ExceptionKind, Name, Raise, Result, TraceEntry, Value};
use crate::vm::Vm;

/// A manager, shared by all objects created with it.
pub type SharedManager = Rc<ScriptedManager>;

/// A manager with the kernels that were loaded for it.
pub struct ScriptedManager {
    manager: Rc<Manager>,
    /// Computes expressions of arrays. Made at the first one.
    engine: OnceCell<Rc<Engine>>,
    is_eager: Rc<Cell<bool>>,
    checking: Rc<Cell<Checking>>,
    /// The compilation target for the device.
    target: Target,
    /// By the module's address.
    kernels: RefCell<FxHashMap<*const KernelModule, Loaded>>,
    /// The number of entries at which those of dropped modules are removed.
    sweep_at: Cell<usize>,
    /// Sequences that were started with checks, and may be running.
    started: RefCell<Vec<Sequence>>,
    /// The last submissions that had not ended when their calls returned.
    running: RefCell<VecDeque<Started>>,
}

struct Loaded {
    kernel: Rc<Kernel>,
    /// As long as this is there, the module's address is no other module's.
    module: Weak<KernelModule>,
}

/// A submission, and the call that started it.
struct Started {
    submission: Ticket,
    /// Of its kernel; `None` for a sequence.
    kernel: Option<String>,
    calls: Vec<Frame>,
}

/// Loaded kernels at which a manager first removes those of dropped modules.
const MIN_SWEEP: usize = 64;

/// Stored sequences at which a manager drops those that have ended; also the limit of stored submissions.
const MAX_STARTED: usize = 64;

impl Deref for ScriptedManager {
    type Target = Manager;

    fn deref(&self) -> &Manager {
        &self.manager
    }
}

impl ScriptedManager {
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// What computes expressions of arrays on the device.
    pub fn engine(&self) -> Rc<Engine> {
        let make = || Rc::new(Engine::new(self.manager.clone(), self.is_eager.clone()));
        self.engine.get_or_init(make).clone()
    }

    /// The instrumentation of a launch with this many invocations; `None` if the number is unknown.
    pub fn instrument(&self, n_invocations: Option<u64>) -> Instrument {
        self.checking.get().instrument(n_invocations)
    }

    /// Which launches are checked.
    pub fn checking(&self) -> Checking {
        self.checking.get()
    }

    /// Whether some launches are watched for mistakes.
    pub fn may_check(&self) -> bool {
        self.checking.get() != Checking::Never
    }

    /// Stores a sequence that was started, so that its findings are reported below the statements that
    /// recorded its launches, and its error with the call that started it.
    pub fn note_started(&self, vm: &mut Vm, sequence: &Sequence) {
        self.note_submitted(vm);
        if let Some(submission) = sequence.submission().filter(|_| sequence.is_running()) {
            self.note_running(vm, None, submission);
        }
        if self.may_check() && sequence.submission().is_some() {
            if self.started.borrow().len() == MAX_STARTED {
                self.forget_ended();
            }
            self.started.borrow_mut().push(sequence.clone());
        }
    }

    /// Returns the error of a launch that has ended; one that still runs is noted. On a device that cannot interrupt
    /// a submission, it has no error of its own, and asking takes longer than the launch.
    pub fn note_launch(
        &self,
        vm: &mut Vm,
        kernel: &str,
        launch: Ticket,
    ) -> std::result::Result<(), ComputeError> {
        self.note_submitted(vm);
        if self.info().capabilities.interrupts_submissions && !self.wait(launch, Some(Duration::ZERO))? {
            self.note_running(vm, Some(kernel), launch);
        }
        Ok(())
    }

    /// The machine starts what the device collects.
    fn note_submitted(&self, vm: &mut Vm) {
        if self.info().capabilities.collects_submissions {
            vm.start_soon(start_older);
        }
    }

    /// Stores the calls that led to a submission that is running, for its error. On a device that cannot
    /// interrupt a submission, it has no error of its own.
    fn note_running(&self, vm: &Vm, kernel: Option<&str>, submission: Ticket) {
        if !self.info().capabilities.interrupts_submissions {
            return;
        }
        let mut running = self.running.borrow_mut();
        if running.len() == MAX_STARTED {
            running.pop_front();
        }
        running.push_back(Started { submission, kernel: kernel.map(str::to_owned), calls: vm.trace() });
    }

    /// The submission whose error was raised last, if its call had returned. It is returned once.
    fn take_failed(&self) -> Option<Started> {
        let failed = self.last_failed()?;
        let mut running = self.running.borrow_mut();
        let at = running.iter().position(|started| started.submission == failed)?;
        running.remove(at)
    }

    /// The sequence with this submission.
    pub fn started_as(&self, submission: Ticket) -> Option<Sequence> {
        let started = self.started.borrow();
        started.iter().find(|sequence| sequence.submission() == Some(submission)).cloned()
    }

    /// Drops the stored sequences that have ended. They have no findings, or these were reported.
    pub fn forget_ended(&self) {
        self.started.borrow_mut().retain(Sequence::is_running);
    }

    /// The kernel of a compiled module on this manager's device. A module is always run in the same way.
    pub fn loaded(&self, module: &Rc<KernelModule>, running: Running) -> Result<Rc<Kernel>> {
        let key = Rc::as_ptr(module);
        if let Some(loaded) = self.kernels.borrow().get(&key) {
            return Ok(loaded.kernel.clone());
        }
        let kernel = self.manager.kernel_run_so(&module.words, &[], running).map_err(compute)?;
        let mut kernels = self.kernels.borrow_mut();
        if kernels.len() >= self.sweep_at.get() {
            kernels.retain(|_, loaded| loaded.module.strong_count() > 0);
            self.sweep_at.set((2 * kernels.len()).max(MIN_SWEEP));
        }
        kernels.insert(key, Loaded { kernel: kernel.clone(), module: Rc::downgrade(module) });
        Ok(kernel)
    }
}

/// Whether operations on arrays run when they are written.
#[derive(Default)]
struct Eager(Rc<Cell<bool>>);

pub fn set_eager(vm: &mut Vm, on: bool) {
    vm.state::<Eager>().0.set(on);
}

/// The managers that scripts opened, the last one last.
#[derive(Default)]
struct Managers {
    open: RefCell<Vec<Weak<ScriptedManager>>>,
    /// Opened for kernels if the script has no manager.
    own: RefCell<Option<SharedManager>>,
    /// Those whose streams were entered, the last one last.
    entered: RefCell<Vec<Weak<ScriptedManager>>>,
}

/// Kernels without tensors of another manager run on this one until this is dropped.
pub struct EnteredManager {
    managers: Rc<Managers>,
    manager: Weak<ScriptedManager>,
}

impl Drop for EnteredManager {
    fn drop(&mut self) {
        let mut entered = self.managers.entered.borrow_mut();
        if let Some(at) = entered.iter().rposition(|entered| entered.ptr_eq(&self.manager)) {
            entered.remove(at);
        }
    }
}

impl Managers {
    fn alive(&self) -> Vec<SharedManager> {
        let mut open = self.open.borrow_mut();
        open.retain(|manager| manager.upgrade().is_some_and(|manager| manager.is_init()));
        open.iter().filter_map(Weak::upgrade).collect()
    }

    /// The manager whose stream was entered last.
    fn entered(&self) -> Option<SharedManager> {
        let entered = self.entered.borrow().last()?.upgrade();
        entered.filter(|manager| manager.is_init())
    }
}

pub fn open(
    vm: &mut Vm,
    selector: Selector,
    families: &[u32],
    extensions: &[String],
    checking: Rc<Cell<Checking>>,
    memory_limit: Option<u64>,
) -> Result<SharedManager> {
    let log = logging::kp_log(vm);
    let builder =
        Manager::builder().device(selector).queue_families(families).extensions(extensions).log(log);
    let builder = builder.profile(vm.recorder.clone()).trace(vm.tracer.clone()).memory_limit(memory_limit);
    let manager = match vm.opener.clone() {
        Some(open) => builder.open_with(|selector, options| open(selector, options)),
        None => builder.open(),
    };
    let manager = manager.map_err(compute)?;
    let checking = match checking.get() {
        _ if manager.info().capabilities.checks => checking,
        Checking::Always(_) => return Err(errors::cannot_check(&manager.info().name)),
        Checking::Small { .. } | Checking::Never => Rc::default(),
    };
    vm.interrupter().link(&manager.device().map_err(compute)?.interrupt_flag());
    logging::flush_kp(vm)?;
    let debug_info = vm.debug_info && manager.info().features.contains(&Feature::NonSemanticInfo);
    let target = Target { debug_info, ..target_of(manager.info()) };
    let manager = Rc::new(ScriptedManager {
        manager: Rc::new(manager),
        engine: OnceCell::new(),
        is_eager: vm.state::<Eager>().0.clone(),
        checking,
        target,
        kernels: RefCell::default(),
        sweep_at: Cell::new(MIN_SWEEP),
        started: RefCell::default(),
        running: RefCell::default(),
    });
    vm.state::<Managers>().open.borrow_mut().push(Rc::downgrade(&manager));
    Ok(manager)
}

/// Starts what the devices of all managers collected longer ago than this. Returns whether younger work remains.
fn start_older(vm: &mut Vm, age: Duration) -> bool {
    let managers = vm.state::<Managers>();
    let open = managers.open.borrow();
    let devices = open.iter().filter_map(Weak::upgrade).filter_map(|manager| manager.device().ok());
    devices.fold(false, |remains, device| remains | device.start_older(age))
}

pub fn enter(vm: &mut Vm, manager: &SharedManager) -> EnteredManager {
    let managers = vm.state::<Managers>();
    managers.entered.borrow_mut().push(Rc::downgrade(manager));
    EnteredManager { managers, manager: Rc::downgrade(manager) }
}

/// Waits for the work of every manager. Raises the first error that nobody has waited for, below the calls that
/// started the work.
pub fn finish(vm: &mut Vm) -> Result<()> {
    for manager in vm.state::<Managers>().alive() {
        // A device that was left running takes no more calls, which was raised before.
        if manager.device().is_ok() {
            let synced = manager.sync(None).map_err(compute);
            deliver(vm, &manager, Ran::Started)?;
            if let Err(raise) = synced {
                let calls = manager.take_failed().map_or(Vec::new(), |failed| failed.calls);
                return Err(below(vm, raise, calls));
            }
        }
    }
    Ok(())
}

/// A fault of a kernel whose call had returned: with the name of the kernel and the place of the call.
pub fn with_launch(vm: &mut Vm, fault: Raise) -> Raise {
    let managers = vm.state::<Managers>().alive();
    let Some(failed) = managers.iter().find_map(|manager| manager.take_failed()) else { return fault };
    let Some(call) = failed.calls.last().map(|frame| &frame.location) else { return fault };
    let (line, _) = call.source.line_column(call.span.start);
    let place = format!("{}:{line}", call.source.name());
    let what = match &failed.kernel {
        Some(kernel) => format!("kernel `{kernel}`, launched at {place}"),
        None => format!("a sequence, evaluated at {place}"),
    };
    fault.launched(call.clone(), &what)
}

/// An error that no call of the script raised, below these calls.
fn below(vm: &mut Vm, raise: Raise, calls: Vec<Frame>) -> Raise {
    let exception = vm.exception_object(raise);
    if let Some(data) = exception.exception() {
        let entry =
            |call: Frame| TraceEntry { location: call.location, function: Name::from(&*call.function) };
        data.trace.borrow_mut().extend(calls.into_iter().rev().map(entry));
    }
    Raise::object(exception)
}

/// The manager that runs a kernel over these tensors: that of the first tensor with one, else that of the
/// stream that is entered, else the script's last manager, else a default one.
pub fn manager_for(vm: &mut Vm, tensors: &[Tensor]) -> Result<SharedManager> {
    let managers = vm.state::<Managers>();
    let alive = managers.alive();
    let owner = tensors.iter().find_map(|tensor| alive.iter().find(|manager| manager.owns(tensor)));
    if let Some(manager) = owner.cloned().or_else(|| managers.entered()).or_else(|| alive.last().cloned()) {
        return Ok(manager);
    }
    let checking = vm.checking.clone();
    let selector = chosen(vm, checking.get());
    let manager = open(vm, selector, &[], &[], checking, None)?;
    *managers.own.borrow_mut() = Some(manager.clone());
    Ok(manager)
}

/// The manager of an engine.
pub fn manager_of(vm: &mut Vm, engine: &Rc<Engine>) -> Result<SharedManager> {
    let alive = vm.state::<Managers>().alive();
    let owner = alive.into_iter().find(|manager| Rc::ptr_eq(&manager.engine(), engine));
    owner.ok_or_else(|| value_error("the manager of the tensor was destroyed"))
}

/// The device that the embedder or the environment selected. The default is the best one, or the one that
/// checks.
pub fn chosen(vm: &Vm, checking: Checking) -> Selector {
    Selector::parse(&chosen_text(vm, checking))
}

fn chosen_text(vm: &Vm, checking: Checking) -> String {
    let chosen = given_text(vm);
    match (chosen.as_str(), checking) {
        ("", Checking::Always(_)) => "cpu".to_owned(),
        _ => chosen,
    }
}

/// The selector of --device, of the environment, or of the embedder; empty by default.
fn given_text(vm: &Vm) -> String {
    match vm.device.as_str() {
        "" => std::env::var("KPS_DEVICE").unwrap_or_default(),
        device => device.to_owned(),
    }
}

/// The devices that `Manager(index)` opens, in the order of their indices. A choice from outside is the only one.
pub fn visible(vm: &Vm) -> Result<Vec<DeviceInfo>> {
    let mut infos = Manager::list_devices();
    match chosen_text(vm, vm.checking.get()).as_str() {
        "" => Ok(infos),
        chosen => {
            let at =
                select::choose(&infos, &Selector::parse(chosen)).map_err(|error| compute(error.into()))?;
            Ok(vec![infos.swap_remove(at)])
        }
    }
}

/// The device that `Manager(device)` means. A choice from outside is the whole list, so that 0 is the
/// chosen one.
pub fn selector(vm: &mut Vm, device: &Value, checking: Checking) -> Result<Selector> {
    if let Some(name) = device.as_str() {
        return Ok(Selector::parse(name));
    }
    let (index, chosen) = (vm.index(device)?, chosen_text(vm, checking));
    match (u32::try_from(index), chosen.as_str()) {
        (Err(_), _) => Err(value_error(format!("there is no device {index}: they count from 0"))),
        (Ok(index), "") => Ok(Selector::Index(index)),
        (Ok(0), chosen) => Ok(Selector::parse(chosen)),
        (Ok(index), _) if given_text(vm).is_empty() => Err(errors::no_device_that_checks(index)),
        (Ok(index), chosen) => {
            let message = format!("there is no device {index}: the list was narrowed to `{chosen}`");
            let help = "leave out --device and KPS_DEVICE to have all of them";
            Err(Raise::new(ExceptionKind::RuntimeError, message).help(help))
        }
    }
}
