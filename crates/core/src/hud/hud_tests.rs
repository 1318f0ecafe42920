use std::sync::{Arc, Mutex};

use tokio::time::Instant;

use super::*;
use crate::domain::ReflectionScenario;

#[derive(Debug, Clone, Default)]
struct Remembering {
    told: Arc<Mutex<Vec<HudMessage>>>,
    takes: Duration,
}

#[async_trait]
impl HudSink for Remembering {
    fn send_message(&self, message: &HudMessage) {
        self.told.lock().unwrap().push(message.clone());
    }

    async fn flush_messages(&self, patience: Duration) {
        tokio::time::sleep(self.takes.min(patience)).await;
    }
}

/// A message that can be told from the others.
pub(super) fn numbered(count: u64) -> HudMessage {
    let ts = "2026-01-01T00:00:00Z".parse().unwrap();
    HudMessage::ArchivistMemoriesAdded { count, scenario: ReflectionScenario::Manual, ts }
}

/// The number of such a message.
pub(super) fn number(line: &str) -> u64 {
    match serde_json::from_str(line).unwrap() {
        HudMessage::ArchivistMemoriesAdded { count, .. } => count,
        other => panic!("{other:?}"),
    }
}

#[test]
fn everybody_is_told_in_order() {
    let (one, other) = (Remembering::default(), Remembering::default());
    let hud = HudBroadcaster::new(vec![Box::new(one.clone()), Box::new(other.clone())]);
    (1..=3).for_each(|count| hud.send_message(&numbered(count)));
    for sink in [one, other] {
        assert_eq!(*sink.told.lock().unwrap(), [numbered(1), numbered(2), numbered(3)]);
    }
}

#[tokio::test(start_paused = true)]
async fn all_finish_at_the_same_time_and_nobody_takes_longer_than_the_patience() {
    let slow = || Box::new(Remembering { takes: Duration::from_secs(3600), ..Remembering::default() });
    let began = Instant::now();
    HudBroadcaster::new(vec![slow(), slow(), slow()]).flush_messages(Duration::from_secs(1)).await;
    assert_eq!(began.elapsed(), Duration::from_secs(1));
    HudBroadcaster::without_sinks().flush_messages(Duration::from_secs(1)).await;
    HudBroadcaster::without_sinks().send_message(&numbered(1));
    assert_eq!(began.elapsed(), Duration::from_secs(1));
}
