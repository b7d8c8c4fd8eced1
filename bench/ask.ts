import type { Child } from "./child.ts";

const REPLY_WITHIN_MS = 300_000;

interface Failed {
  readonly kind: "failed";
  readonly message: string;
}

/** Asks a process, and takes its answer of this kind. */
export async function ask<Reply extends { readonly kind: string }, K extends Reply["kind"]>(
  child: Child,
  request: object,
  kind: K,
): Promise<Extract<Reply, { kind: K }>> {
  child.send(request);
  const reply = await child.next<Reply | Failed>(REPLY_WITHIN_MS);
  if (reply.kind === kind) return reply as Extract<Reply, { kind: K }>;
  throw new Error(`${child.name}: ${"message" in reply ? reply.message : reply.kind}`);
}
