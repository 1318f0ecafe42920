//! A transaction that can outlive the function that began it.

use deadpool_postgres::Object;

use super::database_error::PostgresFailure;

/// A connection with an open transaction. If it is dropped before its end, the connection is closed and uncommitted
/// changes are lost, so that no connection in an unknown state is reused.
#[derive(Debug)]
pub(super) struct OpenTransaction {
    client: Option<Object>,
}

impl OpenTransaction {
    /// Begins a transaction on a connection.
    pub(super) async fn begin(client: Object) -> Result<Self, PostgresFailure> {
        let work = Self { client: Some(client) };
        work.client()?.batch_execute("BEGIN").await?;
        Ok(work)
    }

    /// Commits the transaction.
    pub(super) async fn commit(mut self) -> Result<(), PostgresFailure> {
        self.client()?.batch_execute("COMMIT").await?;
        self.client.take();
        Ok(())
    }

    /// Rolls the transaction back.
    pub(super) async fn roll_back(mut self) -> Result<(), PostgresFailure> {
        self.client()?.batch_execute("ROLLBACK").await?;
        self.client.take();
        Ok(())
    }

    /// Returns the connection of the transaction.
    pub(super) fn client(&self) -> Result<&Object, PostgresFailure> {
        self.client.as_ref().ok_or_else(|| PostgresFailure::Busy("the transaction is over".to_owned()))
    }
}

impl Drop for OpenTransaction {
    fn drop(&mut self) {
        if let Some(client) = self.client.take() {
            drop(Object::take(client));
        }
    }
}
