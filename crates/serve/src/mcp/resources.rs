//! Lessons and episodes as resources, which a person picks for an agent.

use rmcp::ErrorData;
use rmcp::model::{ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde::Serialize;

use super::McpServer;
use super::sanitized_output::{protocol_error, sanitize_line, sanitize_value};
use super::tools::prepare_for_agent;
use archivist_core::domain::{Episode, EpisodeId};
use archivist_core::memory::{Lesson, LessonName, LessonStateFilter};
use archivist_core::service::{EpisodeListFilter, LessonFilter, RequestError};

const LESSONS: &str = "archivist://lessons/";
const EPISODES: &str = "archivist://episodes/";
const JSON: &str = "application/json";

/// The number of resources on one page.
const PAGE: usize = 100;

/// Returns the templates of resources that can be read by name.
pub(super) fn resource_templates() -> Vec<ResourceTemplate> {
    let template = |uri: &str, name: &str, description: &str| {
        ResourceTemplate::new(format!("{uri}{{id}}"), name).with_description(description).with_mime_type(JSON)
    };
    vec![
        template(LESSONS, "lesson", "A lesson in full, by its short name or its id"),
        template(EPISODES, "episode", "A run that lessons were learned from, by its id"),
    ]
}

impl McpServer {
    /// Returns one page of resources: lessons that may be injected, then episodes, the newest of each first.
    pub(super) async fn list_resource_page(&self, cursor: Option<String>) -> Result<ListResourcesResult, ErrorData> {
        let begin = match cursor.as_deref().map(str::parse::<usize>) {
            None => 0,
            Some(Ok(begin)) => begin,
            Some(Err(_)) => {
                return Err(ErrorData::invalid_params("the cursor is not one that a list of resources gave", None));
            }
        };
        let refused = |refusal: RequestError| protocol_error(&refusal.into());
        let archivist = self.served.archivist.for_agents();
        let lessons =
            archivist.list_lessons(&LessonFilter::from_selection(LessonStateFilter::Given)).await.map_err(refused)?;
        let episodes = archivist.list_episodes(&EpisodeListFilter::default()).await.map_err(refused)?;
        let all = lessons.len() + episodes.len();
        let listed = lessons.iter().map(lesson_resource).chain(episodes.iter().map(episode_resource));
        let mut page = ListResourcesResult::with_all_items(listed.skip(begin).take(PAGE).collect());
        let end = begin.saturating_add(PAGE);
        page.next_cursor = (end < all).then(|| end.to_string());
        Ok(page)
    }

    /// Returns one lesson or one episode.
    pub(super) async fn load_resource(&self, uri: &str) -> Result<ReadResourceResult, ErrorData> {
        let nothing = || ErrorData::resource_not_found(format!("there is no resource {}", sanitize_line(uri)), None);
        let refused = |refusal: RequestError| protocol_error(&refusal.into());
        let archivist = self.served.archivist.for_agents();
        if let Some(name) = uri.strip_prefix(LESSONS) {
            let name = LessonName::parse(name).map_err(|_| nothing())?;
            let lesson = archivist.get_lesson(&name).await.map_err(|error| refused(error.into()))?;
            let memory =
                prepare_for_agent(lesson.memory, &name.to_string()).map_err(|problem| protocol_error(&problem))?;
            return resource_contents(uri, Lesson { memory, ..lesson });
        }
        let id = uri.strip_prefix(EPISODES).ok_or_else(nothing)?;
        let id = EpisodeId::parse(id).map_err(|_| nothing())?;
        resource_contents(uri, archivist.get_episode(&id).await.map_err(refused)?)
    }
}

fn lesson_resource(lesson: &Lesson) -> Resource {
    let memory = &lesson.memory;
    let name = memory.alias.as_ref().map_or_else(|| memory.id.to_string(), ToString::to_string);
    let uri = format!("{LESSONS}{name}");
    Resource::new(uri, name).with_description(sanitize_line(&memory.summary)).with_mime_type(JSON)
}

fn episode_resource(episode: &Episode) -> Resource {
    let uri = format!("{EPISODES}{}", episode.id);
    let name = sanitize_line(episode.session_id.as_str());
    Resource::new(uri, name).with_description(sanitize_line(&episode.summary)).with_mime_type(JSON)
}

fn resource_contents(uri: &str, value: impl Serialize) -> Result<ReadResourceResult, ErrorData> {
    let text = sanitize_value(value)?.to_string();
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(JSON)]))
}
