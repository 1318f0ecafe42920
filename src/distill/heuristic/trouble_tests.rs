use super::super::scene::Scene;
use super::super::test_support::Session;
use super::collect;

#[test]
fn a_family_is_one_trouble_however_often_it_is_told() {
    const ERROR: &str = "error: backend is not there";
    let session = Session::default()
        .run("r1", "failed")
        .fails("deploy now", ERROR)
        .fails("deploy now", ERROR)
        .run("r2", "failed")
        .fails("deploy now", ERROR)
        .fails("other thing", "error: something else entirely");
    let context = session.context(Vec::new());
    let troubles = collect(&Scene::of(&context));
    assert_eq!(troubles.len(), 2);
    assert_eq!((troubles[0].times, troubles[0].places.len(), troubles[0].runs()), (3, 2, 2));
    assert_eq!((troubles[1].times, troubles[1].runs()), (1, 1));
}
