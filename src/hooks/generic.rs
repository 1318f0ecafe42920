//! How everybody else speaks: a reflection trigger, or as much of one as they know.

use super::dialect::Dialect;

pub(super) const DIALECT: Dialect = Dialect {
    event: &[],
    session: &["sessionId", "session_id"],
    logs: &["logPaths", "log_paths", "logPath", "log_path", "transcript_path"],
    directory: &["projectRoot", "project_root", "cwd"],
    task: &["mainTaskId", "main_task_id", "taskId", "task_id"],
    subtask: &["subtaskId", "subtask_id"],
    reason: &["reason"],
    outcome: &["outcome", "status", "scenario"],
    scenario: &["scenario"],
    prompt: &["prompt", "text"],
    ..Dialect::USUAL
};
