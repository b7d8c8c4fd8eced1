import type { Outcome } from "../../../domain/outcome.ts";
import type { Account } from "../security.ts";

/** An operation of the catalogue with its request in proto3 JSON. */
export interface RequestDraft {
  /** The request in words, for `AcceptedText`. */
  readonly text: string;
  readonly operation: string;
  readonly request: Readonly<Record<string, unknown>>;
  /** The mission that the request is about, where it names one. */
  readonly missionId: string | null;
}

/** What a ticket asks for. */
export type Draft =
  | RequestDraft
  /** Something that the gateway does itself. It may be done any number of times. */
  | { readonly text: string; readonly perform: (account: Account) => Outcome | Promise<Outcome> }
  /** Nothing that can be done: what is missing, or what contradicts what. */
  | { readonly problem: string };

/** The problem of a parameter that a session has not written. */
export function missing(name: string): { readonly problem: string } {
  return { problem: `${name} is missing: this session has not written it` };
}
