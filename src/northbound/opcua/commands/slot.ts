import {
  type DataValue,
  type ISessionContext,
  type NumericRange,
  type StatusCode,
  StatusCodes,
} from "node-opcua";
import type { CommandRights } from "../../../contracts/commander.ts";
import type { MakeStopRequest } from "../../../contracts/fleet-port.ts";
import { isBusy, type TicketAction } from "../../../domain/ticket.ts";
import type { Live } from "../../../platform/live.ts";
import type { Writer } from "../security.ts";
import { isValueAlone } from "../write-act.ts";
import type { Parameter } from "./parameter.ts";
import type { SlotCommand } from "./slot-command.ts";
import { openSlotCommands, type SlotCommandParts, type SlotCommands } from "./slot-commands.ts";
import type { SlotKind } from "./slot-kind.ts";
import type { OpenSlotNumbers, OpenStopOnlyNumbers } from "./slot-numbers.ts";
import type { Order, WrittenTicket } from "./written-ticket.ts";

/** A command slot: parameters that a client writes, and a ticket that makes one command of them, once. */
export interface Slot {
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** Why this user may write nothing here; null: it may. */
  refusedWriter(account: Writer["account"]): string | null;
  /** Writes one of the parameters, or returns why not. `range` is set if only some elements are written. */
  writeParameter(
    parameter: Parameter,
    value: DataValue,
    range: NumericRange | null,
    writer: Writer,
  ): StatusCode;
  /**
   * A ticket was written, in a write request that is now done. It is refused if only the leader of the
   * cluster may take it.
   */
  writeTicket(written: WrittenTicket, writer: Writer): StatusCode;
  /** Replaces an unused ticket that is old; called about once a second. */
  tick(): void;
  /** Whether this gateway leads its cluster may have changed. */
  follow(): void;
  /** Whether its command has no final outcome yet. */
  isBusy(): boolean;
  /** The session has ended, or has another user: nothing that it wrote counts any more. */
  forgetSession(sessionId: string): void;
}

/** The dependencies of slots of every kind. */
export interface SlotKindParts {
  /** Runs a slot: it takes what clients write, and executes its commands. */
  readonly runSlot: (kind: SlotKind) => Slot;
  readonly rights: CommandRights;
  readonly stopRequest: MakeStopRequest;
  /** Destinations by the numbers for PLCs without strings. */
  readonly destinations: Live<ReadonlyMap<number, string>>;
  /** The user of a session, like that of `Writer`; empty: none. */
  readonly userOf: (context: ISessionContext) => string;
}

/** The dependencies of a slot that runs. */
interface SlotParts extends SlotCommandParts {
  readonly openNumbers: OpenSlotNumbers;
  /** Null: there is no cluster. */
  readonly cluster: { isActive(): boolean; readonly openStopOnly: OpenStopOnlyNumbers } | null;
}

/** Runs a slot. Its tickets come from the store, if the store has the slot. */
export function createSlot(kind: SlotKind, { openNumbers, cluster, ...parts }: SlotParts): Slot {
  const { tags } = kind;
  const parameters = createSessionParameters(kind);
  /** Those of the store; null until this member leads. */
  let own: SlotCommands | null = null;
  let shown: SlotCommands | null = null;
  inUse();

  function open(numbers: Parameters<typeof openSlotCommands>[1]): SlotCommands {
    const commands = openSlotCommands(kind, numbers, () => shown === commands, parts);
    return commands;
  }

  /** The commands that the slot takes and shows now. */
  function inUse(): SlotCommands {
    if (cluster !== null && !cluster.isActive()) {
      if (shown !== null && shown !== own) return shown;
      const closed = own?.numbers.tickets().closed ?? [];
      shown = open((show) => cluster.openStopOnly(show, closed));
      shown.show();
      return shown;
    }
    if (shown !== null && shown === own) return shown;
    const isNew = own === null;
    own ??= open((show) => openNumbers(kind.path, show));
    shown = own;
    if (isNew) own.wakeUp();
    else own.show();
    return own;
  }

  function commandOf(order: Order, { sessionId }: Writer): SlotCommand {
    if (order.kind === "array") return kind.commandOfNumbers(order.numbers);
    if (order.kind === "text") return kind.commandOfFields(order.fields);
    return parameters.command(sessionId);
  }

  /** The number is the one that the slot shows. */
  function take(
    { numbers, attempts }: SlotCommands,
    { number, order }: WrittenTicket,
    writer: Writer,
  ): TicketAction {
    const { account } = writer;
    const command = commandOf(order, writer);
    const attempt = attempts.prepare(command, account, `${numbers.tickets().run}.${number}`);
    const isStop = attempt.kind === "command" && attempt.request.effect === "stops";
    const words = "text" in command ? command.text : "";
    const text = account.isDryRun && words !== "" ? `dry run: ${words}` : words;
    const { action, kept } = numbers.write({
      number,
      isStop,
      user: account.name,
      userNo: account.number,
      text,
    });
    if (action !== "take") return action;
    if (order.kind === "request") kind.served(writer.sessionId);
    if (isStop && attempts !== own?.attempts) own?.attempts.cancelStarts();
    attempts.begin(attempt, number, kept);
    return action;
  }

  return {
    path: kind.path,
    parameters: kind.parameters,
    refusedWriter: kind.refusedWriter,
    writeParameter: parameters.write,
    writeTicket(written, writer) {
      const commands = inUse();
      const { numbers } = commands;
      const { number } = written;
      const { name: user, number: userNo } = writer.account;
      const { open, isStopOnly = false } = numbers.tickets();
      if (!isStopOnly) tags.showWritten(written, user);
      const action =
        number > 0 && number === open
          ? take(commands, written, writer)
          : numbers.write({ number, isStop: false, user, userNo, text: "" }).action;
      if (action === "refused") return StatusCodes.BadInvalidState;
      if (isStopOnly) tags.showWritten(written, user);
      return StatusCodes.Good;
    },
    tick: () => inUse().numbers.tick(),
    follow: () => void inUse(),
    isBusy: () => [own, shown].some((each) => each !== null && isBusy(each.numbers.tickets())),
    forgetSession: parameters.forget,
  };
}

/** The values of each session for a slot's parameters. */
interface SessionParameters {
  /** Writes one, or returns why not. `range` is set if only some elements are written. */
  write(parameter: Parameter, value: DataValue, range: NumericRange | null, writer: Writer): StatusCode;
  /**
   * The command of the session's values. A client that ignores status codes must not start a command with a
   * value that it believes replaced. So a refused write spoils the command, unless the command does not use
   * the value.
   */
  command(sessionId: string): SlotCommand;
  forget(sessionId: string): void;
}

function createSessionParameters(
  kind: Pick<SlotKind, "parameters" | "reads" | "command">,
): SessionParameters {
  /** The parameters of each session whose last write was refused. */
  const refusedWrites = new Map<string, Set<string>>();

  return {
    write(parameter, written, range, writer) {
      const { sessionId } = writer;
      const status = isValueAlone(written)
        ? parameter.write(written.value, range, writer)
        : StatusCodes.BadWriteNotSupported;
      if (parameter.isFree === true) return status;
      const refused = refusedWrites.get(sessionId) ?? new Set();
      if (status === StatusCodes.Good) refused.delete(parameter.path);
      else {
        refused.add(parameter.path);
        for (const each of kind.parameters) if (each.isFree !== true) each.forget(sessionId);
      }
      if (refused.size === 0) refusedWrites.delete(sessionId);
      else refusedWrites.set(sessionId, refused);
      return status;
    },
    command(sessionId) {
      const refused = refusedWrites.get(sessionId);
      const spoilt = kind.reads(sessionId).find(({ path }) => refused?.has(path));
      if (spoilt !== undefined) return { problem: `the last write to ${spoilt.path} was refused` };
      const command = kind.command(sessionId);
      if (!("problem" in command) || refused === undefined) return command;
      const paths = [...refused].join(", ");
      return { problem: `${command.problem}; a refused write to ${paths} emptied the session's parameters` };
    },
    forget(sessionId) {
      refusedWrites.delete(sessionId);
      for (const each of kind.parameters) each.forget(sessionId);
    },
  };
}
