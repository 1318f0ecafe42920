//! Numbers the steps, and joins the parts of one model response into one step.

use crate::domain::EventSink;
use crate::domain::Speaker;
use crate::domain::Step;
use crate::domain::Timestamp;
use crate::domain::ToolCall;
use crate::domain::TrajectoryEvent;

/// The properties that a step takes from its line.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::ingest) struct CodexLineContext<'m> {
    pub(in crate::ingest) at: Option<Timestamp>,
    pub(in crate::ingest) copied: bool,
    pub(in crate::ingest) model: Option<&'m str>,
}

/// Emits the steps and calls of a Codex session.
#[derive(Debug, Default)]
pub(in crate::ingest) struct CodexStepEmitter {
    last: u32,
    /// The agent's step that may still grow.
    open: Option<u32>,
    /// The agent's last step, until its cost is reported.
    unpaid: Option<u32>,
    has_calls: bool,
}

impl CodexStepEmitter {
    /// Returns the number of the last step.
    pub(in crate::ingest) fn last_step(&self) -> u32 {
        self.last
    }

    /// Returns true if the open step made calls.
    pub(in crate::ingest) fn has_calls(&self) -> bool {
        self.open.is_some() && self.has_calls
    }

    /// Closes the open step, so that the agent's next text begins another one.
    pub(in crate::ingest) fn close_step(&mut self) {
        self.open = None;
    }

    /// Takes the agent's step whose cost is reported next.
    pub(in crate::ingest) fn take_unpaid_step(&mut self) -> Option<u32> {
        self.unpaid.take()
    }

    /// Emits a step with the next number.
    pub(in crate::ingest) fn emit_step(&mut self, mut step: Step, sink: &mut dyn EventSink) -> u32 {
        self.last = self.last.saturating_add(1);
        step.number = self.last;
        sink.receive_event(TrajectoryEvent::Step(Box::new(step)));
        self.last
    }

    /// Emits a text or reasoning of the agent.
    pub(in crate::ingest) fn emit_agent_text(
        &mut self,
        text: String,
        reasoning: Option<String>,
        moment: CodexLineContext,
        sink: &mut dyn EventSink,
    ) {
        match self.open {
            Some(step) => sink.receive_event(TrajectoryEvent::More(step, text, reasoning)),
            None => {
                self.begin_agent_step(text, reasoning, moment, sink);
            }
        }
    }

    /// Emits a call of the agent.
    pub(in crate::ingest) fn emit_call(
        &mut self,
        mut call: ToolCall,
        moment: CodexLineContext,
        sink: &mut dyn EventSink,
    ) {
        let step = match self.open {
            Some(step) => step,
            None => self.begin_agent_step(String::new(), None, moment, sink),
        };
        self.has_calls = true;
        call.output = None;
        sink.receive_event(TrajectoryEvent::Call(step, call));
    }

    fn begin_agent_step(
        &mut self,
        text: String,
        reasoning: Option<String>,
        moment: CodexLineContext,
        sink: &mut dyn EventSink,
    ) -> u32 {
        let step = Step {
            speaker: Speaker::Agent,
            text,
            reasoning,
            model: moment.model.map(str::to_owned),
            at: moment.at,
            copied: moment.copied,
            ..Step::default()
        };
        let number = self.emit_step(step, sink);
        self.open = Some(number);
        self.unpaid = Some(number);
        self.has_calls = false;
        number
    }
}
