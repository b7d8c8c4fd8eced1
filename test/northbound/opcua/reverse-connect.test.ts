import { mkdtempSync, rmSync } from "node:fs";
import { readdir, readFile, rename } from "node:fs/promises";
import type { Server, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ClientReverseConnect, StatusCodes, UserTokenType } from "node-opcua";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { RefusalAudit } from "../../../src/contracts/commander.ts";
import { defaultOpcUaLimits, type OpcUaOptions } from "../../../src/northbound/opcua/options.ts";
import { createLive } from "../../../src/platform/live.ts";
import { createLog } from "../../../src/platform/log.ts";
import type { Given } from "../../support/live.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { newClient, openSession, type RunningServer, scada, startServer } from "./opcua-harness.ts";
import { exchange, frame, hello, openRawChannel } from "./raw-client.ts";
import {
  addressOf,
  freeAddress,
  listening,
  openReverseRelay,
  type ReverseRelay,
  reverseHelloOf,
} from "./reverse-relay.ts";

/** Its own: a client that is approved here stays unknown to other tests. */
const dataDir = mkdtempSync(join(tmpdir(), "fleetgate-reverse-"));
const store = join(dataDir, "opcua/server");
const lines: string[] = [];
const log = createLog("info", { write: (line) => void lines.push(line) });
const logged = (text: string) => lines.filter((line) => line.includes(text)).length;
const audited: string[] = [];
const audit: RefusalAudit = {
  refused: ({ operation, origin }, { message }) =>
    void audited.push(`${operation} from ${origin?.address}: ${message}`),
};
const escaped: unknown[] = [];
const note = (error: unknown) => escaped.push(error);
let clock = createManualClock(Date.now());
let running: RunningServer;
let relay: ReverseRelay;

beforeAll(() => {
  process.on("uncaughtException", note);
  process.on("unhandledRejection", note);
});
afterAll(() => {
  rmSync(dataDir, { recursive: true, force: true });
  process.off("uncaughtException", note);
  process.off("unhandledRejection", note);
});
beforeEach(async () => {
  lines.length = 0;
  clock = createManualClock(Date.now());
  relay = await openReverseRelay();
});
afterEach(async () => {
  await running.stop();
  await relay.close();
  expect(escaped).toEqual([]);
});

async function start(
  reverseConnect: Given<OpcUaOptions>["reverseConnect"] = [relay.address],
  options: Partial<Given<OpcUaOptions>> = {},
): Promise<void> {
  running = await startServer({ dataDir, ...options, reverseConnect }, { clock, log, audit });
}
const peerOf = (address: string) => running.server.peers().find(({ name }) => name === address);
const stateOf = (address: string) => expect.poll(() => peerOf(address)?.state);
const figure = (name: string) => running.server.health().figures?.[name];
/** Lets the gateway connect again, and not give it up again. */
const pass = () => clock.settle(15_000);

/** A client that listens in its own way. */
async function listenAs(take: (socket: Socket) => void): Promise<{ address: string; server: Server }> {
  const server = await listening((socket) => {
    socket.on("error", () => socket.destroy());
    take(socket);
  });
  return { address: addressOf(server), server };
}

describe("a client of node-opcua that listens for the gateway", () => {
  const secured = { users: [scada], insecureLoopback: null };
  let listener: ClientReverseConnect;
  let address: string;
  beforeEach(async () => {
    listener = new ClientReverseConnect("opc.tcp://127.0.0.1:0");
    await listener.start();
    address = `opc.tcp://127.0.0.1:${listener.listeningPort}`;
  });
  afterEach(() => listener.stop());

  /** node-opcua's client wants to have the server's certificate before. */
  async function client() {
    return newClient(true, undefined, await certificateOfServer());
  }
  async function certificateOfServer(): Promise<Buffer> {
    const pem = await readFile(join(store, "own/certs/certificate.pem"), "utf8");
    return Buffer.from(pem.replace(/-----.*?-----/g, ""), "base64");
  }
  const login = (password: string) =>
    ({ type: UserTokenType.UserName, userName: scada.name, password }) as const;
  async function approve(): Promise<void> {
    for (const name of await readdir(join(store, "rejected")))
      await rename(join(store, "rejected", name), join(store, "trusted/certs", name));
  }

  it("has a session of its user once its certificate is approved, and again after it hung up", async () => {
    await start([address], secured);
    const stranger = await client();
    await expect(stranger.connectReverse(listener)).rejects.toThrow();
    await stranger.disconnect();
    await expect.poll(() => figure("certificatesRefused")).toBeGreaterThan(0);
    await stateOf(address).toBe("lost");
    await approve();

    for (const _ of [1, 2]) {
      const scadaClient = await client();
      const connecting = scadaClient.connectReverse(listener);
      await pass();
      await connecting;
      await stateOf(address).toBe("connected");
      await expect(scadaClient.createSession(login("wrong"))).rejects.toThrow("Bad");
      expect(audited.at(-1)).toMatch(/^log_on from 127\.0\.0\.1: /);
      await pass();
      const session = await scadaClient.createSession(login("scada secret"));
      const version = await session.read({ nodeId: "ns=2;s=Gateway.Version" });
      expect(version.value.value).toBe("0.0.0");
      expect(running.server.peers()).toContainEqual(
        expect.objectContaining({ kind: "session", name: "scada", address: "127.0.0.1" }),
      );
      await session.close();
      await scadaClient.disconnect();
      await stateOf(address).toBe("lost");
    }
  }, 60_000);
});

describe("every check of connections that clients open holds for reverse connections", () => {
  it("of bytes: what is no frame of a client ends the connection, with the reason", async () => {
    await start();
    const attacks = [
      Buffer.from("GET / HTTP/1.1\r\n\r\n"),
      Buffer.concat([hello(), hello()]),
      Buffer.concat([hello(), Buffer.from("OPNF\xff\xff\xff\x7f", "latin1"), Buffer.alloc(100)]),
      frame("RHEF", Buffer.alloc(30, 0xff)),
      frame("ERRF", Buffer.alloc(30, 0xff)),
    ];
    for (const [index, bytes] of attacks.entries()) {
      await expect.poll(() => relay.open()).toBe(1);
      let isSent = false;
      const answers = await exchange(
        relay.url,
        () => {
          if (isSent) return null;
          isSent = true;
          return bytes;
        },
        5_000,
      );
      expect(answers.includes("ERRF")).toBe(true);
      expect(figure("connectionsClosed")).toBe(index + 1);
      await stateOf(relay.address).toBe("lost");
      await pass();
    }
  });

  it("of users: nobody is let in without one", async () => {
    await start([relay.address], { users: [scada], insecureLoopback: null });
    await expect(openSession(relay.url)).rejects.toThrow();
    await pass();
  });

  it("of bounds: it takes one of the connections that there may be", async () => {
    await start([], { limits: { ...defaultOpcUaLimits, maxConnections: 2 } });
    const direct = [await openSession(running.url), await openSession(running.url)];
    await running.stop();
    for (const caller of direct) await caller.client.disconnect().catch(() => {});

    const addresses = createLive<readonly string[]>([]);
    await start(addresses, { limits: { ...defaultOpcUaLimits, maxConnections: 2 } });
    const callers = [await openSession(running.url), await openSession(running.url)];
    addresses.replace([relay.address]);
    await expect.poll(() => relay.count()).toBe(1);
    await stateOf(relay.address).toBe("lost");
    expect(await callers[0]?.value("Gateway.Version")).toBe("0.0.0");
    for (const caller of callers) await caller.close();
    await pass();
    await stateOf(relay.address).toBe("waiting");
  });
});

describe("an address", () => {
  it("gets the gateway's application URI and address, and one connection at a time", async () => {
    const heard: Buffer[] = [];
    const { address, server } = await listenAs((socket) => socket.on("data", (bytes) => heard.push(bytes)));
    await start([address]);
    await expect.poll(() => heard.length).toBe(1);
    expect(reverseHelloOf(Buffer.concat(heard))).toMatchObject({
      serverUri: "urn:fleetgate:test",
      endpointUrl: running.url,
    });
    expect(peerOf(address)).toMatchObject({ kind: "reverse", state: "waiting" });
    await clock.settle(19_000);
    expect(heard.length).toBe(1);
    server.close();
  });

  it("that never answers is left after 20 s, and tried again", async () => {
    let accepted = 0;
    const { address, server } = await listenAs((socket) => {
      accepted += 1;
      socket.resume();
    });
    await start([address]);
    for (const [index, waitMs] of [500, 1_000].entries()) {
      await expect.poll(() => accepted).toBe(index + 1);
      await stateOf(address).toBe("waiting");
      await clock.settle(19_999);
      expect(peerOf(address)?.state).toBe("waiting");
      await clock.settle(1);
      await stateOf(address).toBe("lost");
      expect(peerOf(address)?.detail).toBe("it accepts connections, and opens no secure channel");
      await clock.settle(waitMs);
    }
    await expect.poll(() => accepted).toBe(3);
    expect(logged("is not reached")).toBe(1);
    expect(figure("connectionsClosed")).toBe(0);
    server.close();
  });

  it("that closes at once is tried again ever more rarely", async () => {
    let accepted = 0;
    const { address, server } = await listenAs((socket) => {
      accepted += 1;
      socket.destroy();
    });
    await start([address]);
    /** Half of 1, 2, 4, 8, 16, 30 and 30 s: the random numbers of these tests are 0.5. */
    const waitsMs = [500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000];
    for (const [index, waitMs] of waitsMs.entries()) {
      await expect.poll(() => accepted).toBe(index + 1);
      await stateOf(address).toBe("lost");
      await clock.settle(waitMs - 1);
      expect(accepted).toBe(index + 1);
      await clock.settle(1);
    }
    expect(logged("is not reached")).toBe(1);
    server.close();
  });

  it("at which nothing listens is shown with the reason, and is no fault of the server", async () => {
    const address = await freeAddress();
    await start([address]);
    await stateOf(address).toBe("lost");
    await expect.poll(() => peerOf(address)?.detail).toContain("nothing listens there");
    expect(running.server.health().state).toBe("up");
  });

  it("whose client falls silent without a session is connected to anew", async () => {
    await start();
    const channel = await openRawChannel(relay.url);
    await stateOf(relay.address).toBe("connected");
    await clock.settle(50_000);
    expect(peerOf(relay.address)?.state).toBe("connected");
    await clock.settle(30_000);
    await channel.closed;
    await expect.poll(() => relay.count()).toBe(2);
  });

  it("keeps the connection of a session that is silent", async () => {
    await start();
    const caller = await openSession(relay.url);
    await clock.settle(25_000);
    expect(peerOf(relay.address)?.state).toBe("connected");
    const before = relay.count();
    await clock.settle(90_000);
    expect(relay.count()).toBe(before);
    expect((await caller.read("Gateway.Version")).statusCode).toBe(StatusCodes.Good);
    await caller.close();
  });

  it("comes and goes with a reload", async () => {
    const other = await openReverseRelay();
    const addresses = createLive<readonly string[]>([relay.address]);
    await start(addresses);
    await stateOf(relay.address).toBe("waiting");
    addresses.replace([other.address]);
    await stateOf(other.address).toBe("waiting");
    await expect.poll(() => relay.open()).toBe(0);
    await pass();
    expect([relay.count(), other.count() > 0]).toEqual([1, true]);
    expect(running.server.peers().map(({ name }) => name)).toEqual([other.address]);
    await other.close();
  });

  it("has no connection, and gets none, when the server has stopped", async () => {
    await start();
    await stateOf(relay.address).toBe("waiting");
    await running.stop();
    await expect.poll(() => relay.open()).toBe(0);
    await pass();
    expect(relay.count()).toBe(1);
    expect(running.server.peers()).toEqual([]);
  });
});
