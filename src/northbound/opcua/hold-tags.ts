import { DataType, type StatusCode, StatusCodes, type Variant, VariantArrayType } from "node-opcua";
import type { RefusalAudit } from "../../contracts/commander.ts";
import type { HoldRequest, Holds } from "../../contracts/holds.ts";
import { clip } from "../../domain/clip.ts";
import type { HoldState } from "../../domain/hold.ts";
import type { Outcome } from "../../domain/outcome.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { Clock } from "../../platform/clock.ts";
import { roleRefusal } from "./commands/role-refusal.ts";
import { HOLDERS_SHOWN, holdTags } from "./model/hold.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";
import type { AddWritableTag } from "./node-opcua/write-requests.ts";
import { createRefusedWrites } from "./refused-writes.ts";
import type { Account } from "./security.ts";

export interface HoldTagParts {
  readonly holds: Holds;
  /** Where refused writes are audited. */
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
  const tellRefused = createRefusedWrites(audit, robotId);

  const times = () => {
    const now = new Date(clock.nowMs());
    return { source: now, server: now };
  };

  function show({ isHeld, by, isStored }: HoldState): void {
    const names = by.slice(0, HOLDERS_SHOWN).map(shownName);
    held.set(isHeld, good, times());
    heldBy.setList([...names, ...new Array(HOLDERS_SHOWN - names.length).fill("")], good, times());
    stored.set(isStored, good, times());
  }

  function ask(account: Account, path: string, asked: Pick<HoldRequest, "isHeld" | "user">): StatusCode {
    const source = { protocol: "opcua", name: account.name } as const;
    const isOthers = asked.user !== undefined;
    const refused =
      isOthers && account.role !== "engineer"
        ? roleRefusal(account, "the end of another's hold", "engineer")
        : holds.hold({ source, robotId, ...asked });
    show(holds.holdState(robotId));
    if (refused === null) return good;
    tellRefused(account, path, asked, refused);
    return statusOf(refused);
  }

  addWritable(`${folder.path}.Hold`, (variant, range, account) => {
    if (!isScalar(variant, DataType.Boolean) || range !== null) return StatusCodes.BadTypeMismatch;
    const status = ask(account, `${folder.path}.Hold`, { isHeld: variant.value });
    if (status === good) holdTag.set(variant.value, good, times());
    return status;
  });
  addWritable(`${folder.path}.HoldRelease`, (variant, range, account) => {
    if (!isScalar(variant, DataType.String) || range !== null) return StatusCodes.BadTypeMismatch;
    const written: string = variant.value ?? "";
    // A driver writes what it has: nothing is no user.
    if (written === "") return good;
    // As `HeldBy` shows it.
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

function isScalar(variant: Variant, type: DataType): boolean {
  return variant.dataType === type && variant.arrayType === VariantArrayType.Scalar;
}

function statusOf({ code }: Outcome): StatusCode {
  switch (code) {
    case "NOT_ALLOWED":
      return StatusCodes.BadUserAccessDenied;
    case "SHUTTING_DOWN":
      return StatusCodes.BadShutdown;
    case "QUEUE_FULL":
      return StatusCodes.BadTooManyOperations;
    default:
      return StatusCodes.BadInvalidArgument;
  }
}
