//! Postgres, Redis and the blob store: stopped, frozen, failing or stalled.

use handbill_tests::Health;
use rand::RngExt;
use rand::rngs::StdRng;

use super::hold;
use crate::scene::Scene;

pub async fn strike(scene: &Scene, rng: &mut StdRng) {
    let (postgres, redis, s3) = (scene.world.postgres(), scene.world.redis(), scene.world.s3());
    match rng.random_range(0..8) {
        0 => {
            scene.journal.fault("Postgres stopped", "");
            postgres.stop();
            hold(rng).await;
            postgres.start().await;
        }
        1 => {
            scene.journal.fault("Postgres frozen", "");
            postgres.freeze();
            hold(rng).await;
            postgres.thaw();
        }
        2 => {
            scene.journal.fault("Redis stopped", "");
            redis.stop();
            hold(rng).await;
            redis.start().await;
        }
        3 => {
            scene.journal.fault("Redis frozen", "");
            redis.freeze();
            hold(rng).await;
            redis.thaw();
        }
        4 => {
            scene.journal.fault("blob store stopped", "");
            s3.stop().await;
            hold(rng).await;
            s3.start().await;
        }
        5 | 6 => {
            scene.journal.fault("blob store errs", "");
            s3.be(Health::Errs);
            hold(rng).await;
            s3.be(Health::Well);
        }
        _ => {
            scene.journal.fault("blob store stalls", "");
            s3.be(Health::Stalls);
            hold(rng).await;
            s3.be(Health::Well);
        }
    }
    scene.journal.fault_goes_on("it is well again");
}
