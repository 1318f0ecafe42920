//! What the document says of what is taken, and of what is given.

use super::*;

#[test]
fn what_may_be_left_out_is_not_asked_for() {
    let document = build_document(&crate::all_endpoints());
    let required = |path: &str| -> Vec<&str> {
        let parameters = document["paths"][path]["get"]["parameters"].as_array().unwrap();
        let required = parameters.iter().filter(|one| one["required"] == true);
        required.map(|one| one["name"].as_str().unwrap()).collect()
    };
    assert_eq!(required("/v1/lessons"), [""; 0]);
    assert_eq!(required("/v1/episodes/{id}/steps"), ["id", "step"]);
    let schema = |name: &str| &document["components"]["schemas"][name];
    assert_eq!(schema("Question")["required"], Value::Null, "a question may be as short as one likes");
    assert_eq!(schema("LessonBody")["required"], json!(["text"]));
    // What is answered is all there, with null where there is nothing.
    assert!(schema("DayCaps")["required"].as_array().unwrap().len() == 2, "{}", schema("DayCaps"));
}

#[test]
fn no_type_that_looks_different_in_both_ways_is_used_in_both() {
    let mut schemas = SchemaGenerators::new();
    for endpoint in crate::all_endpoints() {
        endpoint.describe_operation(&mut schemas, &Value::Null);
    }
    let (taken, given) = (schemas.taken.take_definitions(true), schemas.given.take_definitions(true));
    let differ = taken.iter().filter(|(name, schema)| given.get(*name).is_some_and(|given| given != *schema));
    assert_eq!(differ.map(|(name, _)| name).collect::<Vec<_>>(), [""; 0]);
}
