import { type BaseNode, NodeId, NodeIdType, type OPCUAServer } from "node-opcua";

/** A part of node-opcua 2.182 below its interface, checked for this method. */
export function lower<T>(part: object, method: keyof T & string): T {
  if (typeof Reflect.get(part, method) !== "function")
    throw new Error(`node-opcua has no ${method} any more`);
  return part as T;
}

/** Replaces a method of a prototype. The original needs its `this`. */
export function patch<F>(prototype: object, method: string, make: (original: F) => F): void {
  const original: unknown = Reflect.get(prototype, method);
  if (typeof original !== "function") throw new Error(`node-opcua has no ${method} any more`);
  Reflect.set(prototype, method, make(original as F));
}

/** Replaces a method of one object, such as a handler that node-opcua calls by its name on the server. */
export function wrap<F extends (...values: never[]) => unknown>(
  part: object,
  method: string,
  make: (original: F) => F,
): void {
  patch<F>(part, method, (original) => make(original.bind(part) as F));
}

/** The part of node-opcua's channel that answers. */
export interface Answering {
  send_response(
    type: string,
    response: unknown,
    message: { readonly request: unknown },
    done?: (error?: Error) => void,
  ): void;
}
export type SendAnswer = Answering["send_response"];

/** Wraps the answers of every channel. For an initialised server that does not listen yet. */
export function onAnswers<Channel extends Answering>(
  server: OPCUAServer,
  make: (send: SendAnswer, channel: Channel) => SendAnswer,
): void {
  for (const endpoint of server.endpoints) {
    endpoint.on("newChannel", (channel: Channel) => {
      channel.send_response = make(channel.send_response.bind(channel), channel);
    });
  }
}

/** The description of the symbol under which a node keeps its record. */
const RECORD = "BaseNodePrivate";
let symbol: symbol | undefined;

/** The record that node-opcua keeps of a node, checked for this part. */
export function recordOf<T extends object>(node: BaseNode, part: keyof T & string): T {
  symbol ??= Object.getOwnPropertySymbols(node).find(({ description }) => description === RECORD);
  const record: unknown = symbol === undefined ? undefined : Reflect.get(node, symbol);
  if (typeof record !== "object" || record === null || !(part in record)) {
    throw new Error(`node-opcua keeps ${part} of a node elsewhere now`);
  }
  return record as T;
}

/** A node of OPC UA itself. */
export function standardId(value: number): NodeId {
  return new NodeId(NodeIdType.NUMERIC, value, 0);
}

/** The value of a key, made at the first use. */
export function cached<K extends object, V>(values: WeakMap<K, V>, key: K, make: () => V): V;
export function cached<K, V>(values: Map<K, V>, key: K, make: () => V): V;
export function cached(
  values: { get(key: unknown): unknown; set(key: unknown, value: unknown): unknown },
  key: unknown,
  make: () => unknown,
): unknown {
  const known = values.get(key);
  if (known !== undefined) return known;
  const made = make();
  values.set(key, made);
  return made;
}
