import { DataType, type StatusCode, StatusCodes } from "node-opcua";
import type { Acts } from "../../contracts/acts.ts";
import type { CommandRights } from "../../contracts/commander.ts";
import type { Permits, VisibleStations } from "../../contracts/stations.ts";
import type { RobotId } from "../../domain/robot.ts";
import { isValidSight, type StationConveyor, type StationSight } from "../../domain/station-sight.ts";
import type { StationCounters, VisibleStation } from "../../domain/station-visits.ts";
import {
  CONVEYORS_SHOWN,
  conveyorArrays,
  counterTags,
  hereTags,
  nextTags,
  permitTags,
  validTags,
} from "./model/station.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";
import { fittingText, type Tag, type TagList, type TagScalar, type TagTimes } from "./node-opcua/tag.ts";
import type { AddWritableTag } from "./node-opcua/write-requests.ts";
import { sourceOf } from "./security.ts";
import { isShown, statusOfQuality } from "./status.ts";
import { isWholeValue, writeAct } from "./write-act.ts";

export interface StationTagParts extends VisibleStations {
  readonly acts: Pick<Acts, "run">;
  readonly rights: Pick<CommandRights, "refusedStation">;
  readonly addWritable: AddWritableTag;
  readonly nameOf: NameOfRobot;
}

/** The names of a robot for PLCs. */
export type NameOfRobot = (robotId: RobotId) => { readonly name: string; readonly number: number };

/** The tags of a station about its robots, and its counters. */
export interface StationTags {
  show(shown: VisibleStation): void;
}

export function addStationTags(
  builder: NodeBuilder,
  folder: Folder,
  station: string,
  parts: StationTagParts,
): StationTags {
  const { Valid: valid } = builder.tags(folder, validTags);
  const showHere = addHereTags(builder, folder, parts);
  const showConveyors = addConveyorArrays(builder, folder);
  const showNext = addNextTags(builder, folder, parts);
  const showCounters = addCounterTags(builder, folder, station, parts);

  function show({ sight, counters }: VisibleStation): void {
    const times = builder.timesNow();
    valid.set(isValidSight(sight), StatusCodes.Good, times);
    showHere(sight, times);
    showConveyors(sight, times);
    showNext(sight, times);
    showCounters(counters, times);
  }

  const shownNow = parts.shown(station);
  if (shownNow !== null) show(shownNow);
  return { show };
}

type ShowSight = (sight: StationSight, times: TagTimes) => void;

function addHereTags(builder: NodeBuilder, folder: Folder, { nameOf }: StationTagParts): ShowSight {
  const tags = builder.tags(folder, hereTags);
  return ({ here, quality, count: robots }, times) => {
    const show = shower(quality, times);
    const named = here === null ? null : nameOf(here.robotId);
    show(tags.RobotHere, here !== null);
    show(tags.RobotHereNo, named?.number ?? 0);
    show(tags.RobotHereName, named?.name ?? "");
    show(tags.RobotsHere, robots);
    show(tags.Arrived, here?.hasArrived ?? false);
  };
}

function addNextTags(builder: NodeBuilder, folder: Folder, { nameOf }: StationTagParts): ShowSight {
  const tags = builder.tags(folder, nextTags);
  return ({ next, nextQuality }, times) => {
    const show = shower(nextQuality, times);
    const named = next === null ? null : nameOf(next.robotId);
    show(tags.NextRobot, next !== null);
    show(tags.NextRobotNo, named?.number ?? 0);
    show(tags.NextRobotName, named?.name ?? "");
    show(tags.NextRobotGoalsBefore, next?.goalsBefore ?? 0);
  };
}

/** Element `n` belongs to the conveyor with the index `n`. */
function addConveyorArrays(builder: NodeBuilder, folder: Folder): ShowSight {
  const { Loaded: loaded, Rolling: rolling } = builder.tags(folder, conveyorArrays);
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
  { acts, rights, addWritable }: StationTagParts,
): (counters: StationCounters, times: TagTimes) => void {
  const folder = builder.folder(station, "Counters");
  const tags = builder.tags(folder, counterTags);
  const seconds = [
    [tags.WaitingLast, "waitingLastMs"],
    [tags.WaitingTotal, "waitingTotalMs"],
    [tags.CycleLast, "cycleLastMs"],
    [tags.CycleTotal, "cycleTotalMs"],
  ] as const;
  const good = StatusCodes.Good;
  let isReset = false;

  function showReset(value: boolean): void {
    isReset = value;
    tags.Reset.set(value, good, builder.timesNow());
  }

  addWritable(`${folder.path}.Reset`, (variant, range, account) => {
    if (!isWholeValue(variant, DataType.Boolean, range)) return StatusCodes.BadTypeMismatch;
    // A program that writes TRUE in every cycle resets once.
    const isBegin = variant.value && !isReset;
    if (!isBegin && rights.refusedStation(sourceOf(account), stationName) !== null)
      return StatusCodes.BadUserAccessDenied;
    const status = isBegin ? writeAct(acts, "ResetCounters", { station: stationName }, account) : good;
    if (status === good) showReset(variant.value);
    return status;
  });
  showReset(false);

  // The same object while it is the same time: a tag compares objects.
  let since = new Date(0);
  return (counters, times) => {
    if (counters.sinceMs !== since.getTime()) since = new Date(counters.sinceMs);
    tags.Cycles.set(counters.cycles, good, times);
    tags.Aborted.set(counters.aborted, good, times);
    for (const [tag, name] of seconds) tag.set(counters[name] / 1_000, good, times);
    tags.Since.set(since, good, times);
  };
}

export interface PermitTagParts {
  readonly permits: Permits;
  readonly acts: Pick<Acts, "run">;
  readonly addWritable: AddWritableTag;
}

/** `Permit`, `Permitted` and `NotPermittedReason` of a station that requires a permit. */
export interface PermitTags {
  /** Shows the present permit: it lapses with time. */
  show(): void;
}

export function addPermitTags(
  builder: NodeBuilder,
  folder: Folder,
  station: string,
  { permits, acts, addWritable }: PermitTagParts,
): PermitTags {
  const tags = builder.tags(folder, permitTags);
  const good = StatusCodes.Good;
  const times = builder.timesNow;

  function show(): void {
    const state = permits.permitOf(station);
    tags.Permitted.set(state.isGiven, good, times());
    tags.NotPermittedReason.set(fittingText(state.reason), good, times());
  }

  addWritable(`${folder.path}.Permit`, (variant, range, account): StatusCode => {
    if (!isWholeValue(variant, DataType.Boolean, range)) return StatusCodes.BadTypeMismatch;
    const status = writeAct(acts, "Permit", { station, permit: variant.value }, account);
    if (status !== good) return status;
    tags.Permit.set(variant.value, good, times());
    show();
    return good;
  });

  tags.Permit.set(false, good, times());
  show();
  return { show };
}
