import { type StatusCode, StatusCodes } from "node-opcua";
import type { Acts } from "../../../contracts/acts.ts";
import type { Stations } from "../../../contracts/stations.ts";
import type { ActName } from "../../../domain/acts.ts";
import { type Outcome, refusal, unknownRobot } from "../../../domain/outcome.ts";
import type { Live } from "../../../platform/live.ts";
import { leaseTags } from "../model/slot.ts";
import type { Folder, NodeBuilder } from "../node-builder.ts";
import type { StationNode } from "../options.ts";
import { sourceOf, type Writer } from "../security.ts";
import { loadRequest, missionRequest } from "./mission-request.ts";
import { addParameter, type Parameter, type ParameterPlace } from "./parameter.ts";
import { numberKind } from "./parameter-kind.ts";
import type { Slot, SlotKindParts } from "./slot.ts";
import type { SlotCommand } from "./slot-command.ts";
import type { MissionRobot } from "./slot-operation.ts";
import { addSlotTags } from "./slot-tags.ts";
import {
  addStationParameters,
  type FindRobot,
  type NamedRobot,
  orderOfFields,
  orderOfNumbers,
  type StationOrder,
  stationOperations,
} from "./station-order.ts";

/** The operations on a lease: each as an act, and as `AcceptedText` shows it. */
const leaseActs: ReadonlyMap<number, readonly [act: ActName, text: string]> = new Map([
  [stationOperations.ask, ["LeaseRobot", "take the lease"]],
  [stationOperations.release, ["ReleaseRobot", "release the lease"]],
  [stationOperations.override, ["OverrideLease", "end another's lease"]],
]);

const anyNumber = numberKind(() => true);

/** The further dependencies of a station's slot. */
export interface StationParts {
  readonly stations: Stations;
  readonly acts: Pick<Acts, "run">;
  readonly findRobot: FindRobot;
  readonly slots: SlotKindParts;
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
  stationName: string,
  load: Live<StationNode["load"]>,
  { stations, acts, findRobot, slots: { runSlot, rights, destinations, userOf } }: StationParts,
): StationSlot {
  const folder = builder.folder(parent, "Slot");
  const place = { builder, folder };
  const parameters = addStationParameters(place, findRobot);
  const heartbeat = addHeartbeat(place, stationName, acts);
  const tags = addSlotTags(builder, folder, userOf);
  const showLeaseOf = addLeaseTags(builder, folder, stationName, stations);

  /** The robot of the last ticket: a client that writes whole commands leaves `Robot` empty. */
  let lastOrdered: MissionRobot | undefined;
  const showLease = () => {
    const robot = parameters.shownRobot();
    showLeaseOf(robot === null ? lastOrdered : robot);
  };

  function commandOf(order: StationOrder | { readonly problem: string }): SlotCommand {
    if ("problem" in order) return order;
    const { robot } = order;
    if (robot === "two") return { problem: "Robot and RobotNo do not name the same robot: which is meant?" };
    if (robot === undefined) return { text: "no robot", refused: noRobot(order.robotName) };
    lastOrdered = robot;
    return leaseCommand(order, robot) ?? robotCommand(order, robot, destinations.now(), load.now());
  }

  /** An operation on the robot's lease; null for other operations. */
  function leaseCommand(
    { mission: { operation } }: StationOrder,
    { robotId }: MissionRobot,
  ): SlotCommand | null {
    const [act, text] = leaseActs.get(operation) ?? [];
    if (act === undefined) return null;
    const robot = { robot_id: robotId };
    const fields = act === "OverrideLease" ? robot : { station: stationName, ...robot };
    return {
      text: `${robotId}: ${text}`,
      async perform(account, requestId) {
        const { origin } = account;
        const outcome = await acts.run(act, { source: sourceOf(account), requestId, origin, fields });
        showLease();
        // A slot has no place for the response.
        return { ...outcome, responseJson: null };
      },
    };
  }

  const slot = runSlot({
    path: folder.path,
    station: stationName,
    parameters: [...parameters.all, heartbeat],
    tags,
    refusedWriter: (account) => rights.refusedStation(sourceOf(account), stationName),
    command: (sessionId) => commandOf(parameters.order(sessionId)),
    reads: parameters.inUse,
    commandOfNumbers: (numbers) => commandOf(orderOfNumbers(findRobot, numbers)),
    commandOfFields: (fields) => commandOf(orderOfFields(findRobot, fields)),
    served: parameters.served,
    begun() {},
    ended() {},
  });
  showLease();
  return { ...slot, showLease };
}

/** A mission or a conveyor command. */
function robotCommand(
  { conveyorIndex, motorCommand, mission }: StationOrder,
  robot: MissionRobot,
  destinations: ReadonlyMap<number, string>,
  load: StationNode["load"],
): SlotCommand {
  const command =
    mission.operation === stationOperations.conveyor
      ? loadRequest(robot.robotId, conveyorIndex, motorCommand, load)
      : missionRequest(mission, robot, destinations);
  return "text" in command ? { ...command, text: `${robot.robotId}: ${command.text}` } : command;
}

/** An unknown name has the text of every protocol. A number, or an empty name, is possible only here. */
function noRobot(name: string): Outcome {
  if (name !== "") return unknownRobot(name);
  return refusal("UNKNOWN_ROBOT", "Robot is missing, and RobotNo is the number of no robot that has nodes");
}

/**
 * A number that the PLC changes as long as its program runs. A driver may repeat the same number for ever.
 */
function addHeartbeat(place: ParameterPlace, station: string, acts: Pick<Acts, "run">): Parameter {
  const number = addParameter(place, "Heartbeat", anyNumber);
  return {
    path: number.path,
    forget: (sessionId) => number.forget(sessionId),
    isFree: true,
    write(variant, range, writer: Writer): StatusCode {
      const { account, sessionId } = writer;
      const status = number.write(variant, range, writer);
      const counter = number.value(sessionId);
      if (status !== StatusCodes.Good || counter === undefined) return status;
      const fields = { station, counter };
      const { origin } = account;
      // Each session counts for itself: one that connects again may write the last number of a stopped
      // program.
      acts.run("Heartbeat", { source: sourceOf(account), origin, session: sessionId, fields, isTag: true });
      return status;
    },
  };
}

/** The tags about the lease of the robot that the slot names. */
function addLeaseTags(
  builder: NodeBuilder,
  folder: Folder,
  station: string,
  stations: Stations,
): (robot: NamedRobot) => void {
  const tags = builder.tags(folder, leaseTags);
  return (robot) => {
    const lease = robot === undefined || robot === "two" ? null : stations.leaseOf(robot.robotId);
    const times = builder.timesNow();
    tags.Leased.set(lease?.station === station, StatusCodes.Good, times);
    tags.LeaseStation.set(lease?.station ?? "", StatusCodes.Good, times);
    tags.LeaseUser.set(lease?.owner.name ?? "", StatusCodes.Good, times);
  };
}
