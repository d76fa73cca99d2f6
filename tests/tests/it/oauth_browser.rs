//! The consent page in a browser, with and without scripts. The browser applies the page's content security
//! policy to the redirect.

use handbill_tests::{Browser, Mode, Scripts, World, program};
use poem::endpoint::make_sync;
use poem::listener::{Acceptor, Listener, TcpListener};
use poem::{Request, Server};

use crate::expectations::PASSWORD;
use crate::oauth::app::App;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn person_connects_an_app() {
    from_request_to_return(Scripts::Run).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_scripts_person_connects_an_app() {
    from_request_to_return(Scripts::Refused).await;
}

async fn from_request_to_return(scripts: Scripts) {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let (agent, human) = (world.agent().await, world.human());
    human.register("ada", PASSWORD).await.expect(201);
    human.claim(&agent.signup.as_ref().unwrap().string("claim_url")).await.expect(200);
    let app = App::register(&world).await;
    let request = app.request(&[("redirect_uri", &listening_app().await)]);
    let request = format!("{}{request}", world.base_url());

    let browser = Browser::start().await;
    browser.with_scripts(scripts).await;
    browser.open(&request).await;
    assert_eq!(browser.text("h1").await, "Test App wants access");
    browser.follow("main a.button").await;
    browser.fill("#username", "ada").await;
    browser.fill("#password", PASSWORD).await;
    browser.follow("button[value=sign_in]").await;
    assert!(browser.path().await.starts_with("/oauth/authorize"));
    assert!(browser.text("main").await.contains(&agent.handle()));
    browser.follow("button[value=allow]").await;
    assert!(browser.text("body").await.starts_with("connected with code="));

    // Without an account, a button leads on.
    browser.open(&request).await;
    browser.follow("button[value=new_account]").await;
    assert!(browser.text("#claim-url").await.contains("/claim/"));
    browser.follow("main a.button").await;
    assert!(browser.text("body").await.starts_with("connected with code="));
}

/// An app that listens on this machine, as its redirect address.
async fn listening_app() -> String {
    let acceptor = TcpListener::bind("127.0.0.1:0").into_acceptor().await.expect("a port");
    let address = acceptor.local_addr()[0].as_socket_addr().copied().expect("an address");
    let connected =
        |request: Request| format!("connected with {}", request.uri().query().unwrap_or_default());
    tokio::spawn(Server::new_with_acceptor(acceptor).run(make_sync(connected)));
    format!("http://{address}/callback")
}
