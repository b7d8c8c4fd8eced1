import type { Command, CommandStage, Source } from "../domain/command.ts";
import type { Outcome } from "../domain/outcome.ts";
import type { RobotId } from "../domain/robot.ts";
import type { ParsedRequest } from "./operation.ts";

/** A request as a protocol has it. */
export type EnvelopeRequest =
  /** A JSON value, or a tree of fields: proto3 JSON in either spelling. */
  | { readonly json: unknown }
  /** JSON text, or its bytes in UTF-8. */
  | { readonly text: string | Uint8Array }
  /** What `read` has read before. */
  | { readonly parsed: ParsedRequest }
  /** The message could not be read: where it is wrong, and what would be right. */
  | { readonly unreadable: string };

/** What a protocol read of one command. The intake judges it. */
export interface Envelope {
  /** The protocol, and the user or client that it has authenticated. */
  readonly source: Source;
  /** The sender's own: 1 to 128 printable ASCII characters. Null: none could be read. */
  readonly requestId: string | null;
  /** Sets these ids apart from others of the same source: `call`, or the path of a slot. */
  readonly scope?: string;
  /** The station through whose slot it came: a start of conveyors needs its lease. */
  readonly station?: string;
  readonly operation: string;
  readonly request: EnvelopeRequest;
  /** The robot on whose object a method was called: the audit log has it if the request cannot be read. */
  readonly calledOn?: RobotId | null;
  /** When it may no longer be sent. Without it, a time from the receipt that the configuration gives. */
  readonly expiry?: Expiry;
  /** Wall time of the receipt in milliseconds; absent: now. */
  readonly receivedMs?: number;
  /** The message was kept by a broker: nobody knows how old it is. */
  readonly retained?: boolean;
  /** Why the sender cannot be answered where it wants to be; null when it can. */
  readonly unanswerable?: string | null;
  /** Where it came from, for the audit log. */
  readonly origin?: NonNullable<Command["origin"]>;
}

/** The earliest of the times that are given counts. */
export interface Expiry {
  /** Wall time in milliseconds, by the sender's clock. */
  readonly atMs?: number | null;
  /** Milliseconds from the receipt. */
  readonly withinMs?: number | null;
  /** What a command that moves a robot lacks, as an instruction; null when nothing. */
  readonly lacks?: string | null;
}

/** The way of every command, whichever protocol it came by. */
export interface Commander {
  /**
   * Takes a command, and resolves with its final outcome; a refusal is a value. `onStage` is told how far it
   * has come. Rejects only with the reason of `signal`: aborting it ends the waiting, not the command.
   */
  submit(
    envelope: Envelope,
    signal: AbortSignal | null,
    onStage?: (stage: CommandStage) => void,
  ): Promise<Outcome>;
  /**
   * Judges a command as `submit` does, up to the moment when it would be recorded, and sends nothing: a
   * refusal, or `checked`. Neither journal nor audit log knows of it. Never rejects.
   */
  check(envelope: Envelope): Promise<Outcome>;
  /**
   * Reads a request ahead of its envelope, for a protocol that must know its effect before it submits.
   * Nothing is audited; an outcome is its refusal.
   */
  read(operation: string, json: unknown): ParsedRequest | Outcome;
}

/** A request that was refused. What could not be read, or is of no robot, is null. */
export interface RefusedRequest {
  readonly source: Source;
  readonly requestId: string | null;
  readonly operation: string;
  readonly robotId: RobotId | null;
  readonly origin?: Command["origin"];
}

/** Where a protocol tells what it refused itself: what is no command. */
export interface RefusalAudit {
  /** Puts a refusal into the audit log, texts cut to what people read. Never throws. */
  refused(request: RefusedRequest, outcome: Outcome): void;
}

/** The begin, or the end, of the session of a user that logs in. */
export interface SessionChange {
  readonly source: Source;
  /** Where the user logged in from; null: it did not end it itself. */
  readonly address: string | null;
  readonly change: "log_on" | "log_off";
  /** Why the session ended, or how many lines were left out; null at a begin. */
  readonly reason: string | null;
}

/** Where a protocol tells of sessions. */
export interface SessionAudit {
  /** Puts it into the audit log. Never throws. */
  session(change: SessionChange): void;
}

/** What the journal still knows of commands. */
export interface CommandRecords {
  /** Whether a command of this identity is in hand, or recorded. */
  knows(source: Source, requestId: string): boolean;
  /**
   * The outcome of an earlier command, awaited while it is not final: `onStage` is told at once how far
   * it has come, and what follows. Null when the journal does not know it: then it was never sent, or its
   * record is no longer kept.
   */
  recall(source: Source, requestId: string, onStage?: (stage: CommandStage) => void): Promise<Outcome | null>;
}
