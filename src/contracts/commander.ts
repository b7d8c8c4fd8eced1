import type { Command, CommandStage, Role, Source } from "../domain/command.ts";
import type { Outcome } from "../domain/outcome.ts";
import type { RobotId } from "../domain/robot.ts";
import type { ParsedRequest } from "./operation.ts";

/** A request as a protocol received it. */
export type EnvelopeRequest =
  /** A JSON value, or a tree of fields: proto3 JSON in either spelling. */
  | { readonly json: unknown }
  /** JSON text, or its bytes in UTF-8. */
  | { readonly text: string | Uint8Array }
  /** The result of an earlier `read`. */
  | { readonly parsed: ParsedRequest }
  /** The message could not be read: where it is wrong, and what would be right. */
  | { readonly unreadable: string };

/** One command as a protocol received it. The intake checks it. */
export interface Envelope {
  /** The protocol, and the user or client that it has authenticated. */
  readonly source: Source;
  /** Chosen by the sender: 1 to 128 printable ASCII characters. Null: no id could be read. */
  readonly requestId: string | null;
  /** Keeps these ids apart from others of the same source: `call`, or the path of a slot. */
  readonly scope?: string;
  /** The station through whose slot it came: a start of conveyors needs its lease. */
  readonly station?: string;
  readonly operation: string;
  readonly request: EnvelopeRequest;
  /** The robot on whose object a method was called: the audit log has it if the request cannot be read. */
  readonly calledOn?: RobotId | null;
  /** After this it may not be sent. Absent: the configured time after the receipt. */
  readonly expiry?: Expiry;
  /** Wall time of the receipt in milliseconds; absent: now. */
  readonly receivedMs?: number;
  /** The message was kept by a broker: nobody knows how old it is. */
  readonly retained?: boolean;
  /** Why the reply cannot be published where the sender wants it; null: it can. */
  readonly unanswerable?: string | null;
  /** Where it came from, for the audit log. */
  readonly origin?: NonNullable<Command["origin"]>;
}

/** The earliest of the given times counts. */
export interface Expiry {
  /** Wall time in milliseconds, by the sender's clock. */
  readonly atMs?: number | null;
  /** Milliseconds from the receipt. */
  readonly withinMs?: number | null;
  /** What a command that moves a robot lacks, as an instruction; null: nothing. */
  readonly lacks?: string | null;
  /** Why a command that stops a robot comes too late, as an instruction; null: it does not. */
  readonly late?: string | null;
}

/** Takes the commands of every protocol. */
export interface Commander {
  /**
   * Takes a command, and resolves with its final outcome; a refusal is a value. `onStage` is called with each
   * stage. Rejects only with the reason of `signal`: an abort ends the waiting, not the command.
   */
  submit(
    envelope: Envelope,
    signal: AbortSignal | null,
    onStage?: (stage: CommandStage) => void,
  ): Promise<Outcome>;
  /**
   * Checks a command as `submit` does, up to the moment when it would be recorded, and sends nothing: a
   * refusal, or `checked`. Neither the journal nor the audit log gets it. Never rejects.
   */
  check(envelope: Envelope): Promise<Outcome>;
  /**
   * Reads a request ahead of its envelope, for a protocol that must know its effect before it submits.
   * Nothing is audited; an outcome is a refusal.
   */
  read(operation: string, json: unknown): ParsedRequest | Outcome;
}

/** A request that was refused. Null: the field could not be read, or there is no robot. */
export interface RefusedRequest {
  readonly source: Source;
  readonly requestId: string | null;
  readonly operation: string;
  readonly robotId: RobotId | null;
  readonly origin?: Command["origin"] | undefined;
  /** True: the protocol writes a line of its own into the log. */
  readonly isLogged?: boolean;
}

/** Receives what a protocol itself refused, before it became a command. */
export interface RefusalAudit {
  /** Puts a refusal into the audit log, with texts cut to a readable length. Never throws. */
  refused(request: RefusedRequest, outcome: Outcome): void;
}

/** The begin or the end of the session of a user that logs in. */
export interface SessionChange {
  readonly source: Source;
  /** The address of the user; null: the user did not end the session. */
  readonly address: string | null;
  readonly change: "log_on" | "log_off";
  /** Why the session ended, or how many lines were left out; null at a begin. */
  readonly reason: string | null;
}

/** Receives the sessions of a protocol. */
export interface SessionAudit {
  /** Puts it into the audit log. Never throws. */
  session(change: SessionChange): void;
}

/** The commands that the journal still has. */
export interface CommandRecords {
  /** Whether a command of this identity is in hand, or recorded. */
  knows(source: Source, requestId: string): boolean;
  /**
   * The outcome of an earlier command, awaited until it is final: `onStage` is called at once with the stage
   * reached, and with each later one. Null: the journal does not know the command, so it was never sent, or
   * its record is no longer kept.
   */
  recall(source: Source, requestId: string, onStage?: (stage: CommandStage) => void): Promise<Outcome | null>;
}

/**
 * Who may send commands to which robots, before the command itself is known (`rights` and `stations` of the
 * configuration).
 */
export interface CommandRights {
  /** Why this source may send the robot no command that needs an operator; null: it may send some. */
  refusedRobot(source: Source, robotId: RobotId): string | null;
  /** Why this source may send the operation to no robot at all; null: it may send it to some. */
  refusedOperation(source: Source, operation: string, role: Role): string | null;
  /** Why this source may not lift other users' holds on the robot, or (null) on all robots; null: it may. */
  refusedLift(source: Source, robotId: RobotId | null): string | null;
  /** Why this source may not use the station's slot; null: it may. */
  refusedStation(source: Source, station: string): string | null;
}
