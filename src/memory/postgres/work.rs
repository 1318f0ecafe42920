//! A transaction that is carried out in steps, by hand: it outlives the function that began it.

use deadpool_postgres::Object;

use super::trouble::Trouble;

/// A connection with a transaction on it. Dropped before its end, the connection is closed, and with it goes whatever was
/// not committed: nobody else gets a connection in a state that nobody knows.
#[derive(Debug)]
pub(super) struct Work {
    client: Option<Object>,
}

impl Work {
    /// Begins a transaction.
    pub(super) async fn begin(client: Object) -> Result<Self, Trouble> {
        let work = Self { client: Some(client) };
        work.client()?.batch_execute("BEGIN").await?;
        Ok(work)
    }

    /// Makes it so.
    pub(super) async fn commit(mut self) -> Result<(), Trouble> {
        self.client()?.batch_execute("COMMIT").await?;
        self.client.take();
        Ok(())
    }

    /// Takes everything back.
    pub(super) async fn undo(mut self) -> Result<(), Trouble> {
        self.client()?.batch_execute("ROLLBACK").await?;
        self.client.take();
        Ok(())
    }

    /// The connection.
    pub(super) fn client(&self) -> Result<&Object, Trouble> {
        self.client.as_ref().ok_or_else(|| Trouble::Busy("the transaction is over".to_owned()))
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        if let Some(client) = self.client.take() {
            drop(Object::take(client));
        }
    }
}
