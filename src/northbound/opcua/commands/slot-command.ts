import type { Outcome } from "../../../domain/outcome.ts";
import type { Account } from "../security.ts";

/** An operation of the catalogue with its request in proto3 JSON. */
export interface SlotRequest {
  /** The request in words, for `AcceptedText`. */
  readonly text: string;
  readonly operation: string;
  readonly request: Readonly<Record<string, unknown>>;
  /** The mission that the request names, if it does. */
  readonly missionId: string | null;
}

/** The command of a ticket. */
export type SlotCommand =
  | SlotRequest
  /** An act, which audits its own refusal. It may be repeated at will. */
  | {
      readonly text: string;
      readonly perform: (account: Account, requestId: string) => Outcome | Promise<Outcome>;
    }
  /** Refused already. */
  | { readonly text: string; readonly refused: Outcome }
  /** Not executable: what is missing, or what contradicts what. */
  | { readonly problem: string };

/** The problem of a parameter that a session has not written. */
export function missing(name: string): { readonly problem: string } {
  return { problem: `${name} is missing: this session has not written it` };
}
