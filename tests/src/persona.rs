//! The personas of the tests. Each calls the service as a user of its kind does, and sees no more than such a
//! user.

mod calls;

pub mod agent;
pub mod human;
pub mod operator;
pub mod processor;
pub mod visitor;

use crate::{Agent, Human, Operator, Visitor, World};

impl World {
    pub async fn agent(&self) -> Agent {
        Agent::sign_up(self).await
    }

    pub fn stranger(&self) -> Agent {
        Agent::stranger(self)
    }

    pub fn visitor(&self) -> Visitor {
        Visitor::new(self)
    }

    pub fn human(&self) -> Human {
        Human::new(self)
    }

    pub fn operator(&self) -> Operator {
        Operator::new(self)
    }
}
