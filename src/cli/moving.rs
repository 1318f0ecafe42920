//! `archivist import` and `archivist export`: moving in, and out.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use super::console::{Console, Style};
use super::failure::{Exit, Failure};
use super::prose::{bytes, count, one_line};
use super::session::Session;
use crate::desk::{Bank, Moving};
use crate::exchange::{Format, Loss, Written};
use crate::service::{Copied, Fate, Imported, Taken};

/// A whole memory in files, as it is: every version, every run, every fact.
const STORE: &str = "store";

/// So much of what could not be read is shown.
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
pub(super) struct Import {
    /// The file or the folder that holds the other memory
    path: PathBuf,
    /// What it is; told by what is there if not given
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
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
pub(super) struct Export {
    /// In what shape
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
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

impl Import {
    pub(super) async fn run(&self, session: &Session, console: &mut Console) -> Result<Exit> {
        if self.format.as_deref() == Some(STORE) {
            if self.dry_run || self.vouch {
                let message = "a store is copied as it is, whole; --dry-run and --vouch do not go with it";
                return Err(Failure::usage(message)
                    .with_hint("`archivist doctor --against` shows what differs")
                    .into());
            }
            let copied = session.desk.take_over(&self.path, bank(self.global), session.now).await?;
            return tell_copied(&copied, self.json, console);
        }
        let format = self.format.as_deref().map(str::parse::<Format>).transpose()?;
        let moving = Moving { format, is_rehearsal: self.dry_run, is_vouched_for: self.vouch };
        let imported = session.desk.import(&self.path, moving, session.now).await?;
        if self.json {
            console.json(&imported)?;
            return Ok(Exit::Done);
        }
        for taken in imported.lessons.iter().filter(|taken| self.dry_run || is_news(taken.fate)) {
            console.line(&line(taken, console))?;
        }
        console.line(&conclusion(&imported))?;
        tell_skipped(&imported, console);
        Ok(Exit::Done)
    }
}

/// Whether it changed anything that a person would want to see.
fn is_news(fate: Fate) -> bool {
    matches!(fate, Fate::New | Fate::Quarantined | Fate::Seen)
}

fn line(taken: &Taken, console: &Console) -> String {
    let (mark, style) = match taken.fate {
        Fate::New => ("+", Style::Cyan),
        Fate::Quarantined => ("?", Style::Yellow),
        Fate::Seen => ("~", Style::Dim),
        Fate::Known | Fate::Repeated => ("=", Style::Dim),
        Fate::Rejected => ("-", Style::Dim),
    };
    let state = taken.state.as_ref().filter(|_| is_news(taken.fate)).map(|state| format!(" [{state}]"));
    let why = match taken.fate {
        Fate::Seen => Some(format!(", said by {}", taken.lesson.as_deref().unwrap_or("a lesson that is here"))),
        Fate::Repeated => Some(", said before in this memory".to_owned()),
        Fate::Rejected => Some(", taken out of use here".to_owned()),
        Fate::Quarantined => taken.why.as_ref().map(|why| format!(", {why}")),
        Fate::New | Fate::Known => None,
    };
    let marks = state.into_iter().chain(why).collect::<String>();
    format!("{} {}{marks}", console.styled(style, mark), one_line(&taken.summary))
}

fn conclusion(imported: &Imported) -> String {
    let of = |fate: Fate| imported.count(fate);
    let mut parts = vec![format!("{} new", count(of(Fate::New), "lesson", "lessons"))];
    let mut more = |number: usize, what: &str| {
        if number > 0 {
            parts.push(format!("{number} {what}"));
        }
    };
    more(of(Fate::Quarantined), "in quarantine");
    more(of(Fate::Seen), "seen again");
    more(of(Fate::Known), "known");
    more(of(Fate::Repeated), "repeated");
    more(of(Fate::Rejected), "rejected before");
    if imported.episodes + imported.known_episodes > 0 {
        parts.push(format!("{} new, {} known", count(imported.episodes, "run", "runs"), imported.known_episodes));
    }
    if imported.secrets > 0 {
        parts.push(format!("{} masked", count(imported.secrets, "secret", "secrets")));
    }
    let end = if imported.dry_run { "; nothing was written" } else { "" };
    format!("{}: {}{end}", imported.format, parts.join(", "))
}

fn tell_skipped(imported: &Imported, console: &mut Console) {
    for skipped in imported.skipped.iter().take(SHOWN_SKIPPED) {
        console.warn(&format!("{} was left out: {}", skipped.place, one_line(&skipped.why)));
    }
    let more = imported.skipped.len().saturating_sub(SHOWN_SKIPPED);
    if more > 0 {
        console.warn(&format!("{more} more were left out; --json lists them"));
    }
}

fn formats() -> clap::builder::PossibleValuesParser {
    Format::WORDS.iter().copied().chain([STORE]).into()
}

fn bank(is_global: bool) -> Bank {
    if is_global { Bank::Global } else { Bank::Project }
}

fn tell_copied(copied: &Copied, json: bool, console: &mut Console) -> Result<Exit> {
    if json {
        console.json(copied)?;
    } else {
        console.line(&format!(
            "{}, {} and {} copied, {} known",
            count(copied.episodes, "run", "runs"),
            count(copied.versions, "version of lessons", "versions of lessons"),
            count(copied.facts, "fact", "facts"),
            copied.known
        ))?;
        for id in &copied.differing {
            console.warn(&format!("{id} has gone another way there, and was left as it is"));
        }
    }
    Ok(if copied.differing.is_empty() { Exit::Done } else { Exit::Refused })
}

/// What an export came to.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Exported<'w> {
    format: &'w str,
    files: Vec<FileReport>,
    lost: &'w [Loss],
}

#[derive(Serialize)]
struct FileReport {
    path: String,
    bytes: usize,
}

impl Export {
    pub(super) async fn run(&self, session: &Session, console: &mut Console) -> Result<Exit> {
        if self.format == STORE {
            let Some(out) = &self.out else {
                return Err(Failure::usage("a store is a directory").with_hint("say where to: --out FOLDER").into());
            };
            let copied = session.desk.hand_over(out, bank(self.global), session.now).await?;
            return tell_copied(&copied, self.json, console);
        }
        let format: Format = self.format.parse()?;
        let written = session.desk.export(format).await?;
        let mut files = Vec::new();
        match (&self.out, written.files.as_slice()) {
            (None, [(_, only)]) => console.print(only)?,
            (None, several) => {
                let message = format!("{format} is {} files", several.len());
                return Err(Failure::usage(message).with_hint("say where to: --out FOLDER").into());
            }
            (Some(out), _) => {
                for (path, content) in self.places(out, &written) {
                    put(&path, content, self.force)?;
                    files.push(FileReport { path: path.display().to_string(), bytes: content.len() });
                }
            }
        }
        for loss in &written.lost {
            console.warn(&format!("{format} cannot hold {} ({})", loss.what, count(loss.lessons, "lesson", "lessons")));
        }
        if self.json {
            console.json(&Exported { format: format.as_str(), files, lost: &written.lost })?;
        } else {
            for file in files {
                console.line(&format!("{}  {}", file.path, bytes(file.bytes as u64)))?;
            }
        }
        Ok(Exit::Done)
    }

    /// Where each file goes. A single one may be named by the path itself.
    fn places<'w>(&self, out: &Path, written: &'w Written) -> Vec<(PathBuf, &'w [u8])> {
        let is_folder = out.is_dir() || out.as_os_str().to_string_lossy().ends_with('/') || written.files.len() > 1;
        let place = |name: &Path| if is_folder { out.join(name) } else { out.to_owned() };
        written.files.iter().map(|(name, content)| (place(name), content.as_slice())).collect()
    }
}

/// Writes a file whole, or not at all.
fn put(path: &Path, content: &[u8], force: bool) -> Result<(), Failure> {
    let cannot = |error: std::io::Error| Failure::user(format!("{} cannot be written: {error}", path.display()));
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(cannot)?;
    if path.is_symlink() {
        return Err(Failure::user(format!("{} is a link, and is not written through", path.display())));
    }
    if std::fs::read(path).is_ok_and(|there| there == content) {
        return Ok(());
    }
    if path.exists() && !force {
        let message = format!("{} is there already, with something else in it", path.display());
        return Err(Failure::user(message).with_hint("--force replaces it; or give another --out"));
    }
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(cannot)?;
    file.write_all(content).and_then(|()| file.as_file().sync_all()).map_err(cannot)?;
    file.persist(path).map_err(|error| cannot(error.error))?;
    Ok(())
}
