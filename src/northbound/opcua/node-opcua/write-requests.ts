import {
  AttributeIds,
  type ISessionContext,
  type NumericRange,
  type OPCUAServer,
  type StatusCode,
  StatusCodes,
  type Variant,
  type WriteValue,
} from "node-opcua";
import type { RefusalAudit } from "../../../contracts/commander.ts";
import { refusal } from "../../../domain/outcome.ts";
import type { Clock } from "../../../platform/clock.ts";
import { createTurns } from "../../../platform/queues.ts";
import type { NoteWrites } from "../audit/audited-requests.ts";
import type { Parameter } from "../commands/parameter.ts";
import type { Slot } from "../commands/slot.ts";
import { type Order, readTicket, type WrittenTicket } from "../commands/written-ticket.ts";
import type { OpcUaOptions } from "../options.ts";
import { type Account, accountOf, sourceOf, type Writer } from "../security.ts";
import { isValueAlone } from "../write-act.ts";
import { renewOwnValues } from "./own-values.ts";
import type { TimeSlices } from "./time-slices.ts";

/**
 * Writes one value of a tag, and returns Good, or why it cannot be written. `range` is set if only a part is
 * written.
 */
export type WriteTag = (variant: Variant, range: NumericRange | null, account: Account) => StatusCode;
export type AddWritableTag = (path: string, write: WriteTag) => void;

/** Handles all writes: by path, to the parameters and tickets of slots, and to other tags. */
export interface WriteRequests {
  add(slot: Slot): void;
  /**
   * A tag that takes effect at once, by itself. Sessions that may write nothing are refused before `write` is
   * called.
   */
  readonly addTag: AddWritableTag;
  slots(): Iterable<Slot>;
}

type Target = SlotTarget | { readonly kind: "tag"; readonly write: WriteTag };
type SlotTarget =
  | { readonly kind: "parameter"; readonly slot: Slot; readonly parameter: Parameter }
  | { readonly kind: Order["kind"]; readonly slot: Slot };

/** A written ticket, to be handled when its whole write request is done. */
interface Asked {
  readonly written: WrittenTicket;
  /** The indexes in the request that it answers. */
  readonly places: number[];
  /** The request has two tickets for the slot, so the command is not clear. */
  readonly isAmbiguous: boolean;
}

/**
 * Replaces the handling of every write request of the server. Values for slots are checked and kept here; all
 * others go the server's own way. Requests are done one after the other, so that no two mix. A ticket takes
 * effect when its request is done, wherever it was in it.
 */
export function takeWriteRequests(
  server: OPCUAServer,
  namespaceIndex: number,
  options: OpcUaOptions,
  parts: {
    readonly audit: RefusalAudit;
    readonly note: NoteWrites;
    readonly clock: Clock;
    readonly slices: Pick<TimeSlices, "begin">;
  },
): WriteRequests {
  const writersOf = createSlotWriters(options, parts);
  const targets = new Map<string, Target>();
  const slots: Slot[] = [];
  const writeElsewhere = server.engine.write.bind(server.engine);
  const inTurn = createTurns();

  forgetSessions(server, options, (sessionId) => {
    for (const slot of slots) slot.forgetSession(sessionId);
  });
  // An error goes to the server, which logs it and answers its client BadInternalError.
  server.engine.write = (context, nodes) =>
    inTurn(async () => {
      const results = await writeAll(context, nodes);
      parts.note(context, nodes, results);
      return results;
    });

  async function writeAll(context: ISessionContext, nodes: WriteValue[]): Promise<StatusCode[]> {
    const results: StatusCode[] = [];
    const asked = new Map<Slot, Asked>();
    const mayWrite = writersOf(context);
    const pause = parts.slices.begin();
    for (const [index, node] of nodes.entries()) {
      await pause();
      // The session may have ended during the time slices of others, and with it its parameters and tickets.
      if (hasEnded(context)) return nodes.map(() => StatusCodes.BadSessionClosed);
      const target = targetOf(node);
      if (target === undefined) {
        const [status] = await writeElsewhere(context, [node]);
        results.push(attributeStatus(node, status ?? StatusCodes.BadInternalError));
        continue;
      }
      if (target.kind === "tag") {
        results.push(writeTag(target.write, node, accountOf(context, options)));
        continue;
      }
      const writer = mayWrite(target.slot, target.kind !== "parameter");
      if (writer === null) results.push(StatusCodes.BadUserAccessDenied);
      else results.push(writeTarget(target, node, index, asked, writer));
    }
    for (const [slot, { written, places, isAmbiguous }] of asked) {
      const writer = mayWrite(slot, true);
      const status = statusOf(slot, isAmbiguous ? null : written, writer);
      for (const place of places) results[place] = status;
    }
    return results;
  }

  function targetOf(node: WriteValue): Target | undefined {
    const { nodeId, attributeId } = node;
    if (nodeId.namespace !== namespaceIndex || attributeId !== AttributeIds.Value) return undefined;
    if (typeof nodeId.value !== "string") return undefined;
    // A robot's slots exist once its nodes are built, and looking up one of its nodes builds them. A station
    // that a reload has removed has no nodes.
    const found = server.engine.addressSpace?.findNode(nodeId) ?? null;
    return found === null ? undefined : targets.get(nodeId.value);
  }

  function writeTag(write: WriteTag, node: WriteValue, account: Account | null): StatusCode {
    if (account === null || account.role === "observer") return StatusCodes.BadUserAccessDenied;
    if (!isValueAlone(node.value)) return StatusCodes.BadWriteNotSupported;
    if (!node.indexRange.isValid()) return StatusCodes.BadIndexRangeInvalid;
    return write(node.value.value, node.indexRange.isEmpty() ? null : node.indexRange, account);
  }

  return {
    add(slot) {
      slots.push(slot);
      targets.set(`${slot.path}.RequestId`, { kind: "request", slot });
      targets.set(`${slot.path}.Command`, { kind: "array", slot });
      targets.set(`${slot.path}.CommandText`, { kind: "text", slot });
      for (const parameter of slot.parameters) {
        targets.set(parameter.path, { kind: "parameter", slot, parameter });
      }
    },
    addTag: (path, write) => void targets.set(path, { kind: "tag", write }),
    slots: () => slots,
  };
}

/** Hands a ticket to its slot; null: the request has two. */
function statusOf(slot: Slot, written: WrittenTicket | null, writer: Writer | null): StatusCode {
  if (writer === null) return StatusCodes.BadUserAccessDenied;
  return written === null ? StatusCodes.BadInvalidArgument : slot.writeTicket(written, writer);
}

function hasEnded({ session }: ISessionContext): boolean {
  return session !== undefined && Reflect.get(session, "status") !== "active";
}

/** No user may write another attribute than Value, and node-opcua says that this user may not. */
function attributeStatus({ attributeId }: WriteValue, status: StatusCode): StatusCode {
  const isOfNobody = attributeId !== AttributeIds.Value && status === StatusCodes.BadUserAccessDenied;
  return isOfNobody ? StatusCodes.BadNotWritable : status;
}

/** Writes a parameter, or keeps a ticket until its request is done. */
function writeTarget(
  target: SlotTarget,
  node: WriteValue,
  place: number,
  asked: Map<Slot, Asked>,
  writer: Writer,
): StatusCode {
  const { slot } = target;
  const { value: variant } = node.value;
  const range = node.indexRange.isEmpty() ? null : node.indexRange;
  if (target.kind === "parameter") {
    return slot.writeParameter(target.parameter, node.value, range, writer);
  }
  if (!isValueAlone(node.value)) return StatusCodes.BadWriteNotSupported;
  if (range?.isValid() === false) return StatusCodes.BadIndexRangeInvalid;
  if (range !== null) return StatusCodes.BadTypeMismatch;
  const written = readTicket(variant, target.kind);
  if (!("number" in written)) return written;
  const before = asked.get(slot);
  const isSame = before?.written.number === written.number && before.written.order.kind === target.kind;
  asked.set(slot, {
    written,
    places: [...(before?.places ?? []), place],
    isAmbiguous: before !== undefined && (before.isAmbiguous || !isSame),
  });
  return StatusCodes.Good;
}

/** Calls `forget` when a session has ended, or has another user. */
function forgetSessions(
  server: OPCUAServer,
  options: OpcUaOptions,
  forget: (sessionId: string) => void,
): void {
  const users = new Map<string, string>();
  server.on("session_activated", (session) => {
    const sessionId = session.getSessionId().toString();
    const user = accountOf(session.sessionContext, options)?.name ?? "";
    const before = users.get(sessionId);
    users.set(sessionId, user);
    if (before === undefined || before === user) return;
    forget(sessionId);
    renewOwnValues(session);
  });
  server.on("session_closed", (session) => {
    const sessionId = session.getSessionId().toString();
    users.delete(sessionId);
    forget(sessionId);
  });
}

/** Returns for one request the writer to a slot; null: that user may not write. */
export type WriterOf = (slot: Slot, isTicket: boolean) => Writer | null;

/** A user that writes tickets to the same slot without the right is audited this often. */
const AUDITED_EVERY_MS = 60_000;

/**
 * Checks the right of each write to a slot. A refused write changes nothing: neither parameter nor number.
 */
function createSlotWriters(
  options: OpcUaOptions,
  { audit, clock }: { readonly audit: RefusalAudit; readonly clock: Clock },
): (context: ISessionContext) => WriterOf {
  /** When each user was last audited for each slot: a program may write in every cycle. */
  const auditedAtMs = new Map<string, number>();

  function auditRefused(account: Account | null, { path }: Slot, reason: string): void {
    const { name = "", origin = {} } = account ?? {};
    const key = `${path} ${name}`;
    const nowMs = clock.monotonicMs();
    if (nowMs - (auditedAtMs.get(key) ?? Number.NEGATIVE_INFINITY) < AUDITED_EVERY_MS) return;
    auditedAtMs.set(key, nowMs);
    const source = sourceOf({ name });
    const request = { source, requestId: null, operation: path, robotId: null, origin };
    audit.refused(request, refusal("NOT_ALLOWED", reason));
  }

  return (context) => {
    const { session } = context;
    const account = accountOf(context, options);
    return (slot, isTicket) => {
      const reason = refusalOf(account, slot);
      if (session !== undefined && account !== null && reason === null) {
        return { sessionId: session.getSessionId().toString(), account };
      }
      if (isTicket && reason !== null) auditRefused(account, slot, reason);
      return null;
    };
  };
}

function refusalOf(account: Account | null, slot: Slot): string | null {
  if (account === null) return "the session has no user, and a slot needs operator";
  if (account.role !== "observer") return slot.refusedWriter(account);
  return `"${account.name}" is ${account.role}, and a slot needs operator`;
}
