import { DataType, type StatusCode, StatusCodes, type Variant, VariantArrayType } from "node-opcua";
import type { Alarms } from "../../contracts/alarms.ts";
import type { RefusalAudit } from "../../contracts/commander.ts";
import type { Alarm } from "../../domain/alarm.ts";
import { clip } from "../../domain/clip.ts";
import type { Outcome } from "../../domain/outcome.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { Clock } from "../../platform/clock.ts";
import { ALARMS_SHOWN, alarmTags, robotAlarmTags } from "./model/alarms.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";
import type { AddWritableTag } from "./node-opcua/write-requests.ts";
import { createRefusedWrites } from "./refused-writes.ts";

export interface AlarmTagParts {
  readonly alarms: Alarms;
  /** Where refused writes are audited. */
  readonly audit: RefusalAudit;
  readonly addWritable: AddWritableTag;
  readonly clock: Clock;
}

/** The folder `Alarms` of a station or the gateway. */
export interface AlarmTags {
  show(alarms: readonly Alarm[]): void;
}

/** The folder `Alarms` of a robot. */
export interface RobotAlarmTags {
  show(alarms: readonly Alarm[], isOutOfService: boolean): void;
}

/** Characters: at most 254 bytes, which a STRING of a PLC takes. */
const LONGEST_ALARM = 80;
const good = StatusCodes.Good;

/** Adds the folder of a station or the gateway. The id of any alarm may be written to its `Ack`. */
export function addAlarmTags(builder: NodeBuilder, parent: Folder, parts: AlarmTagParts): AlarmTags {
  return fillFolder(builder, builder.folder(parent, "Alarms"), null, parts);
}

/** Adds the folder of a robot, which has `OutOfService` too. */
export function addRobotAlarmTags(
  builder: NodeBuilder,
  robot: Folder,
  robotId: RobotId,
  parts: AlarmTagParts,
): RobotAlarmTags {
  const { alarms, addWritable, clock } = parts;
  const folder = builder.folder(robot, "Alarms");
  const standing = fillFolder(builder, folder, robotId, parts);
  const { OutOfService } = builder.tags(folder, { OutOfService: robotAlarmTags.OutOfService });
  const tellRefused = createRefusedWrites(parts.audit, robotId);
  const path = `${folder.path}.OutOfService`;

  addWritable(path, (variant, range, account) => {
    if (!isScalar(variant, DataType.Boolean) || range !== null) return StatusCodes.BadTypeMismatch;
    const isOut: boolean = variant.value;
    const refused = alarms.putOutOfService({ source: sourceOf(account), robotId, isOut });
    if (refused === null) return good;
    tellRefused(account, path, isOut, refused);
    return statusOf(refused);
  });

  function show(list: readonly Alarm[], isOutOfService: boolean): void {
    standing.show(list);
    OutOfService.set(isOutOfService, good, timesOf(clock));
  }
  show([], false);
  return { show };
}

function fillFolder(
  builder: NodeBuilder,
  folder: Folder,
  robotId: RobotId | null,
  { alarms, audit, addWritable, clock }: AlarmTagParts,
): AlarmTags {
  const tags = builder.tags(folder, alarmTags);
  const tellRefused = createRefusedWrites(audit, robotId);
  const path = `${folder.path}.Ack`;

  addWritable(path, (variant, range, account) => {
    if (!isScalar(variant, DataType.String) || range !== null) return StatusCodes.BadTypeMismatch;
    const alarmId: string = variant.value ?? "";
    // A driver writes what it has: nothing is no alarm.
    if (alarmId === "") return good;
    const refused = alarms.acknowledge({ source: sourceOf(account), alarmId });
    if (refused === null) {
      tags.Ack.set(clip(alarmId, LONGEST_ALARM), good, timesOf(clock));
      return good;
    }
    tellRefused(account, path, alarmId, refused);
    return statusOf(refused);
  });
  tags.Ack.set("", good, timesOf(clock));

  function show(standing: readonly Alarm[]): void {
    const lines = standing.slice(0, ALARMS_SHOWN).map(({ id, text }) => clip(`${id} ${text}`, LONGEST_ALARM));
    const rest = new Array<string>(ALARMS_SHOWN - lines.length).fill("");
    tags.Active.setList([...lines, ...rest], good, timesOf(clock));
    tags.Count.set(standing.length, good, timesOf(clock));
    tags.HighestSeverity.set(standing[0]?.severity ?? 0, good, timesOf(clock));
  }
  show([]);
  return { show };
}

function timesOf(clock: Clock) {
  const now = new Date(clock.nowMs());
  return { source: now, server: now };
}

function sourceOf({ name }: { readonly name: string }) {
  return { protocol: "opcua", name } as const;
}

function isScalar(variant: Variant, type: DataType): boolean {
  return variant.dataType === type && variant.arrayType === VariantArrayType.Scalar;
}

function statusOf({ code }: Outcome): StatusCode {
  switch (code) {
    case "NOT_ALLOWED":
      return StatusCodes.BadUserAccessDenied;
    case "SHUTTING_DOWN":
      return StatusCodes.BadShutdown;
    default:
      return StatusCodes.BadNotFound;
  }
}
