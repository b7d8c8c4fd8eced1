import type { AddressSpace, OPCUAServer } from "node-opcua";
import type { AlarmFacts } from "../../../contracts/alarms.ts";
import { type AlarmSource, ofGateway } from "../../../domain/alarm.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/log.ts";
import type { AnswerCall } from "../node-opcua/method-access.ts";
import type { TimeSlices } from "../node-opcua/time-slices.ts";
import type { AcknowledgedAlarms } from "./acknowledged-alarms.ts";
import { answerConditionCalls, type ConditionCallParts } from "./condition-calls.ts";
import { type ConditionEvents, createConditionEvents } from "./condition-events.ts";
import { createConditionPlaces, type RobotNodes } from "./condition-places.ts";
import { createConditionRegistry } from "./condition-registry.ts";
import { answerRefresh } from "./refresh.ts";

/** The dependencies of conditions. */
export interface ConditionParts extends Pick<ConditionCallParts, "alarms" | "acts" | "accountOf"> {
  readonly robots: RobotNodes;
  readonly acknowledged: AcknowledgedAlarms;
  readonly slices: Pick<TimeSlices, "begin">;
  readonly clock: Clock;
  readonly log: Log;
}

/** The alarms of the gateway as conditions (OPC UA part 9). None has a node. */
export interface Conditions extends Pick<ConditionEvents, "note" | "follow"> {
  /** Answers the methods of conditions. */
  readonly answerCall: AnswerCall;
}

/** For an initialised server that does not listen yet. */
export function openConditions(
  server: OPCUAServer,
  addressSpace: AddressSpace,
  facts: AlarmFacts,
  { alarms, acts, accountOf, robots, acknowledged, slices, clock, log }: ConditionParts,
): Conditions {
  const isOutOfService = (source: AlarmSource) =>
    source.kind === "robot" && alarms.shown(source).isOutOfService;
  const registry = createConditionRegistry(alarms.shown(ofGateway).alarms, acknowledged, isOutOfService);
  const places = createConditionPlaces(addressSpace, robots, alarms);
  const isOpen = () => server.engine.addressSpace !== null;
  const events = createConditionEvents(addressSpace, registry, places, facts, isOpen);
  answerRefresh(server, events, slices, clock, log);
  return {
    note: events.note,
    follow: events.follow,
    answerCall: answerConditionCalls({ registry, places, alarms, acts, accountOf }),
  };
}
