//! One directory of memory: its writers' lock, atomic commits, and when the index is updated.

use std::collections::BTreeMap;
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::bank_files::{BankLayout, StoreFile};
use super::bank_state::BankState;
use super::disk::{self, Disk, FileStamp};
use super::index;
use super::index_update;
use super::json_lines::to_u64;
use super::recovery;
use super::redo_log::{self, AppliedNote, FileAppend, RedoLogEntry, RedoRecord};
use crate::memory::commit_plan::{CommitPlan, CommitRules, plan_commit};
use crate::memory::{CommitBatch, CommitReceipt, MemoryError};
use crate::trust::{MachineKey, MemoryFolder};

/// The length at which the redo log is cut back.
const CHECKPOINT_BYTES: u64 = 128 * 1024;

/// The number of episodes of a batch up to which each is searched for, instead of reading all.
const MAX_SEARCHED_EPISODES: usize = 4;

/// The files that do not belong into a clone of the repository.
const GITIGNORE: &str = "index/\nglobal-index/\nqueue/\n*redo.log\n*lock\n*.next\nmachine.seal\nrefreshed.json\n";

/// The durability of a commit when it returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncPolicy {
    /// The commit is synced to disk.
    Durable,
    /// The commit is left to the operating system to write.
    Lazy,
}

/// The settings of a bank.
#[derive(Debug, Clone)]
pub(super) struct BankOptions {
    pub(super) sync: SyncPolicy,
    pub(super) lock_timeout: Duration,
    pub(super) versions_kept: usize,
    pub(super) max_line_bytes: usize,
    pub(super) fold_in_bytes: u64,
}

/// One directory of memory.
#[derive(Debug)]
pub(super) struct JsonlBank {
    pub(super) layout: BankLayout,
    pub(super) options: BankOptions,
    pub(super) disk: Arc<dyn Disk>,
    /// The key that seals the directory before the first record, if it is one of a project.
    machine_key: Option<MachineKey>,
    state: Mutex<BankState>,
    /// True once this process has checked for data lost in a power failure.
    power_checked: AtomicBool,
}

impl JsonlBank {
    pub(super) fn new(
        layout: BankLayout,
        options: BankOptions,
        disk: Arc<dyn Disk>,
        machine_key: Option<MachineKey>,
    ) -> Self {
        let state = Mutex::new(BankState::new(options.max_line_bytes));
        Self { layout, options, disk, machine_key, state, power_checked: AtomicBool::new(false) }
    }

    /// Returns the current state of the bank, without waiting for writers.
    pub(super) fn read_state(&self) -> Result<MutexGuard<'_, BankState>, MemoryError> {
        self.recover_after_power_loss();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.refresh_from_files(&self.layout)?;
        Ok(state)
    }

    /// Returns the current state as a value of the caller's own, for long work.
    pub(super) fn read_separate_state(&self) -> Result<BankState, MemoryError> {
        self.recover_after_power_loss();
        self.peek_state()
    }

    /// Returns the current state without changing anything: data lost in a power failure is not restored either.
    pub(super) fn peek_state(&self) -> Result<BankState, MemoryError> {
        let mut state = BankState::new(self.options.max_line_bytes);
        state.refresh_from_files(&self.layout)?;
        Ok(state)
    }

    /// Waits for the judging turn of the bank. Those who only write do not wait for it.
    pub(super) fn acquire_turn(&self) -> Result<File, MemoryError> {
        self.make_directory()?;
        disk::acquire_lock(&self.layout.turn_lock_path(), self.options.lock_timeout)
    }

    /// Plans what a batch adds, and returns the planned commit with the writers' lock.
    pub(super) fn prepare_commit(&self, batch: CommitBatch) -> Result<PreparedCommit<'_>, MemoryError> {
        let writer = self.open_writer()?;
        let mut state = self.read_state()?;
        let rules = CommitRules {
            alias_prefix: self.layout.alias_prefix(),
            highest_alias: state.highest_alias()?.max(writer.applied.highest_alias),
            max_bytes: self.options.max_line_bytes,
        };
        if batch.episodes.len() > MAX_SEARCHED_EPISODES {
            state.load_episodes()?;
        }
        let plan = plan_commit(&rules, &mut *state, batch)?;
        let redo = self.build_redo_record(&state, group_lines_by_file(&plan))?;
        Ok(PreparedCommit { writer, redo, receipt: plan.receipt, highest_alias: plan.highest_alias })
    }

    /// Takes the writers' lock and finishes what an earlier writer may have left undone.
    pub(super) fn open_writer(&self) -> Result<BankWriter<'_>, MemoryError> {
        self.open_writer_within(self.options.lock_timeout)
    }

    fn open_writer_within(&self, patience: Duration) -> Result<BankWriter<'_>, MemoryError> {
        self.make_directory()?;
        let lock = disk::acquire_lock(&self.layout.lock_path(), patience)?;
        self.seal_directory();
        let path = self.layout.redo_log_path();
        let log = disk::open_to_append(&path)?;
        let image = redo_log::read_log_end(&path)?;
        if image.length == 0 {
            self.initialize_directory()?;
        }
        let boot = self.disk.boot_id();
        let is_first = !self.power_checked.load(Ordering::Relaxed);
        if is_first && !image.is_from_boot(boot.as_deref()) {
            recovery::restore_lost_lines(self, redo_log::read_all_entries(&path)?)?;
        }
        if image.length > image.whole {
            self.disk.truncate(&path, &log, image.whole).map_err(MemoryError::io_error("repair", &path))?;
        }
        // After a crash it is unknown whether another program changed a file that the commit was being added to.
        let as_noted = image.pending.is_empty() && image.matches_stamps(&self.file_stamps()?);
        recovery::finish_commit(self, &image.pending)?;
        if is_first || !image.pending.is_empty() {
            recovery::remove_leftovers(self)?;
        }
        self.power_checked.store(true, Ordering::Relaxed);

        let mut applied = image.applied.unwrap_or_default();
        let is_noted = as_noted && applied.boot == boot;
        if !as_noted {
            applied.epoch = fresh_epoch();
        }
        applied.boot = boot;
        let (log_length, log_end) = (image.whole, image.whole);
        let mut writer = BankWriter { bank: self, log, log_length, log_end, applied, _lock: lock };
        if !as_noted {
            if image.whole == 0 {
                writer.write_checkpoint()?;
            } else {
                // The log no longer restores these files after a power failure, but it may hold lines that the other
                // program took out, see `lost_lines`.
                writer.sync_files()?;
                writer.note_applied()?;
            }
        } else if !is_noted {
            writer.note_applied()?;
        }
        Ok(writer)
    }

    /// Restores data lost in a power failure, once per process and only after a reboot, so that readers see it too.
    fn recover_after_power_loss(&self) {
        if self.power_checked.load(Ordering::Relaxed) {
            return;
        }
        let rebooted = redo_log::read_log_end(&self.layout.redo_log_path())
            .is_ok_and(|image| image.length > 0 && !image.is_from_boot(self.disk.boot_id().as_deref()));
        if rebooted && let Err(error) = self.open_writer_within(Duration::ZERO) {
            // The holder of the lock does the same, and a process that may not write reads what there is.
            tracing::debug!(%error, "did not look for what a power cut may have taken");
        }
        self.power_checked.store(true, Ordering::Relaxed);
    }

    /// Updates the index if it is outdated or enough has been written since.
    pub(super) fn update_index_if_due(&self) -> Result<(), MemoryError> {
        let (news, dated) = {
            let state = self.read_state()?;
            (state.unindexed_bytes(), state.is_index_outdated())
        };
        if dated || news >= self.options.fold_in_bytes { self.update_index() } else { Ok(()) }
    }

    /// Updates the index, however little has been written since.
    pub(super) fn update_index(&self) -> Result<(), MemoryError> {
        // The lock is held only to determine the files' epoch. The work itself needs none: files only grow.
        match self.open_writer_within(Duration::ZERO) {
            // The current writer updates the index, or the next one.
            Err(MemoryError::Locked { .. }) => return Ok(()),
            settled => drop(settled?),
        }
        let Some(_turn) = index::try_lock_index(&self.layout.index_path()) else {
            return Ok(());
        };
        index_update::update_index(self.read_separate_state()?, &self.layout, self.options.max_line_bytes)?;
        self.forget_state();
        Ok(())
    }

    /// Forgets what was read, so that the next reader reads the files again.
    pub(super) fn forget_state(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).forget_everything();
    }

    /// Builds the redo record for new lines. Any obstacle to writing them shows up here, before it is durable.
    pub(super) fn build_redo_record(
        &self,
        state: &BankState,
        lines: BTreeMap<StoreFile, String>,
    ) -> Result<RedoRecord, MemoryError> {
        let mut redo = RedoRecord::default();
        for (part, mut text) in lines {
            drop(disk::open_to_append(&self.layout.file_path(part))?);
            let before = state.files.file_end(part);
            if state.files.lacks_newline(part)? {
                text.insert(0, '\n');
            }
            redo.appends.push(FileAppend { part, before, text });
        }
        Ok(redo)
    }

    fn make_directory(&self) -> Result<(), MemoryError> {
        let directory = self.layout.directory();
        if directory.is_dir() {
            return Ok(());
        }
        let missing: Vec<&Path> = directory.ancestors().take_while(|path| !path.exists()).collect();
        std::fs::create_dir_all(directory).map_err(MemoryError::io_error("create", directory))?;
        for parent in missing.into_iter().filter_map(Path::parent) {
            self.disk.sync_directory(parent).map_err(MemoryError::io_error("sync", parent))?;
        }
        Ok(())
    }

    /// Seals a directory without records, while the writers' lock is held. Without a seal the memory works, but its
    /// lessons are given only once its repository is trusted.
    fn seal_directory(&self) {
        let Some(key) = self.machine_key.as_ref().filter(|key| key.has_place()) else { return };
        let folder = MemoryFolder::new(self.layout.directory(), key.clone());
        if let Err(error) = folder.seal_before_first_record() {
            tracing::warn!(%error, "a new memory could not be sealed");
        }
    }

    /// Prepares a directory without a redo log: writes its `.gitignore` and syncs the directory.
    fn initialize_directory(&self) -> Result<(), MemoryError> {
        let ignore = self.layout.gitignore_path();
        if disk::read_file_stamp(&ignore)?.length == 0 {
            let written = disk::open_to_replace(&ignore).and_then(|mut file| {
                file.write_all(GITIGNORE.as_bytes()).map_err(MemoryError::io_error("write", &ignore))
            });
            if let Err(error) = written {
                tracing::debug!(%error, "no .gitignore written");
            }
        }
        let directory = self.layout.directory();
        self.disk.sync_directory(directory).map_err(MemoryError::io_error("sync", directory))
    }

    fn file_stamps(&self) -> Result<BTreeMap<StoreFile, FileStamp>, MemoryError> {
        StoreFile::ALL
            .into_iter()
            .map(|part| Ok((part, disk::read_file_stamp(&self.layout.file_path(part))?)))
            .collect()
    }
}

/// Returns the lines that each file gets.
fn group_lines_by_file(plan: &CommitPlan) -> BTreeMap<StoreFile, String> {
    let mut lines: BTreeMap<StoreFile, String> = BTreeMap::new();
    let episodes = plan.episodes.iter().map(|written| (StoreFile::Episodes, &written.json));
    let memories = plan.memories.iter().map(|written| (StoreFile::Lessons, &written.json));
    let facts = plan.facts.iter().map(|written| (StoreFile::Ledger, &written.json));
    for (part, json) in episodes.chain(memories).chain(facts) {
        let text = lines.entry(part).or_default();
        text.push_str(json);
        text.push('\n');
    }
    lines
}

/// A commit that is planned and only has to be carried out.
pub(super) struct PreparedCommit<'a> {
    writer: BankWriter<'a>,
    redo: RedoRecord,
    receipt: CommitReceipt,
    highest_alias: u64,
}

impl PreparedCommit<'_> {
    /// Makes the commit durable, which is the first half of carrying it out; it may still be withdrawn.
    pub(super) fn make_durable(&mut self) -> Result<(), MemoryError> {
        self.writer.applied.highest_alias = self.highest_alias;
        if self.redo.is_empty() { Ok(()) } else { self.writer.make_durable(&self.redo) }
    }

    /// Withdraws a durable commit because another commit that belongs to it failed.
    pub(super) fn withdraw_commit(mut self) {
        if !self.redo.is_empty() {
            self.writer.withdraw_record();
        }
    }

    /// Writes the durable commit to the files, which is the second half of carrying it out.
    pub(super) fn apply_commit(mut self) -> CommitReceipt {
        if !self.redo.is_empty() {
            self.writer.apply_record(&self.redo);
        }
        self.receipt
    }
}

/// A bank whose writers' lock is held.
pub(super) struct BankWriter<'a> {
    bank: &'a JsonlBank,
    log: File,
    /// The end of the log without the current commit, and its actual end.
    log_length: u64,
    log_end: u64,
    applied: AppliedNote,
    _lock: File,
}

impl BankWriter<'_> {
    /// Makes the change durable, then writes it to the files.
    pub(super) fn commit_record(mut self, redo: &RedoRecord) -> Result<(), MemoryError> {
        self.make_durable(redo)?;
        self.apply_record(redo);
        Ok(())
    }

    /// Returns the highest number of any short name that this bank is known to have given.
    pub(super) fn highest_alias(&self) -> u64 {
        self.applied.highest_alias
    }

    /// Appends the change to the redo log, after which it is sure to be applied; removes it again on failure.
    fn make_durable(&mut self, redo: &RedoRecord) -> Result<(), MemoryError> {
        let line = redo_log::render_entry(&RedoLogEntry::Redo(redo.clone()))?;
        let path = self.bank.layout.redo_log_path();
        let written = self.bank.disk.append(&path, &mut self.log, line.as_bytes());
        let durable =
            written.map_err(MemoryError::io_error("write", &path)).and_then(|()| match self.bank.options.sync {
                SyncPolicy::Durable => {
                    self.bank.disk.sync(&path, &self.log).map_err(MemoryError::io_error("sync", &path))
                }
                SyncPolicy::Lazy => Ok(()),
            });
        match durable {
            Ok(()) => self.log_end += to_u64(line.len()),
            Err(_) => self.withdraw_record(),
        }
        durable
    }

    /// Removes a refused commit from the log and starts a new epoch, so that readers who saw it discard it.
    fn withdraw_record(&mut self) {
        let path = self.bank.layout.redo_log_path();
        let cut =
            self.bank.disk.truncate(&path, &self.log, self.log_length).map_err(MemoryError::io_error("repair", &path));
        self.log_end = self.log_length;
        self.applied.epoch = fresh_epoch();
        if let Err(error) = cut.and_then(|()| self.note_applied()) {
            tracing::warn!(%error, "a refused commit could not be taken out of the redo log");
        }
    }

    /// Writes a durable change to the files. A failure is left to the next writer; readers see the change anyway.
    fn apply_record(&mut self, redo: &RedoRecord) {
        self.log_length = self.log_end;
        if let Err(error) = self.try_apply_record(redo) {
            tracing::warn!(%error, "commit is durable but not in its files yet");
        }
    }

    fn try_apply_record(&mut self, redo: &RedoRecord) -> Result<(), MemoryError> {
        recovery::finish_commit(self.bank, redo)?;
        let ours = self.bank.file_stamps()?.iter().all(|(part, now)| {
            let noted = self.applied.files.get(part).copied().unwrap_or_default();
            match redo.appends.iter().find(|append| append.part == *part) {
                Some(append) => noted.length == append.before && now.length == append.end_offset(),
                None => noted == *now,
            }
        });
        if !ours {
            self.applied.epoch = fresh_epoch();
        }
        self.note_applied()?;
        if self.log_length >= CHECKPOINT_BYTES || !redo.swaps.is_empty() {
            self.write_checkpoint()?;
        }
        Ok(())
    }

    fn note_applied(&mut self) -> Result<(), MemoryError> {
        let path = self.bank.layout.redo_log_path();
        self.applied.files = self.bank.file_stamps()?;
        let line = redo_log::render_entry(&RedoLogEntry::Applied(self.applied.clone()))?;
        self.bank.disk.append(&path, &mut self.log, line.as_bytes()).map_err(MemoryError::io_error("write", &path))?;
        self.log_length += to_u64(line.len());
        self.log_end = self.log_length;
        Ok(())
    }

    fn sync_files(&self) -> Result<(), MemoryError> {
        let (disk, layout) = (&self.bank.disk, &self.bank.layout);
        for part in StoreFile::ALL {
            let path = layout.file_path(part);
            if let Some(file) = disk::open_to_read(&path)? {
                disk.sync(&path, &file).map_err(MemoryError::io_error("sync", &path))?;
            }
        }
        let directory = layout.directory();
        disk.sync_directory(directory).map_err(MemoryError::io_error("sync", directory))
    }

    /// Syncs the files and cuts the log back to a single note about them.
    ///
    /// This is done even where commits are lazy: another process's commits may be in the log.
    pub(super) fn write_checkpoint(&mut self) -> Result<(), MemoryError> {
        self.sync_files()?;
        let (disk, layout) = (&self.bank.disk, &self.bank.layout);
        let directory = layout.directory();
        // The new log replaces the old one atomically, so that a reader always finds one.
        let (path, next) = (layout.redo_log_path(), layout.next_redo_log_path());
        drop(disk::open_to_replace(&next)?);
        self.log = disk::open_to_append(&next)?;
        self.log_length = 0;
        self.applied.files = self.bank.file_stamps()?;
        let line = redo_log::render_entry(&RedoLogEntry::Applied(self.applied.clone()))?;
        disk.append(&next, &mut self.log, line.as_bytes()).map_err(MemoryError::io_error("write", &next))?;
        self.log_length = to_u64(line.len());
        self.log_end = self.log_length;
        disk.rename(&next, &path).map_err(MemoryError::io_error("replace", &path))?;
        // The rename must be durable before a commit goes into the new log.
        disk.sync_directory(directory).map_err(MemoryError::io_error("sync", directory))
    }
}

/// Returns a random number that is not used twice; it is never stored in a record.
fn fresh_epoch() -> u64 {
    RandomState::new().build_hasher().finish() | 1
}
