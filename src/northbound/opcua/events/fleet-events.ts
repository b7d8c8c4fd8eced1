import type { AddressSpace, UAEventType } from "node-opcua";
import type { FleetEvent } from "../../../domain/event.ts";
import type { VisibleStation } from "../../../domain/station-visits.ts";
import { eventJson } from "../../../models/event.ts";
import type { Clock } from "../../../platform/clock.ts";
import { FLEET_NAMESPACE_INDEX } from "../fleet-nodeset.ts";
import type { GatewayTags } from "../gateway-tags.ts";
import { commandEventType, eventTypes, missionEventType, stationVisitEventType } from "../model/events.ts";
import type { ObjectModel } from "../model/member.ts";
import { type EventFacts, isSubscribed, type Notifier, raiseEvent } from "../node-opcua/raise-event.ts";
import type { RobotsFolder } from "../robots-folder.ts";
import type { StationFolder } from "../station-folder.ts";
import { type EventJson, eventFields } from "./event-fields.ts";
import { commandText, missionText, severities } from "./event-texts.ts";
import { visitsBetween } from "./station-visit.ts";

/** The objects that events are of. */
interface EventSources {
  readonly robots: Pick<RobotsFolder, "notifier">;
  readonly stations: Pick<StationFolder, "notifier">;
  /** For what concerns no robot that has nodes. */
  readonly gateway: Pick<GatewayTags, "notifier">;
}

/** Raises what happened to the fleet as events of OPC UA, if anybody subscribes to them. */
export interface FleetEvents {
  raise(event: FleetEvent): void;
  /** Raises the visits that have begun or ended since the station was shown last. */
  showStation(station: string, shown: VisibleStation): void;
}

export function createFleetEvents(
  addressSpace: AddressSpace,
  { robots, stations: folder, gateway }: EventSources,
  sessionId: string,
  clock: Clock,
): FleetEvents {
  const nodes = new Map(eventTypes.map((type) => [type, nodeOf(addressSpace, type)]));
  const stations = new Map<string, VisibleStation>();
  let visitCount = 0;

  function raise(source: Notifier, type: ObjectModel, facts: EventFacts, json: EventJson): void {
    const node = nodes.get(type);
    if (node !== undefined) raiseEvent(source.node, node, facts, eventFields(type, json));
  }

  return {
    raise(event) {
      if (event.kind !== "mission" && event.kind !== "command") return;
      const { robotId, eventId: id, atMs } = event;
      const source = robots.notifier(robotId) ?? gateway.notifier;
      if (!isSubscribed(source)) return;
      const json: EventJson = JSON.parse(eventJson(event, sessionId));
      if (event.kind === "mission")
        raise(source, missionEventType, { id, atMs, ...missionText(event) }, json);
      else
        raise(
          source,
          commandEventType,
          { id, atMs, ...commandText(event) },
          { ...json, from: stageOf(event) },
        );
    },
    showStation(station, shown) {
      const before = stations.get(station) ?? null;
      stations.set(station, shown);
      const source = folder.notifier(station);
      if (source === undefined || !isSubscribed(source)) return;
      for (const { robotId, visit, ...seconds } of visitsBetween(before, shown)) {
        visitCount += 1;
        const facts = {
          id: `${sessionId}/visit/${visitCount}`,
          atMs: clock.nowMs(),
          message: `station ${station}: ${robotId} ${visit.toLowerCase()}`,
          severity: visit === "ABORTED" ? severities.warning : severities.information,
        };
        const json = { robot_id: robotId, session_id: sessionId, station, visit };
        raise(source, stationVisitEventType, facts, {
          ...json,
          waiting_seconds: seconds.waitingSeconds,
          cycle_seconds: seconds.cycleSeconds,
        });
      }
    },
  };
}

/**
 * The state before, by its name in the numbers of `Outcome`: nothing was recorded of a command only received.
 */
function stageOf({ from }: Extract<FleetEvent, { kind: "command" }>): string {
  return from === "received" ? "idle" : from;
}

function nodeOf(addressSpace: AddressSpace, { name }: ObjectModel): UAEventType {
  const node = addressSpace.findEventType(name, FLEET_NAMESPACE_INDEX);
  if (node === null) throw new Error(`the address space has no event type ${name}`);
  return node;
}
