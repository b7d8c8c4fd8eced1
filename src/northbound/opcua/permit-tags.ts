import { DataType, type StatusCode, StatusCodes } from "node-opcua";
import type { Acts } from "../../contracts/acts.ts";
import type { Permits } from "../../contracts/permits.ts";
import type { Clock } from "../../platform/clock.ts";
import { permitTags } from "./model/station.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";
import { fittingText, timesAt } from "./node-opcua/tag.ts";
import type { AddWritableTag } from "./node-opcua/write-requests.ts";
import { writeAct } from "./write-act.ts";
import { isWholeValue } from "./written-value.ts";

export interface PermitTagParts {
  readonly permits: Permits;
  readonly acts: Pick<Acts, "run">;
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
  { permits, acts, addWritable, clock }: PermitTagParts,
): PermitTags {
  const tags = builder.tags(folder, permitTags);
  const good = StatusCodes.Good;

  const times = () => timesAt(clock.nowMs());

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
