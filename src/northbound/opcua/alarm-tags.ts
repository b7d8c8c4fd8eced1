import { DataType, StatusCodes } from "node-opcua";
import type { Acts } from "../../contracts/acts.ts";
import type { ActiveAlarms, AlarmStore } from "../../contracts/alarms.ts";
import { type Alarm, type AlarmSource, ofGateway } from "../../domain/alarm.ts";
import { clip } from "../../domain/foreign-text.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { Clock } from "../../platform/clock.ts";
import { ALARMS_SHOWN, alarmTags, robotAlarmTags } from "./model/alarms.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";
import type { AddWritableTag } from "./node-opcua/write-requests.ts";
import { isWholeValue, writeAct } from "./write-act.ts";

export interface AlarmTagParts {
  readonly alarms: AlarmStore & ActiveAlarms;
  readonly acts: Pick<Acts, "run">;
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
/** After this time, the disk is asked again whether it has the acknowledgement. */
const STORED_AGAIN_MS = 5_000;
const good = StatusCodes.Good;

/**
 * Adds the folder of a station, or (null) of the gateway, with its alarms. The id of any alarm may be written
 * to its `Ack`.
 */
export function addAlarmTags(
  builder: NodeBuilder,
  parent: Folder,
  station: string | null,
  parts: AlarmTagParts,
): AlarmTags {
  const source: AlarmSource = station === null ? ofGateway : { kind: "station", station };
  const tags = fillFolder(builder, builder.folder(parent, "Alarms"), parts);
  tags.show(parts.alarms.shown(source).alarms);
  return tags;
}

/** Adds the folder of a robot, with its alarms and `OutOfService`. */
export function addRobotAlarmTags(
  builder: NodeBuilder,
  robot: Folder,
  robotId: RobotId,
  parts: AlarmTagParts,
): RobotAlarmTags {
  const { alarms, acts, addWritable } = parts;
  const folder = builder.folder(robot, "Alarms");
  const active = fillFolder(builder, folder, parts);
  const { OutOfService } = builder.tags(folder, { OutOfService: robotAlarmTags.OutOfService });

  addWritable(`${folder.path}.OutOfService`, (variant, range, account) => {
    if (!isWholeValue(variant, DataType.Boolean, range)) return StatusCodes.BadTypeMismatch;
    const asked = { robot_id: robotId, out_of_service: variant.value };
    return writeAct(acts, "SetOutOfService", asked, account);
  });

  function show(list: readonly Alarm[], isOutOfService: boolean): void {
    active.show(list);
    OutOfService.set(isOutOfService, good, builder.timesNow());
  }
  const { alarms: first, isOutOfService } = alarms.shown({ kind: "robot", robotId });
  show(first, isOutOfService);
  return { show };
}

function fillFolder(
  builder: NodeBuilder,
  folder: Folder,
  { alarms, acts, addWritable, clock }: AlarmTagParts,
): AlarmTags {
  const tags = builder.tags(folder, alarmTags);
  let acknowledged = 0;

  /**
   * Shows an acknowledgement, as Uncertain until it is on the disk. It does not delay the write: requests are
   * done one after the other, and a stop must not wait for a disk.
   */
  async function showAcknowledged(alarmId: string, isLast: () => boolean): Promise<void> {
    const isStored = (await alarms.storeProblem()) === null;
    if (!isLast()) return;
    const status = isStored ? good : StatusCodes.Uncertain;
    tags.Ack.set(clip(alarmId, LONGEST_ALARM), status, builder.timesNow());
    if (!isStored) clock.after(STORED_AGAIN_MS, () => void showAcknowledged(alarmId, isLast));
  }

  addWritable(`${folder.path}.Ack`, (variant, range, account) => {
    if (!isWholeValue(variant, DataType.String, range)) return StatusCodes.BadTypeMismatch;
    const alarmId: string = variant.value ?? "";
    // A driver may write an empty text in every cycle: that names no alarm.
    if (alarmId === "") return good;
    const status = writeAct(
      acts,
      "AcknowledgeAlarm",
      { alarm_id: alarmId, comment: undefined },
      account,
      StatusCodes.BadNotFound,
    );
    if (status === good) {
      tags.Ack.set(clip(alarmId, LONGEST_ALARM), good, builder.timesNow());
      acknowledged += 1;
      const own = acknowledged;
      void showAcknowledged(alarmId, () => own === acknowledged);
    }
    return status;
  });
  tags.Ack.set("", good, builder.timesNow());

  function show(active: readonly Alarm[]): void {
    const lines = active.slice(0, ALARMS_SHOWN).map(({ id, text }) => clip(`${id} ${text}`, LONGEST_ALARM));
    const rest = new Array<string>(ALARMS_SHOWN - lines.length).fill("");
    tags.Active.setList([...lines, ...rest], good, builder.timesNow());
    tags.Count.set(active.length, good, builder.timesNow());
    tags.HighestSeverity.set(active[0]?.severity ?? 0, good, builder.timesNow());
  }
  return { show };
}
