import type { RobotId } from "./robot.ts";

/** What an operation does to a robot or to the service. `stops` goes before everything else. */
export type Effect = "reads" | "changes" | "moves" | "stops";

/** What a source may do: each role may do all that the role before it may. */
export const roles = ["observer", "operator", "engineer"] as const;
export type Role = (typeof roles)[number];

/** The ways by which somebody sends a command. */
export type Protocol = "mqtt" | "opcua" | "web" | "cli";

/** The sender of a command, as its protocol has authenticated it. */
export interface Source {
  /** `gateway`: the gateway itself. No client can send as `gateway`, and no rule of rights names it. */
  readonly protocol: Protocol | "gateway";
  /** The client's name on MQTT, the user on OPC UA and web. */
  readonly name: string;
}

/** A source as one text: a key, and the name of a user for people. */
export function sourceKey({ protocol, name }: Source): string {
  return `${protocol}:${name}`;
}

export function sameSource(a: Source, b: Source): boolean {
  return a.protocol === b.protocol && a.name === b.name;
}

/** Identifies a command for good. */
export interface CommandIdentity {
  readonly source: Source;
  /** Unique for its source. */
  readonly requestId: string;
}

/** A command that has passed the intake. `request` is canonical proto3 JSON: one spelling, one digest. */
export interface Command extends CommandIdentity {
  readonly operation: string;
  readonly effect: Effect;
  readonly robotId: RobotId | null;
  /** Canonical JSON text of the request, camelCase. */
  readonly requestJson: string;
  /** Wall time in milliseconds after which it may no longer be sent. */
  readonly startByMs: number;
  /**
   * The same moment as its sender wrote it, if the sender gave a moment of its own clock and no time from the
   * receipt.
   */
  readonly expiresAtMs?: number;
  /**
   * Where the command came from, for the audit log, as far as the protocol knows. Never part of the identity.
   */
  readonly origin?: { readonly address?: string; readonly certificate?: string };
  /** The station through whose slot it came. */
  readonly station?: string;
  /**
   * The user for whom the gateway itself sends it: the owner of a lapsed lease, of a hold, or of a permit.
   */
  readonly onBehalfOf?: OnBehalfOf;
}

/** The user for whom the gateway itself sends a command. */
export interface OnBehalfOf {
  readonly owner: Source;
  /** The station of a lease or a permit; absent for a hold. */
  readonly station?: string;
}

/** How far a command has come, for a sender that watches it. */
export type CommandStage = "accepted" | "sent";

/** The identity of a command as one text: a key, never to be taken apart again. */
export function commandId({ source, requestId }: CommandIdentity): string {
  return `${sourceKey(source)}/${requestId}`;
}

/** Why the gateway sends a stop of itself. */
export type OwnStopCause = "conveyor" | "hold" | "permit" | "repeat";

/** What names a stop of the gateway's own, over its runs. */
export function ownStopId(sessionId: string, cause: OwnStopCause, number: number): string {
  return `${sessionId}.${cause}${number}`;
}

/** Whether it is a stop that the gateway owes a conveyor: repeated until the conveyor is seen to stand. */
export function isOwedStop({ source, requestId }: CommandIdentity): boolean {
  return source.protocol === "gateway" && /\.conveyor\d+$/.test(requestId);
}
