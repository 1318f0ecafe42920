//! Numbers the steps, and puts what one request to the model gave into one of them.

use crate::domain::Call;
use crate::domain::Event;
use crate::domain::Sink;
use crate::domain::Speaker;
use crate::domain::Step;
use crate::domain::Timestamp;

/// What a step has of the line it is read from.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::ingest) struct Moment<'m> {
    pub(in crate::ingest) at: Option<Timestamp>,
    pub(in crate::ingest) copied: bool,
    pub(in crate::ingest) model: Option<&'m str>,
}

/// Steps told so far.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Steps {
    last: u32,
    /// The agent's step that may still grow.
    open: Option<u32>,
    /// The agent's last step, until somebody says what it cost.
    unpaid: Option<u32>,
    has_calls: bool,
}

impl Steps {
    /// The number of the last step.
    pub(in crate::ingest) fn last(&self) -> u32 {
        self.last
    }

    /// Whether the open step made calls.
    pub(in crate::ingest) fn has_calls(&self) -> bool {
        self.open.is_some() && self.has_calls
    }

    /// What the agent says from now on is another step.
    pub(in crate::ingest) fn close(&mut self) {
        self.open = None;
    }

    /// The agent's step whose cost is told next.
    pub(in crate::ingest) fn pay(&mut self) -> Option<u32> {
        self.unpaid.take()
    }

    /// Tells a step.
    pub(in crate::ingest) fn tell(&mut self, mut step: Step, sink: &mut dyn Sink) -> u32 {
        self.last = self.last.saturating_add(1);
        step.number = self.last;
        sink.hear(Event::Step(Box::new(step)));
        self.last
    }

    /// Tells what the agent says or thinks.
    pub(in crate::ingest) fn say(
        &mut self,
        text: String,
        reasoning: Option<String>,
        moment: Moment,
        sink: &mut dyn Sink,
    ) {
        match self.open {
            Some(step) => sink.hear(Event::More(step, text, reasoning)),
            None => {
                self.begin(text, reasoning, moment, sink);
            }
        }
    }

    /// Tells a call of the agent.
    pub(in crate::ingest) fn call(&mut self, mut call: Call, moment: Moment, sink: &mut dyn Sink) {
        let step = match self.open {
            Some(step) => step,
            None => self.begin(String::new(), None, moment, sink),
        };
        self.has_calls = true;
        call.output = None;
        sink.hear(Event::Call(step, call));
    }

    fn begin(&mut self, text: String, reasoning: Option<String>, moment: Moment, sink: &mut dyn Sink) -> u32 {
        let step = Step {
            speaker: Speaker::Agent,
            text,
            reasoning,
            model: moment.model.map(str::to_owned),
            at: moment.at,
            copied: moment.copied,
            ..Step::default()
        };
        let number = self.tell(step, sink);
        self.open = Some(number);
        self.unpaid = Some(number);
        self.has_calls = false;
        number
    }
}
