//! Runs each test in both modes, embedded and production, from one text. A test for one mode only uses
//! [`World`](crate::World) itself.

/// The path of the program under test. Cargo gives it only to integration tests of this package.
#[macro_export]
macro_rules! program {
    () => {
        env!("CARGO_BIN_EXE_handbill-under-test")
    };
}

/// Makes each story a test in both modes: `a_sentence::embedded` and `a_sentence::production`.
///
/// ```text
/// in_both_modes! {
///     async fn a_page_is_served(world: World) { … }
///
///     #[settings("HANDBILL_LIMITS__PROVISIONAL_LIFETIME" = "2s")]
///     async fn a_page_expires(world: World) { … }
///
///     #[given(with_card_processor)]
///     async fn a_checkout_is_opened(world: World) { … }
/// }
/// ```
#[macro_export]
macro_rules! in_both_modes {
    ($(
        $(#[given($given:ident)])?
        $(#[settings($($key:literal = $value:expr),+ $(,)?)])?
        async fn $name:ident($world:ident: World) $body:block
    )+) => {$(
        mod $name {
            #[allow(unused_imports)]
            use super::*;

            async fn story($world: $crate::World) $body

            async fn run_in(mode: $crate::Mode) {
                let setup = $crate::World::with(mode, $crate::program!())$(.$given())?$($(.env($key, $value))+)?;
                Box::pin(story(setup.start().await)).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn embedded() {
                run_in($crate::Mode::Embedded).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn production() {
                if !$crate::has_servers() {
                    return;
                }
                run_in($crate::Mode::Production).await;
            }
        }
    )+};
}
