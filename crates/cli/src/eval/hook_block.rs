//! The block of lessons that a hook would inject for a query.

use anyhow::Result;

use archivist_core::config::Config;
use archivist_core::domain::{MemoryQuery, Timestamp};
use archivist_core::memory::MemoryService;
use archivist_core::recall::{AnchorPresence, BlockFrame, BlockLimits, LessonBlockStyle, LessonReach};
use archivist_core::service::{InjectionBlock, LessonSelector};

/// Recalls as many lessons as a hook injects, without checking whether files that lessons name exist.
pub(super) async fn recall_like_hook(
    config: &Config,
    memory: &dyn MemoryService,
    query: MemoryQuery,
    at: Timestamp,
) -> Result<InjectionBlock> {
    let (recall, hooks) = (&config.recall, &config.hooks);
    let count = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let budget = recall.token_budget();
    let caps = BlockLimits {
        items: count(hooks.max_lessons),
        tokens: count(hooks.max_tokens),
        characters: count(hooks.max_characters),
        preference_places: budget.preference_places,
        min_space: budget.min_space,
    };
    let selector = LessonSelector {
        ranking: recall.ranking_settings(),
        profile: recall.profile,
        profile_rules: config.profile_rules(),
        budget,
        reach: LessonReach::Any,
        holdout: 0.0,
        seed: 0,
    };
    let query = MemoryQuery { max_results: Some(caps.items), ..query };
    let look = |_: &_| AnchorPresence::Unknown;
    let choice = selector.select_lessons(memory, &query, None, &look, at).await?;
    Ok(selector.fit_block(choice, &BlockFrame::new(LessonBlockStyle::SystemReminder, None), &caps))
}
