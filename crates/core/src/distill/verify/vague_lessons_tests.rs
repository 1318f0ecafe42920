use super::super::test_support::Did::{Says, User};
use super::super::test_support::{claim, session, verified};
use super::*;

#[test]
fn platitudes_are_vague_whoever_says_them() {
    let context = session(&[User("be careful and always test your code"), Says("I am careful with the tests.")]);
    for summary in [
        "Be careful",
        "Write good tests",
        "Fix the error",
        "Always test your code",
        "Keep the code clean and handle errors properly",
    ] {
        let mut made = claim(summary, None, &[(1, "be careful and always test your code")]);
        made.facets.tool = Some("bash".to_owned());
        let became = verified(&context, vec![made]);
        assert_eq!(became.dropped[0].why, crate::domain::DropReason::Vague, "{summary}");
    }
}

#[test]
fn a_plain_preference_rests_on_the_person_who_has_it() {
    let context = session(&[User("prefer small commits"), Says("Then I make commits that are small and kind.")]);
    let by = |step, text| {
        verified(&context, vec![claim("Favour humble changesets, prefer little commits", None, &[(step, text)])])
    };
    assert_eq!(by(1, "prefer small commits").candidates.len(), 1);
    assert_eq!(by(2, "make commits that are small").candidates.len(), 0);
}

#[test]
fn names_are_known() {
    for text in [
        "set x to 5",
        "use src/a",
        "pass --locked",
        "run `make`",
        "ask Postgres",
        "the CI",
        "see fooBar",
        "a deadlock",
        "テスト",
    ] {
        assert!(has_name(text), "{text}");
    }
    for text in ["Be nice", "think about it. Then act", "IF you work THEN rest", "one - two"] {
        assert!(!has_name(text), "{text}");
    }
    assert!(NAMED.is_sorted());
}

#[test]
fn what_a_model_says_of_any_work_is_vague_whatever_it_is_filed_under() {
    let context = session(&[User("fix the cart"), Says("I ran the tests of the cart first.")]);
    let said = |summary: &str, rule: Option<&str>| {
        let mut made = claim(summary, rule, &[(2, "ran the tests of the cart")]);
        made.facets.tool = Some("bash".to_owned());
        made.facets.component = Some("cart".to_owned());
        verified(&context, vec![made])
    };
    for summary in [
        "Running the tests first is a good practice to ensure code quality.",
        "The agent ran the cart's tests first and then fixed the bug.",
        "The agent ran `cargo test` first and then fixed src/cart.rs.",
        "It is important to handle errors properly.",
        "Make sure that the code is clean and well structured.",
        "In this session I ran the tests and they passed.",
        "Handle every exception properly.",
        "We fixed the rounding bug in the cart.",
        "Good error handling, e.g. with care, leads to robust software.",
    ] {
        let became = said(summary, None);
        let is_vague = became.dropped.first().is_some_and(|one| one.why == crate::domain::DropReason::Vague);
        assert!(is_vague, "{summary}");
    }
    for (summary, rule) in [
        ("The cart's tests need the `db` container", None),
        ("Run make before the cart is tested", None),
        ("The cart rounds down when the discount is given in percent", None),
        ("The agent ran the cart's tests in the wrong folder, because they live in web/", None),
        ("We fixed the cart", Some("IF the cart's totals differ by a cent THEN round once, at the end")),
        ("The token of the payment sandbox expires daily", None),
    ] {
        let became = said(summary, rule);
        assert!(!became.dropped.iter().any(|one| one.why == crate::domain::DropReason::Vague), "{summary}");
    }
}

#[test]
fn lessons_of_other_agents_say_something() {
    let Ok(bench) = std::env::var("ARCHIVIST_BENCH") else {
        println!("skipped: ARCHIVIST_BENCH does not say where the public sets are");
        return;
    };
    for (file, least) in [("ace_appworld_online_trained", 0.95), ("reflexion_alfworld", 0.95), ("reme_appworld", 0.7)] {
        let lines = std::fs::read_to_string(format!("{bench}/lessons/{file}.jsonl")).unwrap();
        let (mut all, mut vague) = (0_u32, Vec::new());
        for line in lines.lines() {
            let lesson: serde_json::Value = serde_json::from_str(line).unwrap();
            let text = lesson["text"].as_str().unwrap();
            let rule = lesson["when"].as_str().map(|when| format!("{when} THEN {text}"));
            all += 1;
            if let Some(why) = find_vagueness(&claim(text, rule.as_deref(), &[]), &[]) {
                vague.push(format!("{why}: {text}"));
            }
        }
        let share = 1.0 - f64::from(u32::try_from(vague.len()).unwrap()) / f64::from(all);
        println!("{file}: {share:.3} of {all}\n{}", vague.join("\n"));
        assert!(share >= least, "{file}: {share}\n{}", vague.join("\n"));
    }
}
