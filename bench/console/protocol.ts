import type { LoadAddress } from "../messages/protocol.ts";

/** What is asked of the process that changes the robots. It answers at once. */
export type LoadRequest =
  /** Sends so many mission messages a second from now on, to the robots in turn. */
  | { readonly kind: "rate"; readonly messagesPerSecond: number }
  /** When the messages of the first robot left since this was asked last. */
  | { readonly kind: "sent" };

export type LoadReply =
  | { readonly kind: "listening"; readonly address: LoadAddress }
  /** How many messages were sent until now. */
  | { readonly kind: "rate"; readonly messages: number }
  | { readonly kind: "sent"; readonly sent: readonly SentMessage[] };

/** A message of the first robot. */
export interface SentMessage {
  readonly sequence: number;
  /** Unix milliseconds. */
  readonly atMs: number;
}

/** What is asked of the process with clients of the stream. */
export interface ReadersRequest {
  readonly kind: "read";
  /** So many clients from now on. */
  readonly clients: number;
}

export interface ReadersReply {
  readonly kind: "read";
  /** Changes that the clients were sent since this was asked last, and their bytes. */
  readonly changes: number;
  readonly bytes: number;
  /** Streams that ended although they should not have. */
  readonly ended: number;
}
