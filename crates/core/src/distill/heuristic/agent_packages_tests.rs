use super::super::action_timeline::ActionTimeline;
use super::super::test_support::Session;
use super::{imports_package, is_imported_by_agent, is_project_module};

#[test]
fn what_the_agent_imports_is_its_own() {
    let own = |session: Session| {
        let context = session.fails("pytest", "No module named 'yaml'").context(Vec::new());
        let timeline = ActionTimeline::from_context(&context);
        is_imported_by_agent(&timeline, timeline.actions.len() - 1, "yaml")
    };
    assert!(own(Session::new("go").edits("a.py", "", "import os\nimport yaml")));
    assert!(own(Session::new("go").passes("cat > a.py <<EOF\nfrom yaml import load\nEOF", "")));
    assert!(!own(Session::new("go").edits("a.py", "import yaml", "")));
    assert!(!own(Session::new("go").edits("a.py", "", "import pyyaml")));
    assert!(!own(Session::new("go")));
}

#[test]
fn modules_of_the_project_are_known_by_their_folder() {
    let context =
        Session::new("go").edits("/home/ada/shop/cart/text.py", "", "x").fails("pytest", "x").context(Vec::new());
    let timeline = ActionTimeline::from_context(&context);
    for (name, wanted) in [("cart", true), ("cart.text", true), ("shop", true), ("text", true), ("yaml", false)] {
        assert_eq!(is_project_module(&timeline, 1, name), wanted, "{name}");
    }
}

#[test]
fn lines_that_need_a_package() {
    for line in [
        "import yaml",
        "const z = require('yaml')",
        "+import x from \"yaml\"",
        "use yaml::Value;",
        "  \"yaml\": \"^1\",",
    ] {
        assert!(imports_package(line, "yaml"), "{line}");
    }
    for line in ["-import yaml", "import pyyaml", "a yaml file", "import yaml_x", ""] {
        assert!(!imports_package(line, "yaml"), "{line}");
    }
}
