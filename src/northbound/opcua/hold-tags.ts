import { DataType, type StatusCode, StatusCodes } from "node-opcua";
import type { Acts, Holds } from "../../contracts/acts.ts";
import type { ActFields } from "../../domain/acts.ts";
import { clip } from "../../domain/foreign-text.ts";
import type { HoldState } from "../../domain/hold.ts";
import type { RobotId } from "../../domain/robot.ts";
import { HOLDERS_SHOWN, holdTags } from "./model/hold.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";
import type { AddWritableTag } from "./node-opcua/write-requests.ts";
import type { Account } from "./security.ts";
import { isWholeValue, writeAct } from "./write-act.ts";

export interface HoldTagParts {
  readonly holds: Pick<Holds, "holdState">;
  readonly acts: Pick<Acts, "run">;
  readonly addWritable: AddWritableTag;
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
  { holds, acts, addWritable }: HoldTagParts,
): HoldTags {
  const tags = builder.tags(folder, holdTags);
  const { Hold: holdTag, HoldRelease: releaseTag, Held: held, HeldBy: heldBy, HoldStored: stored } = tags;
  const good = StatusCodes.Good;
  const times = builder.timesNow;

  function show({ isHeld, by, isStored }: HoldState): void {
    const names = by.slice(0, HOLDERS_SHOWN).map(shownName);
    held.set(isHeld, good, times());
    heldBy.setList([...names, ...new Array(HOLDERS_SHOWN - names.length).fill("")], good, times());
    stored.set(isStored, good, times());
  }

  function ask(account: Account, asked: ActFields<"HoldAll">): StatusCode {
    const status =
      robotId === null
        ? writeAct(acts, "HoldAll", asked, account)
        : writeAct(acts, "Hold", { robot_id: robotId, ...asked }, account);
    show(holds.holdState(robotId));
    return status;
  }

  addWritable(`${folder.path}.Hold`, (variant, range, account) => {
    if (!isWholeValue(variant, DataType.Boolean, range)) return StatusCodes.BadTypeMismatch;
    const status = ask(account, { hold: variant.value, user: undefined });
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
    const status = ask(account, { hold: false, user });
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
