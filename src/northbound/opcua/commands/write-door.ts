import {
  AttributeIds,
  DataType,
  type ISessionContext,
  type OPCUAServer,
  type StatusCode,
  StatusCodes,
  VariantArrayType,
  type WriteValue,
} from "node-opcua";
import { LAST_TICKET } from "../../../domain/ticket.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { OpcUaOptions } from "../options.ts";
import { type Account, accountOf } from "../security.ts";
import type { Parameter } from "./parameter.ts";
import type { Slot, Writer } from "./slot.ts";

/** The one way in for writes: by path, to the parameters and tickets of slots. */
export interface WriteDoor {
  add(slot: Slot): void;
  slots(): Iterable<Slot>;
}

type Target = { readonly slot: Slot; readonly parameter: Parameter | null };

/** A RequestId that was written, to be looked at when its whole write request is done. */
interface Asked {
  readonly slot: Slot;
  readonly number: number;
  /** Places in the request whose answer it is. */
  readonly places: number[];
}

/**
 * Takes every write request of the server over. Values for slots are checked and kept here; all others go the
 * server's own way. Requests are done one after the other, so that no two mix their parameters.
 */
export function openWriteDoor(
  server: OPCUAServer,
  namespaceIndex: number,
  options: OpcUaOptions,
  clock: Clock,
): WriteDoor {
  const targets = new Map<string, Target>();
  const slots: Slot[] = [];
  const sessionStarts = new WeakMap<object, number>();
  const writeElsewhere = server.engine.write.bind(server.engine);
  let last: Promise<unknown> = Promise.resolve();

  server.on("create_session", (session) => sessionStarts.set(session, clock.nowMs()));
  server.on("session_activated", (session) => {
    const account = accountOf(session.sessionContext, options);
    if (account === null || account.role === "observer") return;
    for (const slot of slots) slot.sessionBegan(account.name);
  });
  server.engine.write = (context, nodes) => {
    const done = last.then(() => writeAll(context, nodes));
    last = done.catch(() => null);
    return done;
  };

  async function writeAll(context: ISessionContext, nodes: WriteValue[]): Promise<StatusCode[]> {
    const results: StatusCode[] = [];
    const asked = new Map<Slot, Asked>();
    const account = accountOf(context, options);
    for (const [place, node] of nodes.entries()) {
      const target = targetOf(node);
      if (target === undefined) {
        const [status] = await writeElsewhere(context, [node]);
        results.push(status ?? StatusCodes.BadInternalError);
      } else {
        results.push(writeSlot(target, node, place, asked, context, account));
      }
    }
    for (const { slot, number, places } of asked.values()) {
      const writer = writerOf(context, account);
      const status = writer === null ? StatusCodes.BadUserAccessDenied : slot.request(number, writer);
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
    context: ISessionContext,
    account: Account | null,
  ): StatusCode {
    const { slot, parameter } = target;
    if (account === null || account.role === "observer") return StatusCodes.BadUserAccessDenied;
    const { value: variant, statusCode } = node.value;
    if (statusCode.isNotGood()) return StatusCodes.BadWriteNotSupported;
    const range = node.indexRange.isEmpty() ? null : node.indexRange;
    if (parameter !== null) {
      return slot.writeParameter(parameter, variant, range, sessionIdOf(context));
    }
    if (
      variant.dataType !== DataType.Int32 ||
      variant.arrayType !== VariantArrayType.Scalar ||
      range !== null
    ) {
      return StatusCodes.BadTypeMismatch;
    }
    if (variant.value < 0 || variant.value > LAST_TICKET) return StatusCodes.BadOutOfRange;
    const places = [...(asked.get(slot)?.places ?? []), place];
    asked.set(slot, { slot, number: variant.value, places });
    return StatusCodes.Good;
  }

  function writerOf(context: ISessionContext, account: Account | null): Writer | null {
    const { session } = context;
    if (session === undefined || account === null) return null;
    return { sessionId: sessionIdOf(context), sinceMs: sessionStarts.get(session) ?? 0, account };
  }

  return {
    add(slot) {
      slots.push(slot);
      targets.set(`${slot.path}.RequestId`, { slot, parameter: null });
      for (const parameter of slot.parameters) targets.set(parameter.path, { slot, parameter });
    },
    slots: () => slots,
  };
}

function sessionIdOf(context: ISessionContext): string {
  return context.session?.getSessionId().toString() ?? "";
}
