use serde_json::json;

use super::*;

const ROOM: usize = 24 * 1024 * 1024;

fn step(number: u32, speaker: Speaker, bytes: usize) -> Step {
    Step { number, speaker, text: "x".repeat(bytes), ..Step::default() }
}

#[test]
fn quiet_steps_go_first_and_what_is_pinned_stays() {
    let mut keep = StepBuffer::new(ROOM);
    let mut shed = 0;
    for number in 1..=20_000 {
        let speaker = if number % 1000 == 0 { Speaker::User } else { Speaker::Agent };
        keep.push_step(step(number, speaker, 4000));
        if keep.is_full() {
            shed += keep.drop_quiet_steps(|number| number % 700 == 0);
        }
    }
    let numbers: Vec<u32> = keep.steps.iter().map(|step| step.number).collect();
    assert!(numbers.is_sorted() && keep.bytes <= ROOM);
    assert_eq!(shed + numbers.len() as u64, 20_000);
    for stays in [1, 64, 700, 1000, 7000, 13_300, 19_999, 20_000] {
        assert!(numbers.contains(&stays), "{stays}");
    }
    assert!(!numbers.contains(&5001));
}

#[test]
fn even_pinned_steps_go_when_there_is_nothing_else() {
    let mut keep = StepBuffer::new(ROOM);
    for number in 1..=20_000 {
        keep.push_step(step(number, Speaker::User, 4000));
        if keep.is_full() {
            keep.drop_quiet_steps(|_| true);
        }
    }
    assert!(keep.bytes <= ROOM);
}

#[test]
fn a_few_large_steps_do_not_take_all_the_room() {
    let mut keep = StepBuffer::new(1024 * 1024);
    let mut sheds = 0;
    for number in 1..=2000 {
        keep.push_step(step(number, Speaker::Agent, 16_000));
        if keep.is_full() {
            keep.drop_quiet_steps(|_| true);
            sheds += 1;
        }
    }
    assert!(keep.bytes <= 80 * 17_000 && sheds < 2000, "{} bytes, {sheds} times", keep.bytes);
}

#[test]
fn arguments_are_bounded_whatever_their_shape() {
    let keep = StepBuffer::new(ROOM);
    let huge = json!({
        "text": "y".repeat(1_000_000),
        "list": vec!["z".repeat(1000); 1000],
        "numbers": (0..100_000).collect::<Vec<_>>(),
        "command": "ls",
    });
    let small = keep.clip_arguments(huge);
    assert!(small.to_string().len() < 4 * text_clipping::KEPT_BYTES, "{}", small.to_string().len());
    assert_eq!(small["command"], "ls");
}
