import { DataType, type StatusCode, StatusCodes } from "node-opcua";
import type { RefusalAudit } from "../../contracts/commander.ts";
import type { Permits } from "../../contracts/permits.ts";
import type { Clock } from "../../platform/clock.ts";
import { sourceOf } from "./commands/source-of.ts";
import { permitTags } from "./model/station.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";
import { fittingText, timesAt } from "./node-opcua/tag.ts";
import type { AddWritableTag } from "./node-opcua/write-requests.ts";
import { createRefusedWrites, statusOfRefused } from "./refused-writes.ts";
import { isWholeValue } from "./written-value.ts";

export interface PermitTagParts {
  readonly permits: Permits;
  /** Refused writes are audited there. */
  readonly audit: RefusalAudit;
  readonly addWritable: AddWritableTag;
  readonly clock: Clock;
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
  { permits, audit, addWritable, clock }: PermitTagParts,
): PermitTags {
  const tags = builder.tags(folder, permitTags);
  const path = `${folder.path}.Permit`;
  const good = StatusCodes.Good;
  const reportRefused = createRefusedWrites(audit, null);

  const times = () => timesAt(clock.nowMs());

  function show(): void {
    const state = permits.permitOf(station);
    tags.Permitted.set(state.isGiven, good, times());
    tags.NotPermittedReason.set(fittingText(state.reason), good, times());
  }

  addWritable(path, (variant, range, account): StatusCode => {
    if (!isWholeValue(variant, DataType.Boolean, range)) return StatusCodes.BadTypeMismatch;
    const refused = permits.write(station, sourceOf(account), variant.value);
    if (refused !== null) {
      reportRefused(account, path, variant.value, refused);
      return statusOfRefused(refused, StatusCodes.BadInvalidArgument);
    }
    tags.Permit.set(variant.value, good, times());
    show();
    return good;
  });

  tags.Permit.set(false, good, times());
  show();
  return { show };
}
