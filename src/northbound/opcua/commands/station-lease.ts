import { StatusCodes } from "node-opcua";
import type { Stations } from "../../../contracts/stations.ts";
import { ending, type Outcome } from "../../../domain/outcome.ts";
import type { RobotId } from "../../../domain/robot.ts";
import { leaseTags } from "../model/slot.ts";
import type { Folder, NodeBuilder } from "../node-builder.ts";
import { timesAt } from "../node-opcua/tag.ts";
import type { Account } from "../security.ts";
import { roleRefusal } from "./role-refusal.ts";
import { sourceOf } from "./source-of.ts";
import { type NamedRobot, stationOperations } from "./station-order.ts";

/** The texts of the operations on a lease, as `AcceptedText` shows them. */
export const leaseTexts: ReadonlyMap<number, string> = new Map([
  [stationOperations.ask, "take the lease"],
  [stationOperations.release, "release the lease"],
  [stationOperations.override, "end another's lease"],
]);

/** The leases of one station, and the tags about the lease of the robot that its slot names. */
export interface StationLease {
  /** Performs one of the operations on a lease. */
  change(operation: number, account: Account, robotId: RobotId): Promise<Outcome>;
  show(robot: NamedRobot): void;
}

export function addStationLease(
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
