import { DataType, type StatusCode, StatusCodes, VariantArrayType } from "node-opcua";
import type { CommandRights } from "../../contracts/command-rights.ts";
import type { RobotId } from "../../domain/robot.ts";
import { isValidSight, type StationConveyor, type StationSight } from "../../domain/station-sight.ts";
import type { StationCounters, StationShown } from "../../domain/station-visits.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";
import type { Tag, TagList, TagScalar, TagTimes } from "./node-opcua/tag.ts";
import type { AddWritableTag } from "./node-opcua/write-requests.ts";
import { isShown, statusOfQuality } from "./status.ts";

export interface StationTagParts {
  readonly rights: Pick<CommandRights, "refusedStation">;
  /** Sets the station's counters to 0. */
  readonly resetCounters: (station: string) => void;
  readonly addWritable: AddWritableTag;
  /** How PLCs name a robot. */
  readonly nameOf: (robotId: RobotId) => { readonly name: string; readonly number: number };
  readonly clock: Clock;
}

/** The tags that show what a station sees of robots, and what it has counted. */
export interface StationTags {
  show(shown: StationShown): void;
}

/** Elements of `Loaded` and `Rolling`: conveyors with a higher index are not shown. */
const CONVEYORS_SHOWN = 8;

export function addStationTags(
  builder: NodeBuilder,
  folder: Folder,
  station: string,
  parts: StationTagParts,
): StationTags {
  const valid = builder.tag(folder, "Valid", "Boolean");
  const showHere = addHereTags(builder, folder, parts);
  const showConveyors = addConveyorArrays(builder, folder);
  const showNext = addNextTags(builder, folder, parts);
  const showCounters = addCounterTags(builder, folder, station, parts);
  return {
    show({ sight, counters }) {
      const now = new Date(parts.clock.nowMs());
      const times = { source: now, server: now };
      valid.set(isValidSight(sight), StatusCodes.Good, times);
      showHere(sight, times);
      showConveyors(sight, times);
      showNext(sight, times);
      showCounters(counters, times);
    },
  };
}

type ShowSight = (sight: StationSight, times: TagTimes) => void;

function addHereTags(builder: NodeBuilder, folder: Folder, { nameOf }: StationTagParts): ShowSight {
  const robotHere = builder.tag(folder, "RobotHere", "Boolean");
  const number = builder.tag(folder, "RobotHereNo", "Int32");
  const name = builder.tag(folder, "RobotHereName", "String");
  const count = builder.tag(folder, "RobotsHere", "Int32");
  const arrived = builder.tag(folder, "Arrived", "Boolean");
  return ({ here, quality, count: robots }, times) => {
    const show = shower(quality, times);
    const named = here === null ? null : nameOf(here.robotId);
    show(robotHere, here !== null);
    show(number, named?.number ?? 0);
    show(name, named?.name ?? "");
    show(count, robots);
    show(arrived, here?.hasArrived ?? false);
  };
}

function addNextTags(builder: NodeBuilder, folder: Folder, { nameOf }: StationTagParts): ShowSight {
  const nextRobot = builder.tag(folder, "NextRobot", "Boolean");
  const number = builder.tag(folder, "NextRobotNo", "Int32");
  const name = builder.tag(folder, "NextRobotName", "String");
  const goalsBefore = builder.tag(folder, "NextRobotGoalsBefore", "Int32");
  return ({ next, nextQuality }, times) => {
    const show = shower(nextQuality, times);
    const named = next === null ? null : nameOf(next.robotId);
    show(nextRobot, next !== null);
    show(number, named?.number ?? 0);
    show(name, named?.name ?? "");
    show(goalsBefore, next?.goalsBefore ?? 0);
  };
}

/** The element `n` is of the conveyor with the index `n`. */
function addConveyorArrays(builder: NodeBuilder, folder: Folder): ShowSight {
  const loaded = builder.list(folder, "Loaded", "Boolean", CONVEYORS_SHOWN);
  const rolling = builder.list(folder, "Rolling", "Boolean", CONVEYORS_SHOWN);
  return ({ conveyors, conveyorQuality }, times) => {
    const byIndex = (is: (conveyor: StationConveyor) => boolean) =>
      Array.from({ length: CONVEYORS_SHOWN }, (_, index) =>
        conveyors.some((each) => each.index === index && is(each)),
      );
    const show = shower(conveyorQuality, times);
    show(
      loaded,
      byIndex(({ isLoaded }) => isLoaded),
    );
    show(
      rolling,
      byIndex(({ isRolling }) => isRolling),
    );
  };
}

/** Shows values of one quality. */
function shower(quality: StationSight["quality"], times: TagTimes) {
  const status: StatusCode = statusOfQuality[quality];
  return (tag: Tag, value: Exclude<TagScalar, object> | TagList): void => {
    if (!isShown(quality)) tag.fail(status, times);
    else if (typeof value === "object") tag.setList(value, status, times);
    else tag.set(value, status, times);
  };
}

function addCounterTags(
  builder: NodeBuilder,
  station: Folder,
  stationName: string,
  { rights, resetCounters, addWritable, clock }: StationTagParts,
): (counters: StationCounters, times: TagTimes) => void {
  const folder = builder.folder(station, "Counters");
  const cycles = builder.tag(folder, "Cycles", "Int32");
  const aborted = builder.tag(folder, "Aborted", "Int32");
  const seconds = [
    [builder.tag(folder, "WaitingLast", "Double"), "waitingLastMs"],
    [builder.tag(folder, "WaitingTotal", "Double"), "waitingTotalMs"],
    [builder.tag(folder, "CycleLast", "Double"), "cycleLastMs"],
    [builder.tag(folder, "CycleTotal", "Double"), "cycleTotalMs"],
  ] as const;
  const since = builder.tag(folder, "Since", "String");
  const reset = builder.parameter(folder, "Reset", "Boolean");
  const good = StatusCodes.Good;
  let isReset = false;

  function showReset(value: boolean): void {
    isReset = value;
    const now = new Date(clock.nowMs());
    reset.set(value, good, { source: now, server: now });
  }

  addWritable(`${folder.path}.Reset`, (variant, range, account) => {
    const isBoolean = variant.dataType === DataType.Boolean && variant.arrayType === VariantArrayType.Scalar;
    if (!isBoolean || range !== null) return StatusCodes.BadTypeMismatch;
    const source = { protocol: "opcua", name: account.name } as const;
    if (rights.refusedStation(source, stationName) !== null) return StatusCodes.BadUserAccessDenied;
    // A program that writes TRUE in every cycle resets once.
    if (variant.value && !isReset) resetCounters(stationName);
    showReset(variant.value);
    return good;
  });
  showReset(false);

  return (counters, times) => {
    cycles.set(counters.cycles, good, times);
    aborted.set(counters.aborted, good, times);
    for (const [tag, name] of seconds) tag.set(counters[name] / 1_000, good, times);
    since.set(new Date(counters.sinceMs).toISOString(), good, times);
  };
}
