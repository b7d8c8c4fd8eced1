import { connect } from "node:net";
import type { OPCUAServer, OPCUAServerEndPoint } from "node-opcua";
import { type Clock, every } from "../../../platform/clock.ts";
import { lateError } from "../../../platform/connect-fault.ts";
import { onAbort } from "../../../platform/on-abort.ts";
import { listenerOf } from "./endpoint-start.ts";

/** Where a client listens for the server. */
export interface ReverseTarget {
  readonly host: string;
  readonly port: number;
}

/** How a connection ended. */
export interface ReverseEnd {
  /** Whether the client had opened a secure channel. */
  readonly wasOpen: boolean;
  /** Null: the client, or node-opcua, has closed it without an error. */
  readonly cause: Error | null;
}

/** Is called as the connection goes on. */
export interface ReverseProgress {
  accepted(): void;
  /** The client has opened a secure channel. */
  opened(): void;
}

/** How long a client may take to accept the connection and to open a secure channel. */
const ANSWER_WITHIN_MS = 20_000;
/** After how long without a byte a connection is probed; ten probes follow, one a second. */
const PROBE_AFTER_MS = 10_000;
/** How long a client without a session may be silent. One that lost its power opens no new connection. */
const SILENT_MS = 60_000;
const LOOK_MS = 10_000;

/** The parts of node-opcua's channel that are needed here. */
interface Channel {
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly hasSession: boolean;
}

/**
 * Connects to a client that listens for its server (OPC UA part 6, 7.1.3). Its listener gets the socket, so
 * every check and bound of a client's own connection applies (decision: docs/internals/decisions.md, Reverse
 * connections pass through the listener). Resolves when the connection has ended; an aborted signal ends it.
 */
export function openReverseConnection(
  server: OPCUAServer,
  target: ReverseTarget,
  progress: ReverseProgress,
  clock: Clock,
  signal: AbortSignal,
): Promise<ReverseEnd> {
  const endpoint = endpointOf(server);
  const socket = connect({ ...target, keepAlive: true, keepAliveInitialDelay: PROBE_AFTER_MS });
  const ended = new AbortController();
  let channel: Channel | null = null;
  let cause: Error | null = null;

  function end(why: Error | null): void {
    cause ??= why;
    socket.destroy();
  }
  const stopWaiting = clock.after(ANSWER_WITHIN_MS, () => {
    const isAccepted = !socket.connecting;
    end(isAccepted ? new Error("it accepts connections, and opens no secure channel") : lateError(socket));
  });
  const stopFollowing = onAbort(signal, () => end(null));

  function secured(opened: Channel): void {
    const isThis = opened.remoteAddress === socket.remoteAddress && opened.remotePort === socket.remotePort;
    if (!isThis || channel !== null) return;
    channel = opened;
    stopWaiting();
    endWhenSilent(opened);
    progress.opened();
  }

  function endWhenSilent(opened: Channel): void {
    let receivedBytes = socket.bytesRead;
    let receivedAtMs = clock.monotonicMs();
    every(clock, LOOK_MS, ended.signal, () => {
      const nowMs = clock.monotonicMs();
      if (socket.bytesRead !== receivedBytes || opened.hasSession) receivedAtMs = nowMs;
      receivedBytes = socket.bytesRead;
      if (nowMs - receivedAtMs >= SILENT_MS) end(new Error("it has no session, and sends nothing"));
    });
  }

  socket.on("error", (error) => {
    cause ??= error;
  });
  socket.once("connect", () => {
    // As the listener's own sockets: node-opcua resumes it.
    socket.pause();
    socket.write(reverseHello(server.serverInfo.applicationUri ?? "", server.getEndpointUrl()));
    listenerOf(endpoint).emit("connection", socket);
    progress.accepted();
  });
  endpoint.on("channelSecured", secured);
  return new Promise((resolve) => {
    socket.once("close", () => {
      endpoint.off("channelSecured", secured);
      stopWaiting();
      stopFollowing();
      ended.abort();
      resolve({ wasOpen: channel !== null, cause });
    });
  });
}

function endpointOf({ endpoints: [endpoint] }: OPCUAServer): OPCUAServerEndPoint {
  if (endpoint === undefined) throw new Error("the OPC UA server has no endpoint");
  return endpoint;
}

/** A ReverseHello message (OPC UA part 6, 7.1.2.6): header, application URI, address of the endpoint. */
function reverseHello(...texts: readonly [serverUri: string, endpointUrl: string]): Buffer {
  const fields = texts.flatMap((text) => {
    const bytes = Buffer.from(text);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bytes.byteLength);
    return [length, bytes];
  });
  const header = Buffer.from("RHEF\0\0\0\0", "latin1");
  const frame = Buffer.concat([header, ...fields]);
  frame.writeUInt32LE(frame.byteLength, 4);
  return frame;
}
