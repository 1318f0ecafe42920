//! ArcheFlow's own memory of its runs, kept as ArcheFlow keeps it: lines of JSON below `.archeflow/memory`.
//!
//! It stands in for the script that ArcheFlow brings along. Files, messages and exit codes are the script's; what a
//! run teaches is counted once for each run.

mod lesson;

pub use self::lesson::ArcheLesson;
