import { DataType, type StatusCode, StatusCodes } from "node-opcua";
import type { RefusalAudit } from "../../contracts/commander.ts";
import type { HoldRequest, Holds } from "../../contracts/holds.ts";
import { clip } from "../../domain/clip.ts";
import type { HoldState } from "../../domain/hold.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { Clock } from "../../platform/clock.ts";
import { roleRefusal } from "./commands/role-refusal.ts";
import { sourceOf } from "./commands/source-of.ts";
import { HOLDERS_SHOWN, holdTags } from "./model/hold.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";
import { timesAt } from "./node-opcua/tag.ts";
import type { AddWritableTag } from "./node-opcua/write-requests.ts";
import { createRefusedWrites, statusOfRefused } from "./refused-writes.ts";
import type { Account } from "./security.ts";
import { isWholeValue } from "./written-value.ts";

export interface HoldTagParts {
  readonly holds: Holds;
  /** Refused writes are audited there. */
  readonly audit: RefusalAudit;
  readonly addWritable: AddWritableTag;
  readonly clock: Clock;
}

/** `Hold`, `HoldRelease`, `Held`, `HeldBy` and `HoldStored` of one robot, or of all. */
export interface HoldTags {
  show(hold: HoldState): void;
}

/** Characters: at most 254 bytes, which a STRING of a PLC takes. */
const LONGEST_HOLDER = 80;

/** Adds the tags to a robot's folder, or (robotId null) to the gateway's. */
export function addHoldTags(
  builder: NodeBuilder,
  folder: Folder,
  robotId: RobotId | null,
  { holds, audit, addWritable, clock }: HoldTagParts,
): HoldTags {
  const tags = builder.tags(folder, holdTags);
  const { Hold: holdTag, HoldRelease: releaseTag, Held: held, HeldBy: heldBy, HoldStored: stored } = tags;
  const good = StatusCodes.Good;
  const reportRefused = createRefusedWrites(audit, robotId);

  const times = () => timesAt(clock.nowMs());

  function show({ isHeld, by, isStored }: HoldState): void {
    const names = by.slice(0, HOLDERS_SHOWN).map(shownName);
    held.set(isHeld, good, times());
    heldBy.setList([...names, ...new Array(HOLDERS_SHOWN - names.length).fill("")], good, times());
    stored.set(isStored, good, times());
  }

  function ask(account: Account, path: string, asked: Pick<HoldRequest, "isHeld" | "user">): StatusCode {
    const source = sourceOf(account);
    const isOthers = asked.user !== undefined;
    const refused =
      isOthers && account.role !== "engineer"
        ? roleRefusal(account, "the end of another's hold", "engineer")
        : holds.hold({ source, robotId, ...asked });
    show(holds.holdState(robotId));
    if (refused === null) return good;
    reportRefused(account, path, asked, refused);
    return statusOfRefused(refused, StatusCodes.BadInvalidArgument);
  }

  addWritable(`${folder.path}.Hold`, (variant, range, account) => {
    if (!isWholeValue(variant, DataType.Boolean, range)) return StatusCodes.BadTypeMismatch;
    const status = ask(account, `${folder.path}.Hold`, { isHeld: variant.value });
    if (status === good) holdTag.set(variant.value, good, times());
    return status;
  });
  addWritable(`${folder.path}.HoldRelease`, (variant, range, account) => {
    if (!isWholeValue(variant, DataType.String, range)) return StatusCodes.BadTypeMismatch;
    const written: string = variant.value ?? "";
    // A driver may write an empty text in every cycle: that names no user.
    if (written === "") return good;
    // The name as `HeldBy` shows it.
    const user = holds.holdState(robotId).by.find((name) => shownName(name) === written) ?? written;
    const status = ask(account, `${folder.path}.HoldRelease`, { isHeld: false, user });
    if (status === good) releaseTag.set(shownName(written), good, times());
    return status;
  });
  holdTag.set(false, good, times());
  releaseTag.set("", good, times());
  show(holds.holdState(robotId));
  return { show };
}

function shownName(name: string): string {
  return clip(name, LONGEST_HOLDER);
}
