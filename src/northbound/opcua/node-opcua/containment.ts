import type { OPCUAServer } from "node-opcua";
import { lower } from "./lower.ts";

/** A part of a channel that node-opcua calls before it opens the channel or renews its token. */
interface Channel {
  readonly remoteAddress: string;
  close(): void;
  beforeHandleOpenSecureChannelRequest: () => Promise<void>;
}

type Report = (address: string, error: unknown) => void;

/**
 * Several of node-opcua's handlers are asynchronous, and nothing awaits them: an error that a client causes
 * in them (by a truncated certificate, for example) would end the process as an unhandled rejection. Here it
 * closes the client's channel. For an initialised server that does not listen yet; `report` is called with
 * the error.
 */
export function containRejections(server: OPCUAServer, report: Report): void {
  for (const name of requestHandlers(server)) {
    const handle: unknown = Reflect.get(server, name);
    if (typeof handle !== "function") continue;
    Reflect.set(server, name, (message: unknown, channel: Channel) => {
      const handled: unknown = handle.call(server, message, channel);
      if (handled instanceof Promise) handled.catch(fail(channel, report));
    });
  }
  containActions(server, report);
  for (const endpoint of server.endpoints) {
    endpoint.on("newChannel", (channel: Channel) => {
      const before = channel.beforeHandleOpenSecureChannelRequest.bind(channel);
      channel.beforeHandleOpenSecureChannelRequest = () => contained(before(), fail(channel, report));
    });
  }
}

/** The work of each service, which the handler itself does not await. */
function containActions(server: OPCUAServer, report: Report): void {
  type Act = (response: unknown, message: unknown, channel: Channel, action: unknown) => Promise<void>;
  const name = "_apply_on_SessionObject";
  const apply = lower<Record<typeof name, Act>>(server, name)[name].bind(server);
  const act: Act = (response, message, channel, action) =>
    apply(response, message, channel, action).catch(fail(channel, report));
  Reflect.set(server, name, act);
}

function fail(channel: Channel, report: Report): (error: unknown) => void {
  return (error) => {
    report(channel.remoteAddress, error);
    channel.close();
  };
}

/**
 * The channel's own work follows this promise by `then`, and nothing follows that: its errors are caught
 * here.
 */
function contained(promise: Promise<void>, onError: (error: unknown) => void): Promise<void> {
  const original = promise.then.bind(promise);
  const then: Promise<void>["then"] = (onDone, onFail) => {
    const next = original(onDone, onFail);
    next.catch(onError);
    return next;
  };
  return Object.assign(promise, { then });
}

/** `_on_ReadRequest` and its like, which node-opcua finds by name for each request. */
function requestHandlers(server: OPCUAServer): ReadonlySet<string> {
  const names = new Set<string>();
  for (let at: object | null = server; at !== null; at = Object.getPrototypeOf(at)) {
    for (const name of Object.getOwnPropertyNames(at)) {
      if (/^_on_\w+Request$/.test(name)) names.add(name);
    }
  }
  return names;
}
