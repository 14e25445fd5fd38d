//! A cache of loaded modules and their code for the whole process. A module with the same binary, options and
//! kind of lanes is read and compiled once, for all devices, managers and threads.
//!
//! Above [`ROOM`] bytes it evicts the module that ran least recently. A running dispatch owns a reference, so
//! evicted code is freed after its last run. A device that needs an evicted module compiles it again.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::Lanes;
use super::dispatch::Job;
use super::pipeline::{self, Pipeline};
use crate::{Interface, PipelineOptions, Result, log};

/// Size limit of the cache in bytes. A module of two hundred lines takes about 200 kB.
pub const ROOM: usize = 64 << 20;
/// Estimated bytes for each word of a cached module, without its code.
const BYTES_PER_WORD: usize = 64;

static LIBRARY: Mutex<Library> = Mutex::new(Library { pipelines: FxHashMap::with_hasher(FxBuildHasher) });
/// Counts runs, to find the least recent one.
static N_RUNS: AtomicU64 = AtomicU64::new(0);
static N_READ: AtomicUsize = AtomicUsize::new(0);
static N_COMPILED: AtomicUsize = AtomicUsize::new(0);

/// Statistics of the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheStats {
    pub n_modules: usize,
    /// An estimate that includes code.
    pub n_bytes: usize,
    /// Modules that were read.
    pub n_read: usize,
    /// Number of compilations. A module may have several kinds of code.
    pub n_compiled: usize,
}

pub fn cache_stats() -> CacheStats {
    let library = library();
    CacheStats {
        n_modules: library.pipelines.len(),
        n_bytes: library.n_bytes(),
        n_read: N_READ.load(Ordering::Relaxed),
        n_compiled: N_COMPILED.load(Ordering::Relaxed),
    }
}

/// The key of a cached module.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Key {
    pub words: Arc<[u32]>,
    pub options: PipelineOptions,
    pub lanes: Lanes,
}

/// A module that a device loaded.
pub struct Loaded {
    key: Key,
    pub interface: Arc<Interface>,
    pipeline: RefCell<Weak<Pipeline>>,
    /// A dispatch that has ended, which the next one changes.
    pub spare: RefCell<Option<Arc<Job>>>,
    /// How often the device loaded it, minus how often it unloaded it.
    pub n_loads: usize,
}

impl Loaded {
    pub fn load(key: Key) -> Result<Loaded> {
        let pipeline = pipeline(&key)?;
        Ok(Loaded {
            key,
            interface: pipeline.interface.clone(),
            pipeline: RefCell::new(Arc::downgrade(&pipeline)),
            spare: RefCell::default(),
            n_loads: 1,
        })
    }

    pub fn key(&self) -> &Key {
        &self.key
    }

    /// Compiles the module again if it was evicted.
    pub fn pipeline(&self) -> Result<Arc<Pipeline>> {
        if let Some(pipeline) = self.pipeline.borrow().upgrade() {
            return Ok(pipeline);
        }
        let pipeline = pipeline(&self.key)?;
        self.pipeline.replace(Arc::downgrade(&pipeline));
        Ok(pipeline)
    }
}

/// The size of a module, and its last run.
#[derive(Default)]
pub struct Usage {
    n_bytes: AtomicUsize,
    last_run: AtomicU64,
}

impl Usage {
    pub fn of_words(n_words: usize) -> Usage {
        Usage { n_bytes: AtomicUsize::new(n_words * BYTES_PER_WORD), ..Usage::default() }
    }

    pub fn runs(&self) {
        self.last_run.store(N_RUNS.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Counts a compilation.
    pub fn compiled(&self, n_bytes: usize) {
        self.n_bytes.fetch_add(n_bytes, Ordering::Relaxed);
        N_COMPILED.fetch_add(1, Ordering::Relaxed);
    }

    fn n_bytes(&self) -> usize {
        self.n_bytes.load(Ordering::Relaxed)
    }

    fn last_run(&self) -> u64 {
        self.last_run.load(Ordering::Relaxed)
    }
}

struct Library {
    pipelines: FxHashMap<Key, Arc<Pipeline>>,
}

fn library() -> MutexGuard<'static, Library> {
    // The lock is never poisoned with inconsistent data.
    LIBRARY.lock().unwrap_or_else(PoisonError::into_inner)
}

fn pipeline(key: &Key) -> Result<Arc<Pipeline>> {
    if let Some(pipeline) = library().pipelines.get(key) {
        log::reused(pipeline.interface.name.as_deref());
        return Ok(pipeline.clone());
    }
    // Compile without the lock, so that other threads need not wait.
    let began = Instant::now();
    let pipeline = Arc::new(pipeline::load(&key.words, &key.options, key.lanes)?);
    log::compiled(pipeline.interface.name.as_deref(), began);
    N_READ.fetch_add(1, Ordering::Relaxed);
    pipeline.usage.runs();
    let (pipeline, let_go) = library().keep(key, pipeline);
    // Freeing may take long, so it happens without the lock.
    drop(let_go);
    Ok(pipeline)
}

impl Library {
    /// Inserts a pipeline. Returns the cached one, which another thread may have inserted first, and those
    /// that it evicts.
    fn keep(&mut self, key: &Key, pipeline: Arc<Pipeline>) -> (Arc<Pipeline>, Vec<Arc<Pipeline>>) {
        let pipeline = self.pipelines.entry(key.clone()).or_insert(pipeline).clone();
        let mut let_go = Vec::new();
        let mut n_bytes = self.n_bytes();
        while n_bytes > ROOM && self.pipelines.len() > 1 {
            let oldest = self.pipelines.iter().min_by_key(|(_, pipeline)| pipeline.usage.last_run());
            let oldest = oldest.map(|(key, _)| key.clone()).expect("there are several");
            let oldest = self.pipelines.remove(&oldest).expect("it was found there");
            n_bytes -= oldest.usage.n_bytes();
            let_go.push(oldest);
        }
        (pipeline, let_go)
    }

    fn n_bytes(&self) -> usize {
        self.pipelines.values().map(|pipeline| pipeline.usage.n_bytes()).sum()
    }
}
