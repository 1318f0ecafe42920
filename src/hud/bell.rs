//! Rings when somebody told something, where that can be known without looking.

/// Rings when there is something new. It may ring for nothing, and where it cannot ring at all one has to look now and then.
#[derive(Debug)]
pub struct Bell {
    #[cfg(feature = "postgres")]
    fleet: Option<crate::memory::postgres::Bell>,
}

impl Bell {
    /// One that never rings.
    pub(super) fn silent() -> Self {
        Self {
            #[cfg(feature = "postgres")]
            fleet: None,
        }
    }

    #[cfg(feature = "postgres")]
    pub(super) fn of_fleet(bell: crate::memory::postgres::Bell) -> Self {
        Self { fleet: Some(bell) }
    }

    /// Done when it has rung since the last time, however often.
    pub async fn rung(&mut self) {
        #[cfg(feature = "postgres")]
        if let Some(bell) = &mut self.fleet {
            return bell.rung().await;
        }
        std::future::pending::<()>().await;
    }
}
