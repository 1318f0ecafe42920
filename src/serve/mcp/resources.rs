//! Lessons and runs as resources: what a person picks and puts before an agent.

use rmcp::ErrorData;
use rmcp::model::{ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde::Serialize;

use super::Mcp;
use super::outgoing::{failed, line, plain};
use super::tools::shown;
use crate::desk::{EpisodeQuestion, LessonFilter, Refusal};
use crate::domain::{Episode, EpisodeId};
use crate::memory::{Lesson, LessonName, Which};

const LESSONS: &str = "archivist://lessons/";
const EPISODES: &str = "archivist://episodes/";
const JSON: &str = "application/json";

/// So many are listed on one page.
const PAGE: usize = 100;

/// What can be read by its name.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let template = |uri: &str, name: &str, description: &str| {
        ResourceTemplate::new(format!("{uri}{{id}}"), name).with_description(description).with_mime_type(JSON)
    };
    vec![
        template(LESSONS, "lesson", "A lesson in full, by its short name or its id"),
        template(EPISODES, "episode", "A run that lessons were learned from, by its id"),
    ]
}

impl Mcp {
    /// One page of what there is: lessons that may be given to anybody, then runs, the newest of each first.
    pub(super) async fn resources(&self, cursor: Option<String>) -> Result<ListResourcesResult, ErrorData> {
        let begin = match cursor.as_deref().map(str::parse::<usize>) {
            None => 0,
            Some(Ok(begin)) => begin,
            Some(Err(_)) => {
                return Err(ErrorData::invalid_params("the cursor is not one that a list of resources gave", None));
            }
        };
        let refused = |refusal: Refusal| failed(&refusal.into());
        let desk = &self.served.desk;
        let lessons = desk.lessons(&LessonFilter::of(Which::Given)).await.map_err(refused)?;
        let episodes = desk.episodes(&EpisodeQuestion::default(), self.served.now()).await.map_err(refused)?;
        let all = lessons.len() + episodes.len();
        let listed = lessons.iter().map(lesson).chain(episodes.iter().map(episode));
        let mut page = ListResourcesResult::with_all_items(listed.skip(begin).take(PAGE).collect());
        let end = begin.saturating_add(PAGE);
        page.next_cursor = (end < all).then(|| end.to_string());
        Ok(page)
    }

    /// One lesson or one run.
    pub(super) async fn resource(&self, uri: &str) -> Result<ReadResourceResult, ErrorData> {
        let nothing = || ErrorData::resource_not_found(format!("there is no resource {}", line(uri)), None);
        let refused = |refusal: Refusal| failed(&refusal.into());
        let desk = &self.served.desk;
        if let Some(name) = uri.strip_prefix(LESSONS) {
            let name = LessonName::parse(name).map_err(|_| nothing())?;
            let lesson = desk.lesson(&name).await.map_err(|error| refused(error.into()))?;
            let memory = shown(lesson.memory, &name.to_string()).map_err(|problem| failed(&problem))?;
            return contents(uri, Lesson { memory, ..lesson });
        }
        let id = uri.strip_prefix(EPISODES).ok_or_else(nothing)?;
        let id = EpisodeId::parse(id).map_err(|_| nothing())?;
        contents(uri, desk.episode(&id).await.map_err(refused)?)
    }
}

fn lesson(lesson: &Lesson) -> Resource {
    let memory = &lesson.memory;
    let name = memory.alias.as_ref().map_or_else(|| memory.id.to_string(), ToString::to_string);
    let uri = format!("{LESSONS}{name}");
    Resource::new(uri, name).with_description(line(&memory.summary)).with_mime_type(JSON)
}

fn episode(episode: &Episode) -> Resource {
    let uri = format!("{EPISODES}{}", episode.id);
    let name = line(episode.session_id.as_str());
    Resource::new(uri, name).with_description(line(&episode.summary)).with_mime_type(JSON)
}

fn contents(uri: &str, value: impl Serialize) -> Result<ReadResourceResult, ErrorData> {
    let text = plain(value)?.to_string();
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(JSON)]))
}
