import {
  type Attribution,
  createAttribution,
  createForeignWatch,
  type ForeignWatch,
} from "../attribution/attribution.ts";
import type { Shared } from "../parts.ts";
import { createEvidenceSearch, type EvidenceSearch } from "./evidence-search.ts";
import { createObservations, type Observations } from "./observations.ts";

/** Evidence and attribution: compares the messages of robots with commands. */
export interface Evidence {
  readonly foreign: ForeignWatch;
  readonly attribution: Attribution;
  readonly search: EvidenceSearch;
  readonly observations: Observations;
}

interface EvidenceParts
  extends Pick<Shared, "options" | "port" | "shared" | "alarmRegistry" | "clock" | "log"> {
  /** Called for a finding about a command whose outcome was already final. */
  readonly onLate: (commandId: string, text: string) => void;
}

export function createEvidence({
  options,
  port,
  shared,
  alarmRegistry,
  clock,
  log,
  onLate,
}: EvidenceParts): Evidence {
  const foreign = createForeignWatch({ clock, log, alarmRegistry });
  const attribution = createAttribution({ clock, onForeign: foreign.seen });
  const search = createEvidenceSearch({ options, clock, port, log, attribution, onLate });
  const observations = createObservations({
    missions: search.missions,
    conveyor: search.conveyor,
    newMission(robotId, mission) {
      // The leader makes missions, and knows which are its own.
      if (shared?.isLeading() !== false) attribution.seen(robotId, mission);
    },
  });
  return { foreign, attribution, search, observations };
}
