//! Devices that fail: a lost one, and one without memory. Scripts catch the exception and go on with another manager.

use std::cell::Cell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kps::device::{
    BufferId, Commands, Device, DeviceError, DeviceInfo, DeviceMemory, Finding, HostMemory, ImageInfo,
    Interface, MemoryUsage, Opened, PipelineId, PipelineOptions, QueueId, Result, Ticket, Waited, select,
};
use kps::{Host, Program};
use kps_snapshots::Sink;

/// The built-in device, until it fails.
struct Failing {
    inner: Rc<dyn Device>,
    failure: Failure,
    /// Submissions that still succeed.
    n_left: Cell<u32>,
    is_lost: Cell<bool>,
}

#[derive(Clone, Copy, PartialEq)]
enum Failure {
    /// A submission loses the device, and every later call fails.
    Lost,
    /// Submissions fail.
    NoMemory,
    Never,
}

impl Failing {
    fn check(&self) -> Result<()> {
        if self.is_lost.get() { Err(self.error()) } else { Ok(()) }
    }

    fn error(&self) -> DeviceError {
        let device = "Failing".to_owned();
        match self.failure {
            Failure::Lost => DeviceError::Lost { device },
            _ => DeviceError::NoMemoryFor { call: "vkQueueSubmit", device },
        }
    }
}

impl Device for Failing {
    fn info(&self) -> &DeviceInfo {
        self.inner.info()
    }

    fn memory(&self) -> DeviceMemory {
        self.inner.memory()
    }

    fn alloc(&self, size: u64, usage: MemoryUsage) -> Result<BufferId> {
        self.check()?;
        self.inner.alloc(size, usage)
    }

    fn alloc_image(&self, image: &ImageInfo) -> Result<BufferId> {
        self.check()?;
        self.inner.alloc_image(image)
    }

    fn free(&self, buffer: BufferId) {
        self.inner.free(buffer);
    }

    fn write(&self, buffer: BufferId, offset: u64, bytes: &[u8]) -> Result<()> {
        self.check()?;
        self.inner.write(buffer, offset, bytes)
    }

    fn read(&self, buffer: BufferId, offset: u64, bytes: &mut [u8]) -> Result<()> {
        self.check()?;
        self.inner.read(buffer, offset, bytes)
    }

    /// As of a device with memory of its own.
    fn host_memory(&self, _buffer: BufferId) -> Option<HostMemory> {
        None
    }

    fn blank(&self, buffer: BufferId) {
        self.inner.blank(buffer);
    }

    fn wrote(&self, buffer: BufferId, bytes: Range<u64>) {
        self.inner.wrote(buffer, bytes);
    }

    fn load(&self, words: &[u32], options: &PipelineOptions) -> Result<PipelineId> {
        self.check()?;
        self.inner.load(words, options)
    }

    fn unload(&self, pipeline: PipelineId) {
        self.inner.unload(pipeline);
    }

    fn interface(&self, pipeline: PipelineId) -> Result<Arc<Interface>> {
        self.inner.interface(pipeline)
    }

    fn submit(&self, queue: QueueId, commands: &Commands, after: &[Ticket]) -> Result<Ticket> {
        if self.failure != Failure::Never {
            if self.n_left.get() == 0 {
                self.is_lost.set(self.failure == Failure::Lost);
                return Err(self.error());
            }
            self.n_left.set(self.n_left.get() - 1);
        }
        self.inner.submit(queue, commands, after)
    }

    fn wait(&self, ticket: Ticket, timeout: Option<Duration>) -> Result<Waited> {
        self.check()?;
        self.inner.wait(ticket, timeout)
    }

    fn timestamps(&self, ticket: Ticket) -> Result<Vec<u64>> {
        self.check()?;
        self.inner.timestamps(ticket)
    }

    fn findings(&self) -> Vec<Finding> {
        self.inner.findings()
    }

    fn interrupt_flag(&self) -> Arc<AtomicBool> {
        self.inner.interrupt_flag()
    }
}

/// Runs a script whose first manager has a device that fails after some submissions; that of the others works.
fn check(failure: Failure, n_submissions: u32, script: &str, expect: &str) {
    let is_first = Cell::new(true);
    let open = move |selector: &select::Selector, options: &select::OpenOptions| {
        let opened = select::open(selector, options)?;
        let failure = if is_first.replace(false) { failure } else { Failure::Never };
        let device = Failing {
            inner: opened.device,
            failure,
            n_left: Cell::new(n_submissions),
            is_lost: Cell::new(false),
        };
        Ok(Opened { device: Rc::new(device), warnings: opened.warnings })
    };
    let sink = Sink::default();
    let program = Program::parse("test.kps", script).expect("the script is well formed");
    let mut host = Host::builder().device("cpu").device_opener(open).output(sink.clone()).build();
    let result = host.run(&program);
    drop(host);
    assert_eq!(sink.take(), expect, "{result:?}");
    assert!(result.is_ok(), "{result:?}");
}

#[test]
fn a_lost_device_is_an_exception_and_another_manager_works() {
    check(
        Failure::Lost,
        2,
        r#"
import kp
@kernel
def double(x: Array[f32]):
    x[global_id.x] *= 2.0

mgr = kp.Manager()
x, kept = mgr.tensor([1, 2, 3]), mgr.tensor([4, 5, 6])
double(x)
double(kept)
print(kept.data())
for what in ["launch", "read", "eval", "new tensor"]:
    try:
        match what:
            case "launch": double(x)
            case "read": print(x.data())
            case "eval": mgr.sequence().eval(kp.OpCopy([x, kept]))
            case "new tensor": double(mgr.tensor([1]))
    except kp.DeviceLostError as error:
        print(what, isinstance(error, RuntimeError), error)
mgr.destroy()

mgr = kp.Manager()
y = mgr.tensor([1, 2, 3])
double(y)
print(y.data())
"#,
        "[8.0, 10.0, 12.0]\nlaunch True device `Failing` was lost\nread True device `Failing` was lost\n\
         eval True device `Failing` was lost\nnew tensor True device `Failing` was lost\n[2.0, 4.0, 6.0]\n",
    );
}

#[test]
fn what_the_host_had_survives_a_lost_device() {
    check(
        Failure::Lost,
        1,
        r#"
import kp
@kernel
def double(x: Array[f32]):
    x[global_id.x] *= 2.0

mgr = kp.Manager()
x, y = kp.Tensor([1, 2, 3]), kp.Tensor([4, 5, 6])
with mgr.profile() as p:
    double(x)
    try:
        double(y)
    except kp.DeviceLostError:
        print("lost")
print(len(p), y.data())
other = kp.Manager()
z = other.tensor(y.numpy())
mgr.destroy()
double(z)
print(z.data())
"#,
        "lost\n0 [4.0, 5.0, 6.0]\n[8.0, 10.0, 12.0]\n",
    );
}

#[test]
fn a_submission_without_memory_is_an_exception() {
    check(
        Failure::NoMemory,
        0,
        r#"
import kp
mgr = kp.Manager()
x, y = mgr.tensor([1, 2, 3]), mgr.tensor([4, 5, 6])
try:
    mgr.sequence().eval(kp.OpCopy([x, y]))
except kp.OutOfMemoryError as error:
    print(isinstance(error, MemoryError), error)
print(x.data(), y.data())
"#,
        "True device `Failing` is out of memory: vkQueueSubmit failed\n[1.0, 2.0, 3.0] [4.0, 5.0, 6.0]\n",
    );
}
