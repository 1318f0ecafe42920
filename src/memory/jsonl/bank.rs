//! One directory of memory: who may write, how a commit becomes one step, and when the index catches up.

use std::collections::BTreeMap;
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::disk::{self, Disk, Stamp};
use super::fold;
use super::index;
use super::layout::{Layout, Part};
use super::lines::to_u64;
use super::recovery;
use super::redo::{self, Append, Applied, Entry, Redo};
use super::state::State;
use crate::memory::plan::{Plan, Rules, plan};
use crate::memory::{Batch, MemoryError, Receipt};

/// The log is cut back once it has grown to this.
const CHECKPOINT_BYTES: u64 = 128 * 1024;

/// What a clone of the repository has no use for.
const GITIGNORE: &str = "index/\nglobal-index/\nqueue/\n*redo.log\n*lock\n*.next\n";

/// Whether a commit is on disk when it returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sync {
    /// It is.
    Durable,
    /// The system writes it when it likes.
    Lazy,
}

/// What a bank is told about its work.
#[derive(Debug, Clone)]
pub(super) struct Options {
    pub(super) sync: Sync,
    pub(super) lock_timeout: Duration,
    pub(super) versions_kept: usize,
    pub(super) max_line_bytes: usize,
    pub(super) fold_in_bytes: u64,
}

/// One directory of memory.
#[derive(Debug)]
pub(super) struct Bank {
    pub(super) layout: Layout,
    pub(super) options: Options,
    pub(super) disk: Arc<dyn Disk>,
    state: Mutex<State>,
    /// Whether this process has made sure that nothing was lost with the power.
    power_checked: AtomicBool,
}

impl Bank {
    pub(super) fn new(layout: Layout, options: Options, disk: Arc<dyn Disk>) -> Self {
        let state = Mutex::new(State::new(options.max_line_bytes));
        Self { layout, options, disk, state, power_checked: AtomicBool::new(false) }
    }

    /// What is in the bank now, without waiting for anybody who writes.
    pub(super) fn read(&self) -> Result<MutexGuard<'_, State>, MemoryError> {
        self.recover_after_power_loss();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.refresh(&self.layout)?;
        Ok(state)
    }

    /// The same, seen with eyes of one's own: for work that takes long.
    pub(super) fn read_apart(&self) -> Result<State, MemoryError> {
        self.recover_after_power_loss();
        self.look()
    }

    /// The same, and without touching anything: not even what a power cut may have taken is brought back.
    pub(super) fn look(&self) -> Result<State, MemoryError> {
        let mut state = State::new(self.options.max_line_bytes);
        state.refresh(&self.layout)?;
        Ok(state)
    }

    /// Waits until nobody else decides what is new. Whoever only writes is not kept waiting.
    pub(super) fn turn(&self) -> Result<File, MemoryError> {
        self.make_directory()?;
        disk::lock(&self.layout.turn(), self.options.lock_timeout)
    }

    /// Works out what a batch adds, with the writers' lock in hand.
    pub(super) fn prepare(&self, batch: Batch) -> Result<Prepared<'_>, MemoryError> {
        let writer = self.write()?;
        let mut state = self.read()?;
        let rules = Rules {
            alias_prefix: self.layout.alias_prefix(),
            highest_alias: state.highest_alias()?.max(writer.applied.highest_alias),
            max_bytes: self.options.max_line_bytes,
        };
        let plan = plan(&rules, &mut *state, batch)?;
        let redo = self.redo(&state, lines_of(&plan))?;
        Ok(Prepared { writer, redo, receipt: plan.receipt, highest_alias: plan.highest_alias })
    }

    /// Takes the writers' lock and finishes what an earlier writer may have left undone.
    pub(super) fn write(&self) -> Result<Writer<'_>, MemoryError> {
        self.write_with_patience(self.options.lock_timeout)
    }

    fn write_with_patience(&self, patience: Duration) -> Result<Writer<'_>, MemoryError> {
        self.make_directory()?;
        let lock = disk::lock(&self.layout.lock(), patience)?;
        let path = self.layout.redo();
        let log = disk::open_to_append(&path)?;
        let image = redo::read(&path)?;
        if image.length == 0 {
            self.greet()?;
        }
        let boot = self.disk.boot();
        let is_first = !self.power_checked.load(Ordering::Relaxed);
        if is_first && !image.is_of_boot(boot.as_deref()) {
            recovery::restore_lost(self, redo::read_all(&path)?)?;
        }
        if image.length > image.whole {
            self.disk.truncate(&path, &log, image.whole).map_err(MemoryError::io("repair", &path))?;
        }
        // After a crash it cannot be told whether anybody else touched a file that the commit was being added to.
        let as_noted = image.pending.is_empty() && image.is_as_noted(&self.stamps()?);
        recovery::finish(self, &image.pending)?;
        if is_first || !image.pending.is_empty() {
            recovery::sweep(self)?;
        }
        self.power_checked.store(true, Ordering::Relaxed);

        let mut applied = image.applied.unwrap_or_default();
        let is_noted = as_noted && applied.boot == boot;
        if !as_noted {
            applied.epoch = fresh_epoch();
        }
        applied.boot = boot;
        let (log_length, log_end) = (image.whole, image.whole);
        let mut writer = Writer { bank: self, log, log_length, log_end, applied, _lock: lock };
        if !as_noted {
            // What the log says of files that somebody else has changed is of no use any more.
            writer.checkpoint()?;
        } else if !is_noted {
            writer.note_applied()?;
        }
        Ok(writer)
    }

    /// Once in a process, if the machine was started anew: readers too want to see what the power took.
    fn recover_after_power_loss(&self) {
        if self.power_checked.load(Ordering::Relaxed) {
            return;
        }
        let rebooted = redo::read(&self.layout.redo())
            .is_ok_and(|image| image.length > 0 && !image.is_of_boot(self.disk.boot().as_deref()));
        if rebooted && let Err(error) = self.write_with_patience(Duration::ZERO) {
            // Whoever holds the lock does the same, and whoever may not write reads what there is.
            tracing::debug!(%error, "did not look for what a power cut may have taken");
        }
        self.power_checked.store(true, Ordering::Relaxed);
    }

    /// Catches the index up if enough has been written since.
    pub(super) fn fold(&self) -> Result<(), MemoryError> {
        let (news, dated) = {
            let state = self.read()?;
            (state.uncovered(), state.index_is_dated())
        };
        if dated || news >= self.options.fold_in_bytes { self.fold_now() } else { Ok(()) }
    }

    /// Catches the index up, however little there is.
    pub(super) fn fold_now(&self) -> Result<(), MemoryError> {
        // The lock is held only to settle what the files' epoch is. The work itself needs none: files only grow.
        match self.write_with_patience(Duration::ZERO) {
            // Whoever writes now will catch up, or the next one after.
            Err(MemoryError::Locked { .. }) => return Ok(()),
            settled => drop(settled?),
        }
        let Some(_turn) = index::take_turn(&self.layout.index()) else {
            return Ok(());
        };
        fold::fold(self.read_apart()?, &self.layout, self.options.max_line_bytes)?;
        self.state.lock().unwrap_or_else(PoisonError::into_inner).forget();
        Ok(())
    }

    /// Where the lines go. Whatever could keep them from going there must come up here, before the commit is durable.
    pub(super) fn redo(&self, state: &State, lines: BTreeMap<Part, String>) -> Result<Redo, MemoryError> {
        let mut redo = Redo::default();
        for (part, mut text) in lines {
            drop(disk::open_to_append(&self.layout.path(part))?);
            let before = state.files.end(part);
            if state.files.lacks_newline(part)? {
                text.insert(0, '\n');
            }
            redo.appends.push(Append { part, before, text });
        }
        Ok(redo)
    }

    fn make_directory(&self) -> Result<(), MemoryError> {
        let directory = self.layout.directory();
        if directory.is_dir() {
            return Ok(());
        }
        let missing: Vec<&Path> = directory.ancestors().take_while(|path| !path.exists()).collect();
        std::fs::create_dir_all(directory).map_err(MemoryError::io("create", directory))?;
        for parent in missing.into_iter().filter_map(Path::parent) {
            self.disk.sync_directory(parent).map_err(MemoryError::io("sync", parent))?;
        }
        Ok(())
    }

    /// In a directory without a log: makes sure that the log's name will last, and that git leaves it alone.
    fn greet(&self) -> Result<(), MemoryError> {
        let ignore = self.layout.gitignore();
        if disk::stamp(&ignore)?.length == 0
            && let Err(error) = std::fs::write(&ignore, GITIGNORE)
        {
            tracing::debug!(%error, "no .gitignore written");
        }
        let directory = self.layout.directory();
        self.disk.sync_directory(directory).map_err(MemoryError::io("sync", directory))
    }

    fn stamps(&self) -> Result<BTreeMap<Part, Stamp>, MemoryError> {
        Part::ALL.into_iter().map(|part| Ok((part, disk::stamp(&self.layout.path(part))?))).collect()
    }
}

/// The lines that each file gets.
fn lines_of(plan: &Plan) -> BTreeMap<Part, String> {
    let mut lines: BTreeMap<Part, String> = BTreeMap::new();
    let episodes = plan.episodes.iter().map(|written| (Part::Episodes, &written.json));
    let memories = plan.memories.iter().map(|written| (Part::Lessons, &written.json));
    let facts = plan.facts.iter().map(|written| (Part::Ledger, &written.json));
    for (part, json) in episodes.chain(memories).chain(facts) {
        let text = lines.entry(part).or_default();
        text.push_str(json);
        text.push('\n');
    }
    lines
}

/// A commit that is worked out and only has to be carried out.
pub(super) struct Prepared<'a> {
    writer: Writer<'a>,
    redo: Redo,
    receipt: Receipt,
    highest_alias: u64,
}

impl Prepared<'_> {
    /// The first half: from here on the commit stands, unless it is withdrawn.
    pub(super) fn make_durable(&mut self) -> Result<(), MemoryError> {
        self.writer.applied.highest_alias = self.highest_alias;
        if self.redo.is_empty() { Ok(()) } else { self.writer.make_durable(&self.redo) }
    }

    /// Takes the first half back, because another commit that belongs to it could not be made.
    pub(super) fn withdraw(mut self) {
        if !self.redo.is_empty() {
            self.writer.withdraw();
        }
    }

    /// The second half.
    pub(super) fn apply(mut self) -> Receipt {
        if !self.redo.is_empty() {
            self.writer.apply(&self.redo);
        }
        self.receipt
    }
}

/// A bank whose writers' lock is held.
pub(super) struct Writer<'a> {
    bank: &'a Bank,
    log: File,
    /// Where the log ends as far as it is settled, and where it ends.
    log_length: u64,
    log_end: u64,
    applied: Applied,
    _lock: File,
}

impl Writer<'_> {
    /// Makes the change durable, then makes it.
    pub(super) fn carry_out(mut self, redo: &Redo) -> Result<(), MemoryError> {
        self.make_durable(redo)?;
        self.apply(redo);
        Ok(())
    }

    /// The highest number of any short name that this bank is known to have given.
    pub(super) fn highest_alias(&self) -> u64 {
        self.applied.highest_alias
    }

    /// Returns once the change will come about whatever happens, or not at all.
    fn make_durable(&mut self, redo: &Redo) -> Result<(), MemoryError> {
        let line = redo::line(&Entry::Redo(redo.clone()))?;
        let path = self.bank.layout.redo();
        let written = self.bank.disk.append(&path, &mut self.log, line.as_bytes());
        let durable = written.map_err(MemoryError::io("write", &path)).and_then(|()| match self.bank.options.sync {
            Sync::Durable => self.bank.disk.sync(&path, &self.log).map_err(MemoryError::io("sync", &path)),
            Sync::Lazy => Ok(()),
        });
        match durable {
            Ok(()) => self.log_end += to_u64(line.len()),
            Err(_) => self.withdraw(),
        }
        durable
    }

    /// Takes a commit that is not to be out of the log: it must not come back to life, and who saw it must forget it.
    fn withdraw(&mut self) {
        let path = self.bank.layout.redo();
        let cut = self.bank.disk.truncate(&path, &self.log, self.log_length).map_err(MemoryError::io("repair", &path));
        self.log_end = self.log_length;
        self.applied.epoch = fresh_epoch();
        if let Err(error) = cut.and_then(|()| self.note_applied()) {
            tracing::warn!(%error, "a refused commit could not be taken out of the redo log");
        }
    }

    /// Makes a durable change. What fails here is done by the next writer, and readers see the change regardless.
    fn apply(&mut self, redo: &Redo) {
        self.log_length = self.log_end;
        if let Err(error) = self.try_apply(redo) {
            tracing::warn!(%error, "commit is durable but not in its files yet");
        }
    }

    fn try_apply(&mut self, redo: &Redo) -> Result<(), MemoryError> {
        recovery::finish(self.bank, redo)?;
        let ours = self.bank.stamps()?.iter().all(|(part, now)| {
            let noted = self.applied.files.get(part).copied().unwrap_or_default();
            match redo.appends.iter().find(|append| append.part == *part) {
                Some(append) => noted.length == append.before && now.length == append.end(),
                None => noted == *now,
            }
        });
        if !ours {
            self.applied.epoch = fresh_epoch();
        }
        self.note_applied()?;
        if self.log_length >= CHECKPOINT_BYTES || !redo.swaps.is_empty() {
            self.checkpoint()?;
        }
        Ok(())
    }

    fn note_applied(&mut self) -> Result<(), MemoryError> {
        let path = self.bank.layout.redo();
        self.applied.files = self.bank.stamps()?;
        let line = redo::line(&Entry::Applied(self.applied.clone()))?;
        self.bank.disk.append(&path, &mut self.log, line.as_bytes()).map_err(MemoryError::io("write", &path))?;
        self.log_length += to_u64(line.len());
        self.log_end = self.log_length;
        Ok(())
    }

    /// Syncs the files, after which the log has nothing more to say than how they are.
    ///
    /// This is done even where commits are lazy: another process's commits may be in the log.
    pub(super) fn checkpoint(&mut self) -> Result<(), MemoryError> {
        let (disk, layout) = (&self.bank.disk, &self.bank.layout);
        for part in Part::ALL {
            let path = layout.path(part);
            if let Some(file) = disk::open_to_read(&path)? {
                disk.sync(&path, &file).map_err(MemoryError::io("sync", &path))?;
            }
        }
        let directory = layout.directory();
        disk.sync_directory(directory).map_err(MemoryError::io("sync", directory))?;
        // The new log takes the old one's place in one step, so that a reader never finds none.
        let (path, next) = (layout.redo(), layout.next_redo());
        drop(disk::open_to_replace(&next)?);
        self.log = disk::open_to_append(&next)?;
        self.log_length = 0;
        self.applied.files = self.bank.stamps()?;
        let line = redo::line(&Entry::Applied(self.applied.clone()))?;
        disk.append(&next, &mut self.log, line.as_bytes()).map_err(MemoryError::io("write", &next))?;
        self.log_length = to_u64(line.len());
        self.log_end = self.log_length;
        disk.rename(&next, &path).map_err(MemoryError::io("replace", &path))?;
        // A commit that goes into the new log must not be looked for in the old one.
        disk.sync_directory(directory).map_err(MemoryError::io("sync", directory))
    }
}

/// Never the same twice; nothing else about it matters, and no record holds it.
fn fresh_epoch() -> u64 {
    RandomState::new().build_hasher().finish() | 1
}
