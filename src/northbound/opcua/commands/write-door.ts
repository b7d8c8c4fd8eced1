import {
  AttributeIds,
  DataType,
  type ISessionContext,
  type OPCUAServer,
  type ServerSession,
  type StatusCode,
  StatusCodes,
  VariantArrayType,
  type WriteValue,
} from "node-opcua";
import type { CommandLedger } from "../../../contracts/commander.ts";
import { refusal } from "../../../domain/outcome.ts";
import { LAST_TICKET } from "../../../domain/ticket.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { OpcUaOptions } from "../options.ts";
import { accountOf } from "../security.ts";
import type { Parameter } from "./parameter.ts";
import type { Order, Slot } from "./slot.ts";
import type { Writer } from "./slot-parts.ts";
import { COMMAND_LENGTH } from "./slot-tags.ts";

/** The one way in for writes: by path, to the parameters and tickets of slots. */
export interface WriteDoor {
  add(slot: Slot): void;
  slots(): Iterable<Slot>;
}

type Target =
  | { readonly kind: "parameter"; readonly slot: Slot; readonly parameter: Parameter }
  | { readonly kind: Order["kind"]; readonly slot: Slot };

/** A ticket that was written, to be looked at when its whole write request is done. */
interface Asked {
  readonly number: number;
  readonly order: Order;
  /** Places in the request whose answer it is. */
  readonly places: number[];
  /** Another tag of the slot was given a ticket too: nobody can say which command is meant. */
  readonly isAmbiguous: boolean;
}

/**
 * Takes every write request of the server over. Values for slots are checked and kept here; all others go the
 * server's own way. Requests are done one after the other, so that no two mix their parameters.
 */
export function openWriteDoor(
  server: OPCUAServer,
  namespaceIndex: number,
  options: OpcUaOptions,
  { clock, ledger }: { readonly clock: Clock; readonly ledger: CommandLedger },
): WriteDoor {
  const targets = new Map<string, Target>();
  const slots: Slot[] = [];
  const sessions = new Map<string, { readonly beganAtMs: number; readonly session: ServerSession }>();
  const writeElsewhere = server.engine.write.bind(server.engine);
  let last: Promise<unknown> = Promise.resolve();

  server.on("create_session", (session) => {
    sessions.set(session.getSessionId().toString(), { beganAtMs: clock.nowMs(), session });
  });
  server.on("session_closed", (session) => sessions.delete(session.getSessionId().toString()));
  server.on("session_activated", (session) => {
    const account = accountOf(session.sessionContext, options);
    if (account === null || account.role === "observer") return;
    for (const slot of slots) slot.sessionBegan(account.name);
  });
  server.engine.write = (context, nodes) => {
    const done = last.then(() => writeAll(context, nodes));
    // Only the place in the row: what went wrong goes to the server with `done`, which logs it and answers its
    // client BadInternalError. It must not fail the next client's write too.
    last = done.catch(() => null);
    return done;
  };

  async function writeAll(context: ISessionContext, nodes: WriteValue[]): Promise<StatusCode[]> {
    const results: StatusCode[] = [];
    const asked = new Map<Slot, Asked>();
    const writer = writerOf(context);
    for (const [place, node] of nodes.entries()) {
      const target = targetOf(node);
      if (target === undefined) {
        const [status] = await writeElsewhere(context, [node]);
        results.push(status ?? StatusCodes.BadInternalError);
      } else if (writer === null) {
        results.push(StatusCodes.BadUserAccessDenied);
        if (target.kind !== "parameter") auditDenied(context, target.slot);
      } else results.push(writeSlot(target, node, place, asked, writer));
    }
    for (const [slot, { number, order, places, isAmbiguous }] of asked) {
      if (writer === null) continue;
      const status = isAmbiguous ? StatusCodes.BadInvalidArgument : slot.request(number, order, writer);
      for (const place of places) results[place] = status;
    }
    return results;
  }

  function targetOf(node: WriteValue): Target | undefined {
    const { nodeId, attributeId } = node;
    if (nodeId.namespace !== namespaceIndex || attributeId !== AttributeIds.Value) return undefined;
    return typeof nodeId.value === "string" ? targets.get(nodeId.value) : undefined;
  }

  function writeSlot(
    target: Target,
    node: WriteValue,
    place: number,
    asked: Map<Slot, Asked>,
    writer: Writer,
  ): StatusCode {
    const { slot } = target;
    const { value: variant, statusCode } = node.value;
    if (statusCode.isNotGood()) return StatusCodes.BadWriteNotSupported;
    const range = node.indexRange.isEmpty() ? null : node.indexRange;
    if (target.kind === "parameter") {
      return slot.writeParameter(target.parameter, variant, range, writer);
    }
    const numbers = range === null ? numbersOf(node, target.kind === "array") : null;
    if (numbers === null) return StatusCodes.BadTypeMismatch;
    const [number = -1, ...rest] = numbers;
    if (target.kind === "array" && numbers.length !== COMMAND_LENGTH) return StatusCodes.BadOutOfRange;
    if (number < 0 || number > LAST_TICKET) return StatusCodes.BadOutOfRange;
    const before = asked.get(slot);
    asked.set(slot, {
      number,
      order: target.kind === "array" ? { kind: "array", numbers: rest } : { kind: target.kind },
      places: [...(before?.places ?? []), place],
      isAmbiguous: before !== undefined && (before.isAmbiguous || before.order.kind !== target.kind),
    });
    return StatusCodes.Good;
  }

  /** A ticket of somebody who may not write. */
  function auditDenied(context: ISessionContext, { path }: Slot): void {
    const { name = "", role = "nobody", origin = {} } = accountOf(context, options) ?? {};
    const source = { door: "opcua", name } as const;
    const message = `"${name}" is ${role}, and a slot needs operator`;
    const request = { source, requestId: null, operation: path, robotId: null, origin };
    ledger.refused(request, refusal("NOT_ALLOWED", message));
  }

  /** Null for those who may not write. */
  function writerOf(context: ISessionContext): Writer | null {
    const { session } = context;
    const account = accountOf(context, options);
    if (session === undefined || account === null || account.role === "observer") return null;
    const sessionId = session.getSessionId().toString();
    const sinceMs = sessions.get(sessionId)?.beganAtMs ?? 0;
    return { sessionId, sinceMs, isConnected, account };
  }

  function isConnected(sessionId: string): boolean {
    return sessions.get(sessionId)?.session.aborted === false;
  }

  return {
    add(slot) {
      slots.push(slot);
      targets.set(`${slot.path}.RequestId`, { kind: "request", slot });
      targets.set(`${slot.path}.ConfirmId`, { kind: "confirm", slot });
      targets.set(`${slot.path}.Command`, { kind: "array", slot });
      for (const parameter of slot.parameters) {
        targets.set(parameter.path, { kind: "parameter", slot, parameter });
      }
    },
    slots: () => slots,
  };
}

/** What was written, as numbers; null when it is of another type. */
function numbersOf({ value: { value: variant } }: WriteValue, isArray: boolean): readonly number[] | null {
  if (variant.dataType !== DataType.Int32) return null;
  if (variant.arrayType !== (isArray ? VariantArrayType.Array : VariantArrayType.Scalar)) return null;
  return isArray ? Array.from<number>(variant.value ?? []) : [variant.value];
}
