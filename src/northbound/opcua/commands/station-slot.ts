import { type StatusCode, StatusCodes } from "node-opcua";
import type { Permits } from "../../../contracts/permits.ts";
import type { Stations } from "../../../contracts/stations.ts";
import { ending, type Outcome, refusal } from "../../../domain/outcome.ts";
import { unknownRobot } from "../../../domain/refusals.ts";
import type { RobotId } from "../../../domain/robot.ts";
import type { Live } from "../../../platform/live.ts";
import { leaseTags } from "../model/slot.ts";
import type { Folder, NodeBuilder } from "../node-builder.ts";
import { timesAt } from "../node-opcua/tag.ts";
import type { StationNode } from "../options.ts";
import type { Account } from "../security.ts";
import type { Draft } from "./draft.ts";
import { loadRequest } from "./load-request.ts";
import { missionRequest } from "./mission-request.ts";
import { addParameter, type Parameter, type ParameterPlace } from "./parameter.ts";
import { numberKind } from "./parameter-kind.ts";
import { roleRefusal } from "./role-refusal.ts";
import { createSlot, type Slot } from "./slot.ts";
import type { MissionRobot } from "./slot-operation.ts";
import type { SlotParts } from "./slot-parts.ts";
import { addSlotTags } from "./slot-tags.ts";
import { sourceOf } from "./source-of.ts";
import {
  type FindRobot,
  type NamedRobot,
  orderOfFields,
  orderOfNumbers,
  type StationOrder,
  stationOperations,
} from "./station-order.ts";
import { addStationParameters } from "./station-parameters.ts";
import type { Writer } from "./writer.ts";

/** The texts of the operations on a lease, as `AcceptedText` shows them. */
const leaseTexts: ReadonlyMap<number, string> = new Map([
  [stationOperations.ask, "take the lease"],
  [stationOperations.release, "release the lease"],
  [stationOperations.override, "end another's lease"],
]);

const anyNumber = numberKind(() => true);

/** The further dependencies of a station's slot. */
export interface StationParts {
  readonly stations: Stations;
  readonly permits: Pick<Permits, "heartbeat">;
  /** The station. */
  readonly name: string;
  readonly load: Live<StationNode["load"]>;
  readonly findRobot: FindRobot;
  readonly slots: SlotParts;
}

/** The slot of a station: one for all robots; each command names its robot. */
export interface StationSlot extends Slot {
  /** Shows the lease of the robot that is named now. */
  showLease(): void;
}

/** Adds `Slot` under the station's folder. */
export function addStationSlot(
  builder: NodeBuilder,
  parent: Folder,
  { stations, permits, name: stationName, load, findRobot, slots: parts }: StationParts,
): StationSlot {
  const folder = builder.folder(parent, "Slot");
  const place = { builder, folder, clock: parts.clock };
  const parameters = addStationParameters(place, findRobot);
  const heartbeat = addHeartbeat(place, (account) => {
    stations.heartbeat(stationName, sourceOf(account));
    permits.heartbeat(stationName, sourceOf(account));
  });
  const tags = addSlotTags(builder, folder, parts);
  const lease = addStationLease(builder, folder, stationName, stations, () => parts.clock.nowMs());

  /** The robot of the last ticket: a client that writes whole commands leaves `Robot` empty. */
  let lastOrdered: MissionRobot | undefined;
  const showLease = () => {
    const robot = parameters.shownRobot();
    lease.show(robot === null ? lastOrdered : robot);
  };

  function draftOf(order: StationOrder | { readonly problem: string }): Draft {
    if ("problem" in order) return order;
    const { robot } = order;
    if (robot === "two") return { problem: "Robot and RobotNo do not name the same robot: which is meant?" };
    if (robot === undefined) return { text: "no robot", perform: () => noRobot(order.robotName) };
    lastOrdered = robot;
    return (
      leaseDraft(order, robot, lease, showLease) ??
      robotDraft(order, robot, parts.destinations.now(), load.now())
    );
  }

  const slot = createSlot(
    {
      path: folder.path,
      station: stationName,
      parameters: [...parameters.all, heartbeat],
      tags,
      refusedWriter: (account) => parts.rights.refusedStation(sourceOf(account), stationName),
      draft: (sessionId) => draftOf(parameters.order(sessionId)),
      reads: parameters.inUse,
      draftOfNumbers: (numbers) => draftOf(orderOfNumbers(findRobot, numbers)),
      draftOfFields: (fields) => draftOf(orderOfFields(findRobot, fields)),
      served: parameters.served,
      follow() {},
    },
    parts,
  );
  showLease();
  return { ...slot, showLease };
}

/** An operation on the robot's lease; null for other operations. */
function leaseDraft(
  { mission: { operation } }: StationOrder,
  { robotId }: MissionRobot,
  lease: StationLease,
  showLease: () => void,
): Draft | null {
  const text = leaseTexts.get(operation);
  if (text === undefined) return null;
  return {
    text: `${robotId}: ${text}`,
    async perform(account) {
      const outcome = await lease.change(operation, account, robotId);
      showLease();
      return outcome;
    },
  };
}

/** A mission or a conveyor command. */
function robotDraft(
  { conveyorIndex, motorCommand, mission }: StationOrder,
  robot: MissionRobot,
  destinations: ReadonlyMap<number, string>,
  load: StationNode["load"],
): Draft {
  const draft =
    mission.operation === stationOperations.conveyor
      ? loadRequest(robot.robotId, conveyorIndex, motorCommand, load)
      : missionRequest(mission, robot, destinations);
  return "text" in draft ? { ...draft, text: `${robot.robotId}: ${draft.text}` } : draft;
}

/** An unknown name has the text of every protocol. A number, or an empty name, is possible only here. */
function noRobot(name: string): Outcome {
  if (name !== "") return unknownRobot(name);
  return refusal("UNKNOWN_ROBOT", "Robot is missing, and RobotNo is the number of no robot that has nodes");
}

/**
 * A number that the PLC changes as long as its program runs. Only a change is a sign of life, because a
 * driver repeats the same number for ever. The first number of a session does not count: a driver that
 * connects again writes the last number of a program that may have stopped.
 *
 * @param onChange called when a session has changed its number
 */
function addHeartbeat(place: ParameterPlace, onChange: (account: Account) => void): Parameter {
  const number = addParameter(place, "Heartbeat", anyNumber);
  return {
    path: number.path,
    forget: (sessionId) => number.forget(sessionId),
    isFree: true,
    write(variant, range, writer: Writer): StatusCode {
      const before = number.value(writer.sessionId);
      const status = number.write(variant, range, writer);
      const isChange = before !== undefined && number.value(writer.sessionId) !== before;
      if (status === StatusCodes.Good && isChange) onChange(writer.account);
      return status;
    },
  };
}

/** The leases of one station, and the tags about the lease of the robot that its slot names. */
interface StationLease {
  /** Performs one of the operations on a lease. */
  change(operation: number, account: Account, robotId: RobotId): Promise<Outcome>;
  show(robot: NamedRobot): void;
}

function addStationLease(
  builder: NodeBuilder,
  folder: Folder,
  station: string,
  stations: Stations,
  nowMs: () => number,
): StationLease {
  const tags = builder.tags(folder, leaseTags);

  async function refusedChange(
    operation: number,
    account: Account,
    robotId: RobotId,
  ): Promise<Outcome | null> {
    const source = sourceOf(account);
    if (operation === stationOperations.ask) return stations.ask(station, source, robotId);
    if (operation === stationOperations.release) return stations.release(station, source, robotId);
    if (account.role === "engineer") return stations.override(source, robotId);
    return roleRefusal(account, "an override", "engineer");
  }

  return {
    change: async (operation, account, robotId) =>
      (await refusedChange(operation, account, robotId)) ?? ending("succeeded", "OK", "", true),
    show(robot) {
      const lease = robot === undefined || robot === "two" ? null : stations.leaseOf(robot.robotId);
      const times = timesAt(nowMs());
      tags.Leased.set(lease?.station === station, StatusCodes.Good, times);
      tags.LeaseStation.set(lease?.station ?? "", StatusCodes.Good, times);
      tags.LeaseUser.set(lease?.owner.name ?? "", StatusCodes.Good, times);
    },
  };
}
