//! How everybody else speaks: a reflection trigger, or as much of one as they know.

use super::dialect::HookDialect;

pub(super) const DIALECT: HookDialect = HookDialect {
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
    ..HookDialect::USUAL
};
