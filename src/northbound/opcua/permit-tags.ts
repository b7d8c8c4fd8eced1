import { DataType, type StatusCode, StatusCodes, type Variant, VariantArrayType } from "node-opcua";
import type { RefusalAudit } from "../../contracts/commander.ts";
import type { Permits } from "../../contracts/permits.ts";
import type { Outcome } from "../../domain/outcome.ts";
import type { Clock } from "../../platform/clock.ts";
import { permitTags } from "./model/station.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";
import { fittingText } from "./node-opcua/tag.ts";
import type { AddWritableTag } from "./node-opcua/write-requests.ts";
import type { Account } from "./security.ts";

export interface PermitTagParts {
  readonly permits: Permits;
  /** Where refused writes are audited. */
  readonly audit: RefusalAudit;
  readonly addWritable: AddWritableTag;
  readonly clock: Clock;
}

/** `Permit`, `Permitted` and `NotPermittedReason` of a station that requires a permit. */
export interface PermitTags {
  /** Shows what the permit is now: it lapses with time. */
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
  let lastRefused = "";

  const times = () => {
    const now = new Date(clock.nowMs());
    return { source: now, server: now };
  };

  function show(): void {
    const state = permits.permitOf(station);
    tags.Permitted.set(state.isGiven, good, times());
    tags.NotPermittedReason.set(fittingText(state.reason), good, times());
  }

  /** A PLC may write in every cycle: the same refusal again has no line of its own. */
  function tellRefused({ name, origin }: Account, isGiven: boolean, refused: Outcome): void {
    const key = JSON.stringify([name, isGiven, refused.code]);
    if (key === lastRefused) return;
    lastRefused = key;
    const source = { protocol: "opcua", name } as const;
    const request = { source, requestId: null, operation: path, robotId: null };
    audit.refused(origin === undefined ? request : { ...request, origin }, refused);
  }

  addWritable(path, (variant, range, account): StatusCode => {
    if (!isBoolean(variant) || range !== null) return StatusCodes.BadTypeMismatch;
    const refused = permits.write(station, { protocol: "opcua", name: account.name }, variant.value);
    if (refused !== null) {
      tellRefused(account, variant.value, refused);
      return refused.code === "NOT_ALLOWED" ? StatusCodes.BadUserAccessDenied : StatusCodes.BadShutdown;
    }
    tags.Permit.set(variant.value, good, times());
    show();
    return good;
  });

  tags.Permit.set(false, good, times());
  show();
  return { show };
}

/** A single Boolean, and no list of them. */
function isBoolean(variant: Variant): boolean {
  return variant.dataType === DataType.Boolean && variant.arrayType === VariantArrayType.Scalar;
}
