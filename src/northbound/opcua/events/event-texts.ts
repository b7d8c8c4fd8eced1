import type { FleetEvent } from "../../../domain/event.ts";
import type { Outcome } from "../../../domain/outcome.ts";
import type { EventFacts } from "../node-opcua/raise-event.ts";

/** An event's message and severity. */
type Text = Pick<EventFacts, "message" | "severity">;

/** The severities of events (docs/opcua-scada.md, Events). Alarms have their own. */
export const severities = { information: 100, warning: 400, failure: 600 } as const;

type MissionEvent = Extract<FleetEvent, { kind: "mission" }>;
type CommandEvent = Extract<FleetEvent, { kind: "command" }>;

export function missionText({ missionId, to }: MissionEvent): Text {
  const state = typeof to === "string" ? to : `state ${to.raw}`;
  const severity =
    to === "STATE_FAILED"
      ? severities.failure
      : to === "STATE_CANCELED"
        ? severities.warning
        : severities.information;
  return { message: `mission ${missionId}: ${state}`, severity };
}

const ofOutcomes: Readonly<Record<Outcome["outcome"], number>> = {
  succeeded: severities.information,
  probably_succeeded: severities.information,
  refused: severities.warning,
  expired: severities.warning,
  unknown: severities.failure,
  checked: severities.information,
};

export function commandText({ operation, outcome, foundLater }: CommandEvent): Text {
  const reason = foundLater ?? outcome.message;
  const message = `${operation}: ${outcome.outcome}${reason === "" ? "" : `: ${reason}`}`;
  return { message, severity: ofOutcomes[outcome.outcome] };
}
