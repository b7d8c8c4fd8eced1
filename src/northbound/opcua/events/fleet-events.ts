import { type AddressSpace, DataType, type UAEventType, type UAObject, Variant } from "node-opcua";
import type { FleetEvent } from "../../../domain/event.ts";
import type { VisibleStation } from "../../../domain/station-visits.ts";
import { eventJson } from "../../../models/event.ts";
import type { Clock } from "../../../platform/clock.ts";
import { FLEET_NAMESPACE_INDEX } from "../fleet-nodeset.ts";
import type { GatewayTags } from "../gateway-tags.ts";
import {
  commandEventType,
  eventTypes,
  missionEventType,
  stationVisitEventType,
  type visitNames,
} from "../model/events.ts";
import { lineage, type ObjectModel, type TagModel } from "../model/member.ts";
import { variant } from "../node-opcua/computed-event.ts";
import { type EventFacts, type EventFields, isSubscribed, raiseEvent } from "../node-opcua/raise-event.ts";
import type { RobotsFolder } from "../robots-folder.ts";
import type { StationFolder } from "../station-folder.ts";
import { commandText, missionText, severities } from "./event-texts.ts";

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

  function raise(source: UAObject, type: ObjectModel, facts: EventFacts, json: EventJson): void {
    const node = nodes.get(type);
    if (node !== undefined) raiseEvent(source, node, facts, eventFields(type, json));
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

/** What a robot did at a station, between two states of the station. */
interface StationVisit {
  readonly robotId: string;
  readonly visit: Exclude<(typeof visitNames)[number], "NONE">;
  /** Null: the robot has not left, or its visit was not seen whole. */
  readonly waitingSeconds: number | null;
  readonly cycleSeconds: number | null;
}

/**
 * The visits that have begun or ended; the earlier first.
 *
 * @param before null: the station was not seen before
 */
function visitsBetween(before: VisibleStation | null, after: VisibleStation): readonly StationVisit[] {
  const [wasHere, isHere] = [before?.sight.here ?? null, after.sight.here];
  if (wasHere?.robotId === isHere?.robotId) return [];
  return [
    ...(before === null || wasHere === null ? [] : [ended(wasHere.robotId, before.counters, after.counters)]),
    ...(isHere === null ? [] : [{ robotId: isHere.robotId, visit: "ARRIVED", ...noTimes } as const]),
  ];
}

const noTimes = { waitingSeconds: null, cycleSeconds: null } as const;
type Counters = VisibleStation["counters"];

function ended(robotId: string, before: Counters, after: Counters): StationVisit {
  if (after.aborted > before.aborted) return { robotId, visit: "ABORTED", ...noTimes };
  const isCounted = after.cycles > before.cycles;
  const seconds = (ms: number) => (isCounted ? ms / 1_000 : null);
  const waitingSeconds = seconds(after.waitingLastMs);
  return { robotId, visit: "LEFT", waitingSeconds, cycleSeconds: seconds(after.cycleLastMs) };
}

/** An event as other protocols publish it. */
type EventJson = Readonly<Record<string, unknown>>;

const nothing = new Variant({});

/**
 * The fields of an event of this type, from the JSON of the event: `mission_id` is `MissionId`, and `user` in
 * `command` is `CommandUser`. What the JSON lacks is null.
 */
function eventFields(type: ObjectModel, json: EventJson): EventFields {
  const values = new Map(namedValues("", json));
  const models = lineage(type).flatMap(({ tags }) => Object.entries(tags));
  return Object.fromEntries(
    models.map(([name, model]) => [`${FLEET_NAMESPACE_INDEX}:${name}`, variantOf(model, values.get(name))]),
  );
}

/** The values of an event's JSON with the names of fields. */
export function namedValues(prefix: string, json: EventJson): ReadonlyArray<readonly [string, unknown]> {
  return Object.entries(json).flatMap(([key, value]) => {
    const name = prefix + fieldName(key);
    return typeof value === "object" && value !== null
      ? namedValues(name, value as EventJson)
      : [[name, value] as const];
  });
}

function fieldName(key: string): string {
  return key.replace(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

function variantOf({ type, numbers }: TagModel, value: unknown): Variant {
  if (type === "Boolean") return variant(DataType.Boolean, value === true);
  if (value === undefined || value === null) return nothing;
  if (numbers === undefined || typeof value === "number") return variant(DataType[type], value);
  const named = numbers.values.find(({ name }) => name === String(value).toUpperCase());
  return named === undefined ? nothing : variant(DataType[type], named.value);
}
