import type { Source } from "../domain/command.ts";

export interface FenceRequest {
  readonly source: Source;
  /** The box that is off. */
  readonly member: string;
}

/** It counts as fenced, or why it does not, as a sentence. */
export type FenceAnswer =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: string; readonly lacksRight: boolean };

/** Lets a member of the cluster take over whose fence has failed. */
export interface FenceControl {
  /** The user has seen that the box is off. */
  confirm(request: FenceRequest): FenceAnswer;
}
