import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { freePorts } from "./free-ports.ts";

/** A wire between a client and a server that a test can cut, stall or unplug. */
export interface TcpProxy {
  /** `localhost:port`, the same for as long as it lives. */
  readonly address: string;
  readonly port: number;
  /** Connections that are open now. */
  connections(): number;
  /** Connections that were made since the start. */
  accepted(): number;
  /** Nothing is forwarded any more, in either direction or only towards the client, and nothing is closed. */
  stall(what?: "everything" | "answers"): void;
  /** Bytes that were not forwarded, since the start. */
  withheld(): number;
  /** Pieces that were forwarded to clients, since the start. */
  answers(): number;
  /** What comes from now on is forwarded again. */
  resume(): void;
  /** Cuts every connection. */
  cut(): void;
  /** Cuts every connection and refuses new ones. */
  unplug(): Promise<void>;
  /** Takes connections again, on the same port. Does nothing while it is plugged. */
  plug(): Promise<void>;
  /** Ends whatever keeps bytes back; connections that lost some are cut. */
  repair(): Promise<void>;
  close(): Promise<void>;
}

/** Stands before `target` (`host:port`), which may change while it is unplugged. */
export async function startTcpProxy(target: () => string): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let stalled: "nothing" | "everything" | "answers" = "nothing";
  let withheld = 0;
  let answers = 0;
  let accepted = 0;
  // While it is unplugged, nobody else must be given its port.
  const port = await freePorts(1);
  let server: Server | null = null;

  function join(client: Socket): void {
    accepted += 1;
    const { hostname, port: targetPort } = new URL(`tcp://${target()}`);
    const upstream = connect({ host: hostname, port: Number(targetPort), noDelay: true });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on("data", (bytes) => {
        const isHeld = stalled === "everything" || (stalled === "answers" && to === client);
        if (isHeld) withheld += bytes.length;
        else if (!to.destroyed) {
          if (to === client) answers += 1;
          to.write(bytes);
        }
      });
      // The other side's end is told by `close`; its error has nobody else to hear it.
      from.on("error", () => {});
      from.on("close", () => {
        sockets.delete(from);
        if (stalled === "nothing") to.destroy();
      });
    }
  }

  async function plug(): Promise<void> {
    if (server !== null) return;
    const listening = createServer({ noDelay: true }, join);
    listening.listen(port, "127.0.0.1");
    await once(listening, "listening");
    server = listening;
  }

  function cut(): void {
    for (const socket of sockets) socket.destroy();
  }

  async function unplug(): Promise<void> {
    const listening = server;
    server = null;
    cut();
    if (listening === null) return;
    listening.close();
    await once(listening, "close");
  }

  await plug();
  return {
    address: `localhost:${port}`,
    port,
    connections: () => Math.ceil(sockets.size / 2),
    accepted: () => accepted,
    stall(what = "everything") {
      stalled = what;
    },
    withheld: () => withheld,
    answers: () => answers,
    resume() {
      stalled = "nothing";
    },
    cut,
    unplug,
    plug,
    async repair() {
      if (stalled !== "nothing") cut();
      stalled = "nothing";
      await plug();
    },
    close: unplug,
  };
}
