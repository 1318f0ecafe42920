use super::*;

fn pushed(most: usize, messages: std::ops::RangeInclusive<u32>) -> MessageQueue {
    let queue = MessageQueue::new(most);
    messages.for_each(|message| queue.push(message.to_string()));
    queue
}

/// Delivers everything.
fn drained(queue: &MessageQueue) -> Vec<String> {
    let next = || {
        let (number, message) = queue.first_message()?;
        queue.remove_delivered(number);
        Some((*message).to_owned())
    };
    std::iter::from_fn(next).collect()
}

#[test]
fn a_full_queue_forgets_the_oldest() {
    assert_eq!(drained(&pushed(3, 1..=2)), ["1", "2"]);
    assert_eq!(drained(&pushed(3, 1..=5)), ["3", "4", "5"]);
}

#[test]
fn a_message_that_was_forgotten_while_it_was_sent_takes_no_other_along() {
    let queue = pushed(2, 1..=2);
    let (number, _) = queue.first_message().unwrap();
    queue.push("3".to_owned());
    queue.remove_delivered(number);
    assert_eq!(drained(&queue), ["2", "3"]);
    queue.remove_delivered(7);
    assert!(queue.is_empty());
}

#[test]
fn nothing_is_kept_for_somebody_who_is_looked_for_no_more() {
    let queue = pushed(3, 1..=3);
    queue.set_link_state(LinkState::GivenUp);
    queue.push("4".to_owned());
    assert!(queue.is_empty());
}

#[tokio::test]
async fn whoever_waits_hears_when_nobody_listens() {
    let queue = pushed(3, 1..=1);
    let (_, ()) = tokio::join!(queue.wait_until_delivered(), async {
        tokio::task::yield_now().await;
        queue.set_link_state(LinkState::Up);
        tokio::task::yield_now().await;
        queue.set_link_state(LinkState::Down);
    });
    queue.wait_until_delivered().await;
}
