//! Invitations on the pages of people and of members.

use bourse_store::{Extent, Invited, Role};

use crate::browser::{Browser, Page};
use crate::support::TestApp;

/// The link on a page that was just made.
fn link(page: &Page) -> String {
    let rest = page.html.split("/console/join/").nth(1).unwrap();
    format!("/console/join/{}", rest.split('<').next().unwrap())
}

#[tokio::test]
async fn invitations_are_listed_and_revoked_by_who_may() {
    let app = TestApp::start().await;
    let (one, other) = (app.project_a.id, app.project_b.id);
    let administrator = Browser::of(&app, Invited::Administrator).await;
    let (owner, viewer) = (Browser::of_owner(&app, one).await, Browser::of_viewer(&app, one).await);
    let stranger = Browser::of_owner(&app, other).await;
    let members = format!("/console/projects/{one}/members");
    let made = owner.post(&format!("{members}/invite"), &[("role", "viewer")]).await;
    let link = link(&made);
    assert_eq!(app.anonymous.get(&link).await.status, 200);
    let open = app.store.open_invites(Extent::Everything, app.now()).await.unwrap();
    assert_eq!(open.len(), 1);
    assert_eq!(open[0].invited, Invited::Member(one, Role::Viewer));
    let id = &open[0].id;
    for (browser, path, is_shown) in [
        (&owner, members.as_str(), true),
        (&administrator, &members, true),
        (&administrator, "/console/people", true),
        (&viewer, &members, false),
        (&stranger, &format!("/console/projects/{other}/members"), false),
    ] {
        let page = browser.get(path).await;
        assert_eq!(page.status, 200, "{path}");
        assert_eq!(page.says("Open invitations"), is_shown, "{path}");
        assert_eq!(page.says(&format!("viewer of project {one}")), is_shown, "{path}");
    }
    assert!(made.says(open[0].made_by.as_deref().unwrap()) && !link.contains(id.as_str()));

    let revoke = format!("{members}/invites/{id}/revoke");
    assert_eq!(viewer.post(&revoke, &[]).await.status, 403);
    assert_eq!(stranger.post(&revoke, &[]).await.status, 404);
    let elsewhere = format!("/console/projects/{other}/members/invites/{id}/revoke");
    assert_eq!(stranger.post(&elsewhere, &[]).await.status, 404, "it is no invitation of that project");
    assert_eq!(owner.post(&format!("/console/people/invites/{id}/revoke"), &[]).await.status, 403);
    assert_eq!(app.anonymous.get(&link).await.status, 200, "nobody of these may");
    assert_eq!(owner.post(&revoke, &[]).await.status, 303);
    let (revoked, unknown) =
        (app.anonymous.get(&link).await, app.anonymous.get(&format!("{}A", &link[..link.len() - 1])).await);
    assert_eq!((revoked.status, revoked.text()), (404, unknown.text()), "like one that never was");
    assert_eq!(owner.post(&revoke, &[]).await.status, 404);

    administrator.post("/console/people/invite", &[("administrator", "yes")]).await;
    let open = app.store.open_invites(Extent::Everything, app.now()).await.unwrap();
    let revoke = format!("/console/people/invites/{}/revoke", open[0].id);
    assert_eq!(administrator.post(&revoke, &[]).await.status, 303);
    assert!(!administrator.get("/console/people").await.says("Open invitations"));
}
