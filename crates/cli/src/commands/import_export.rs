//! `archivist import` and `archivist export`: move lessons from and to other memories.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use crate::cli_error::{CliError, CommandExit};
use crate::command_context::CommandContext;
use crate::console::{Console, TextStyle};
use crate::text_format::{format_bytes, format_count, one_line};
use archivist_core::files::FileReplacement;
use archivist_core::service::BankKind;
use archivist_core::service::MemoryCopyReport;
use archivist_exchange::{
    ExportLoss, ExportedFiles, ImportFate, ImportOptions, ImportReport, ImportedLesson, MemoryFormat, export_lessons,
    import_lessons,
};

/// The format of a whole memory in files, with every version, episode and fact.
const STORE: &str = "store";

/// The most skipped items that are shown.
const SHOWN_SKIPPED: usize = 5;

const IMPORT_EXAMPLES: &str = "\
Examples:
  archivist import .archeflow/memory --dry-run
  archivist import ~/.claude/projects/-home-me-project/memory
  archivist import mem0-export.json --format mem0
  archivist import ~/.claude-mem/claude-mem.db
  archivist import team.jsonl --format jsonl
  archivist import .openagents/memory --format store

Lessons from elsewhere lose their secrets on the way, are held against those that are here, and wait to be seen again
before anybody is given them, unless their memory says that they were, or you stand behind them (--vouch). Importing the
same again changes nothing.";

const EXPORT_EXAMPLES: &str = "\
Examples:
  archivist export --format jsonl > everything.jsonl
  archivist export --format markdown
  archivist export --format claude-memory --out notes/
  archivist export --format archeflow --out .archeflow/memory
  archivist export --format store --out copy/

What the format cannot say is told on stderr.";

#[derive(Debug, Args)]
#[command(after_help = IMPORT_EXAMPLES)]
pub(crate) struct ImportCommand {
    /// The file or the folder that holds the other memory
    path: PathBuf,
    /// What it is; told by what is there if not given
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    format: Option<String>,
    /// Show what would happen, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// You stand behind all of them: they are given from now on
    #[arg(long)]
    vouch: bool,
    /// With --format store: the bank of lessons that hold everywhere, instead of the project's
    #[arg(long)]
    global: bool,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub(crate) struct ExportCommand {
    /// In what shape
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    format: String,
    /// A file or a folder to write to; stdout if not given
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// Replace files that are there
    #[arg(long)]
    force: bool,
    /// With --format store: the bank of lessons that hold everywhere, instead of the project's
    #[arg(long)]
    global: bool,
    /// Print what was written and what was lost as JSON; needs --out
    #[arg(long, requires = "out")]
    json: bool,
}

impl ImportCommand {
    pub(crate) async fn run(&self, session: &CommandContext, console: &mut Console) -> Result<CommandExit> {
        if self.format.as_deref() == Some(STORE) {
            if self.dry_run || self.vouch {
                let message = "a store is copied as it is, whole; --dry-run and --vouch do not go with it";
                return Err(CliError::usage_error(message)
                    .with_hint("`archivist doctor --against` shows what differs")
                    .into());
            }
            let copied = session.archivist.copy_from_directory(&self.path, choose_bank(self.global)).await?;
            return print_copied(&copied, self.json, console);
        }
        let format = self.format.as_deref().map(str::parse::<MemoryFormat>).transpose()?;
        let moving = ImportOptions { format, is_rehearsal: self.dry_run, is_vouched_for: self.vouch };
        let imported = import_lessons(&session.archivist, &self.path, moving, session.now).await?;
        if self.json {
            console.print_json(&imported)?;
            return Ok(CommandExit::Done);
        }
        for taken in imported.lessons.iter().filter(|taken| self.dry_run || is_worth_showing(taken.fate)) {
            console.print_line(&describe_imported_lesson(taken, console))?;
        }
        console.print_line(&describe_import(&imported))?;
        warn_about_skipped(&imported, console);
        Ok(CommandExit::Done)
    }
}

/// Returns true if the import changed something that a person wants to see.
fn is_worth_showing(fate: ImportFate) -> bool {
    matches!(fate, ImportFate::New | ImportFate::Quarantined | ImportFate::Seen)
}

fn describe_imported_lesson(taken: &ImportedLesson, console: &Console) -> String {
    let (mark, style) = match taken.fate {
        ImportFate::New => ("+", TextStyle::Cyan),
        ImportFate::Quarantined => ("?", TextStyle::Yellow),
        ImportFate::Seen => ("~", TextStyle::Dim),
        ImportFate::Known | ImportFate::Repeated => ("=", TextStyle::Dim),
        ImportFate::Rejected => ("-", TextStyle::Dim),
    };
    let state = taken.state.as_ref().filter(|_| is_worth_showing(taken.fate)).map(|state| format!(" [{state}]"));
    let why = match taken.fate {
        ImportFate::Seen => Some(format!(", said by {}", taken.lesson.as_deref().unwrap_or("a lesson that is here"))),
        ImportFate::Repeated => Some(", said before in this memory".to_owned()),
        ImportFate::Rejected => Some(", taken out of use here".to_owned()),
        ImportFate::Quarantined => taken.why.as_ref().map(|why| format!(", {why}")),
        ImportFate::New | ImportFate::Known => None,
    };
    let marks = state.into_iter().chain(why).collect::<String>();
    format!("{} {}{marks}", console.style_text(style, mark), one_line(&taken.summary))
}

fn describe_import(imported: &ImportReport) -> String {
    let of = |fate: ImportFate| imported.count_fate(fate);
    let mut parts = vec![format!("{} new", format_count(of(ImportFate::New), "lesson", "lessons"))];
    let mut more = |number: usize, what: &str| {
        if number > 0 {
            parts.push(format!("{number} {what}"));
        }
    };
    more(of(ImportFate::Quarantined), "in quarantine");
    more(of(ImportFate::Seen), "seen again");
    more(of(ImportFate::Known), "known");
    more(of(ImportFate::Repeated), "repeated");
    more(of(ImportFate::Rejected), "rejected before");
    if imported.episodes + imported.known_episodes > 0 {
        parts.push(format!(
            "{} new, {} known",
            format_count(imported.episodes, "run", "runs"),
            imported.known_episodes
        ));
    }
    if imported.secrets > 0 {
        parts.push(format!("{} masked", format_count(imported.secrets, "secret", "secrets")));
    }
    let end = if imported.dry_run { "; nothing was written" } else { "" };
    format!("{}: {}{end}", imported.format, parts.join(", "))
}

fn warn_about_skipped(imported: &ImportReport, console: &mut Console) {
    for skipped in imported.skipped.iter().take(SHOWN_SKIPPED) {
        console.print_warning(&format!("{} was left out: {}", skipped.place, one_line(&skipped.why)));
    }
    let more = imported.skipped.len().saturating_sub(SHOWN_SKIPPED);
    if more > 0 {
        console.print_warning(&format!("{more} more were left out; --json lists them"));
    }
}

fn format_parser() -> clap::builder::PossibleValuesParser {
    MemoryFormat::WORDS.iter().copied().chain([STORE]).into()
}

fn choose_bank(is_global: bool) -> BankKind {
    if is_global { BankKind::Global } else { BankKind::Project }
}

fn print_copied(copied: &MemoryCopyReport, json: bool, console: &mut Console) -> Result<CommandExit> {
    if json {
        console.print_json(copied)?;
    } else {
        console.print_line(&format!(
            "{}, {} and {} copied, {} known",
            format_count(copied.episodes, "run", "runs"),
            format_count(copied.versions, "version of lessons", "versions of lessons"),
            format_count(copied.facts, "fact", "facts"),
            copied.known
        ))?;
        for id in &copied.differing {
            console.print_warning(&format!("{id} has gone another way there, and was left as it is"));
        }
    }
    Ok(if copied.differing.is_empty() { CommandExit::Done } else { CommandExit::Refused })
}

/// The result of an export, as JSON for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExportReport<'w> {
    format: &'w str,
    files: Vec<ExportedFileReport>,
    lost: &'w [ExportLoss],
}

#[derive(Serialize)]
struct ExportedFileReport {
    path: String,
    bytes: usize,
}

impl ExportCommand {
    pub(crate) async fn run(&self, session: &CommandContext, console: &mut Console) -> Result<CommandExit> {
        if self.format == STORE {
            let Some(out) = &self.out else {
                return Err(CliError::usage_error("a store is a directory")
                    .with_hint("say where to: --out FOLDER")
                    .into());
            };
            let copied = session.archivist.copy_to_directory(out, choose_bank(self.global)).await?;
            return print_copied(&copied, self.json, console);
        }
        let format: MemoryFormat = self.format.parse()?;
        let written = export_lessons(&session.archivist, format).await?;
        let mut files = Vec::new();
        match (&self.out, written.files.as_slice()) {
            (None, [(_, only)]) => console.print_bytes(only)?,
            (None, several) => {
                let message = format!("{format} is {} files", several.len());
                return Err(CliError::usage_error(message).with_hint("say where to: --out FOLDER").into());
            }
            (Some(out), _) => {
                for (path, content) in self.target_paths(out, &written) {
                    write_file(&path, content, self.force)?;
                    files.push(ExportedFileReport { path: path.display().to_string(), bytes: content.len() });
                }
            }
        }
        for loss in &written.lost {
            console.print_warning(&format!(
                "{format} cannot hold {} ({})",
                loss.what,
                format_count(loss.lessons, "lesson", "lessons")
            ));
        }
        if self.json {
            console.print_json(&ExportReport { format: format.as_str(), files, lost: &written.lost })?;
        } else {
            for file in files {
                console.print_line(&format!("{}  {}", file.path, format_bytes(file.bytes as u64)))?;
            }
        }
        Ok(CommandExit::Done)
    }

    /// Returns the target path of each file. A single file may be named by the path itself.
    fn target_paths<'w>(&self, out: &Path, written: &'w ExportedFiles) -> Vec<(PathBuf, &'w [u8])> {
        let is_folder = out.is_dir() || out.as_os_str().to_string_lossy().ends_with('/') || written.files.len() > 1;
        let place = |name: &Path| if is_folder { out.join(name) } else { out.to_owned() };
        written.files.iter().map(|(name, content)| (place(name), content.as_slice())).collect()
    }
}

/// Writes a file atomically.
fn write_file(path: &Path, content: &[u8], force: bool) -> Result<(), CliError> {
    let cannot = |error: std::io::Error| CliError::user_error(format!("{} cannot be written: {error}", path.display()));
    if path.is_symlink() {
        return Err(CliError::user_error(format!("{} is a link, and is not written through", path.display())));
    }
    if std::fs::read(path).is_ok_and(|there| there == content) {
        return Ok(());
    }
    if path.exists() && !force {
        let message = format!("{} is there already, with something else in it", path.display());
        return Err(CliError::user_error(message).with_hint("--force replaces it; or give another --out"));
    }
    FileReplacement::new(path).write(content).map_err(cannot)
}
