import type { LoadAddress } from "../messages/protocol.ts";

/** What the nodes of all robots cost, as their process tells. */
export interface NodeCosts {
  /** From the first news of the robots until each has its nodes. */
  readonly wallSeconds: number;
  readonly cpuSeconds: number;
  /** That the heap has grown by, after a collection. */
  readonly heapBytes: number;
  /** Of one cart with two conveyors. */
  readonly cartNodes: number;
  /** Of one robot without conveyors. */
  readonly otherNodes: number;
  readonly nodes: number;
}

/** What a client's process is asked. It answers when it is done. */
export type ClientRequest =
  /** Browses everything below `Robots`, as soon as so many robots are listed there. */
  | { readonly kind: "browse"; readonly port: number; readonly robots: number }
  /** Writes a conveyor command into the slot of each robot, one after the other. */
  | { readonly kind: "slots"; readonly port: number; readonly robots: readonly string[] };

export type ClientReply =
  | { readonly kind: "browsed"; readonly result: Browsed }
  /** When each write left, in Unix milliseconds. */
  | { readonly kind: "written"; readonly sentAtMs: readonly number[] }
  | { readonly kind: "failed"; readonly message: string };

/** What a client saw that browsed the whole tree. */
export interface Browsed {
  readonly nodes: number;
  readonly seconds: number;
  /** How long each request took. */
  readonly requestMs: readonly number[];
}

/** What is asked of the process that sends changes and subscribes to them. */
export type ChangesRequest =
  | { readonly kind: "subscribe"; readonly port: number }
  | { readonly kind: "unsubscribe" }
  | { readonly kind: "send"; readonly messagesPerSecond: number; readonly seconds: number };

export type ChangesReply =
  | { readonly kind: "listening"; readonly address: LoadAddress }
  /** What the server says of the items: how many there are, and at which intervals they are sampled. */
  | { readonly kind: "subscribed"; readonly items: number; readonly samplingMs: readonly number[] }
  | { readonly kind: "unsubscribed" }
  | { readonly kind: "sent"; readonly result: ChangesResult }
  | { readonly kind: "failed"; readonly message: string };

export interface ChangesResult {
  readonly messages: number;
  readonly seconds: number;
  /** Values that the messages changed, of those that are subscribed to; 0 while none are. */
  readonly changes: number;
  /** How many of them came. */
  readonly delivered: number;
}

/** What is asked of the process whose robots run low, and which is an alarm list too. */
export type AlarmsRequest =
  | { readonly kind: "raise" }
  | { readonly kind: "open"; readonly port: number }
  | { readonly kind: "refresh" }
  | { readonly kind: "change"; readonly changes: number; readonly seconds: number };

export type AlarmsReply =
  | { readonly kind: "listening"; readonly address: LoadAddress }
  | { readonly kind: "raised" }
  | { readonly kind: "opened" }
  | { readonly kind: "refreshed"; readonly conditions: number; readonly ms: number }
  /** `wrong`: robots whose newest state the list does not show. */
  | { readonly kind: "changed"; readonly seconds: number; readonly wrong: number; readonly events: number }
  | { readonly kind: "failed"; readonly message: string };
