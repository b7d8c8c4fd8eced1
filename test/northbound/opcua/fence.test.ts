import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { OpcUaUser } from "../../../src/northbound/opcua/options.ts";
import { seededRandom } from "../../../src/simulator/world/random.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { batteryChange } from "./changes.ts";
import { newClient, openSession, type RunningServer, startServer } from "./opcua-harness.ts";
import { exchange, frame, hello, openRawChannel, type Script } from "./raw-client.ts";
import { openRelay } from "./relay.ts";

const SEED = 20_261_120;
/** After how long a stranger hangs up, of very many: that it does is no more than a step to the next. */
const SILENCE_MS = 150;
const ACK_BYTES = 28;
/** A DER sequence whose length has two bytes. */
const CERTIFICATE_START = Buffer.from([0x30, 0x82]);

const escaped: unknown[] = [];
const note = (error: unknown) => escaped.push(error);
beforeAll(() => {
  process.on("uncaughtException", note);
  process.on("unhandledRejection", note);
});
afterAll(() => {
  process.off("uncaughtException", note);
  process.off("unhandledRejection", note);
});

const plc1: OpcUaUser = {
  name: "plc1",
  number: null,
  role: "operator",
  secret: { kind: "plain", text: "plc secret" },
};

const closedOf = (running: RunningServer) => running.server.health().figures?.connectionsClosed;

/** Everything at once, and nothing after it. */
function once(...parts: readonly Buffer[]): Script {
  let isSaid = false;
  return () => {
    if (isSaid) return null;
    isSaid = true;
    return Buffer.concat(parts);
  };
}

/** A Hello, and the rest when it was acknowledged. */
function afterAck(...parts: readonly Buffer[]): Script {
  const turns = [hello(), Buffer.concat(parts)];
  return (answers) => (turns.length === 2 || answers.length > 0 ? (turns.shift() ?? null) : null);
}

/** The beginning of an OPN of 8192 bytes, which may be: the rest does not come. */
const begun = Buffer.concat([Buffer.from("OPNF\x00\x20\x00\x00", "latin1"), Buffer.alloc(100)]);
const huge = Buffer.concat([Buffer.from("OPNF\xff\xff\xff\x7f", "latin1"), Buffer.alloc(100)]);
const attacks: ReadonlyArray<readonly [what: string, script: () => Script]> = [
  ["HEL and the largest OPN in one segment", () => once(hello(), huge)],
  ["ERR of 8 bytes", () => afterAck(Buffer.from("ERRF\x08\x00\x00\x00", "latin1"))],
  ["ERR with anything in it", () => afterAck(frame("ERRF", Buffer.alloc(30, 0xff)))],
  ["ACK", () => afterAck(frame("ACKF", Buffer.alloc(20)))],
  ["RHE", () => afterAck(frame("RHEF", Buffer.alloc(30, 0xff)))],
  ["HEL twice", () => once(hello(), hello())],
  ["a size of 3", () => once(Buffer.from("HELF\x03\x00\x00\x00".repeat(10), "latin1"))],
];

describe.each([
  ["open to this machine", {}],
  ["with SignAndEncrypt only", { insecureLoopback: null, users: [plc1] }],
])("a server %s", (_which, options) => {
  let running: RunningServer;
  beforeAll(async () => {
    running = await startServer(options);
  });
  afterAll(() => running.stop());

  it.each(attacks)("closes the connection of a client that sends %s", async (_what, script) => {
    const before = Number(closedOf(running));
    const answers = await exchange(running.url, script(), 5_000);
    if (answers.length > 0) {
      const error = answers.indexOf("ERRF", 0, "latin1");
      if (error !== -1) expect(answers.length).toBe(error + answers.readUInt32LE(error + 4));
    }
    expect(closedOf(running)).toBe(before + 1);
    expect(escaped).toEqual([]);
  });

  it("takes a HEL and the beginning of a large OPN in one segment", async () => {
    const before = closedOf(running);
    const leaving = new AbortController();
    let received = () => {};
    const acknowledged = new Promise<void>((resolve) => {
      received = resolve;
    });
    const both = once(hello(), begun);
    const script: Script = (answers) => {
      if (answers.length >= ACK_BYTES) received();
      return both(answers);
    };
    const talk = exchange(running.url, script, 5_000, leaving.signal);
    await Promise.race([acknowledged, talk]);
    // Who comes after it is served: whatever the server wanted to do with the first one, it has done.
    await expectAnswers(running);
    expect(closedOf(running)).toBe(before);
    leaving.abort();
    expect((await talk).toString("latin1", 0, 4)).toBe("ACKF");
    expect(escaped).toEqual([]);
  });

  it("says why, in an error message", async () => {
    const answers = await exchange(running.url, afterAck(frame("ERRF", Buffer.alloc(8))), 5_000);
    const error = answers.subarray(ACK_BYTES);
    expect(error.toString("latin1", 0, 4)).toBe("ERRF");
    expect(error.readUInt32LE(4)).toBe(error.length);
    expect(error.readUInt32LE(8)).toBe(0x807e_0000);
    expect(error.toString("latin1", 16)).toBe("BadTcpMessageTypeInvalid");
  });

  it("still answers", async () => {
    await expectAnswers(running);
    expect(escaped).toEqual([]);
  });
});

/** A client that has done nothing wrong is told what there is. */
async function expectAnswers({ url }: RunningServer): Promise<void> {
  const client = newClient();
  await client.connect(url);
  expect(await client.getEndpoints()).not.toEqual([]);
  await client.disconnect();
}

/** What the frames of a whole session of ours are, as the server got them. */
async function recordSession(running: RunningServer): Promise<Buffer[]> {
  const relay = await openRelay(running.url);
  const caller = await openSession(relay.url);
  await caller.value("Gateway.Version");
  await caller.write(["Robots.r1.MissionSlot.Operation", { dataType: "Int32", value: 1 }]);
  await caller.until("Gateway.Version", "0.0.0");
  await caller.close();
  relay.close();
  return framesOf(relay.asked());
}

/**
 * Sends the frames one for each answer, those of a channel with its id: the answer to OPN says which it is.
 */
function inTurn(frames: readonly Buffer[]): Script {
  const turns = [...frames];
  return (answers) => {
    const next = turns.shift() ?? null;
    if (next?.toString("latin1", 0, 3) === "MSG" && answers.length >= ACK_BYTES + 12) {
      next.writeUInt32LE(answers.readUInt32LE(ACK_BYTES + 8), 8);
    }
    return next;
  };
}

function framesOf(bytes: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += bytes.readUInt32LE(at + 4)) {
    frames.push(bytes.subarray(at, at + bytes.readUInt32LE(at + 4)));
  }
  return frames;
}

describe("strangers by the hundred", () => {
  let running: RunningServer;
  beforeAll(async () => {
    running = await startServer({
      robots: [{ robotId: "r1", alias: null, number: null, family: "cart", conveyorIndexes: [] }],
    });
    running.server.write({ changes: [batteryChange("r1", 55)], events: [] });
  });
  afterAll(() => running.stop());

  async function hold(scripts: readonly Script[]): Promise<void> {
    for (let at = 0; at < scripts.length; at += 40) {
      await Promise.all(
        scripts.slice(at, at + 40).map((script) => exchange(running.url, script, SILENCE_MS)),
      );
    }
    expect(escaped).toEqual([]);
    const caller = await openSession(running.url);
    expect(await caller.value("Robots.r1.Battery.ChargePercent")).toBe(55);
    await caller.close();
    expect(escaped).toEqual([]);
  }

  it("send frames of any type, flag, size and content, and harm nobody", async () => {
    const dice = seededRandom(SEED);
    const pick = <T>(...from: readonly T[]) => from[Math.floor(dice() * from.length)] as T;
    const random = (): Buffer => {
      const type = pick("HEL", "OPN", "OPN", "MSG", "MSG", "CLO", "ACK", "ERR", "RHE", "XXX");
      const body = Buffer.alloc(Math.floor(dice() * pick(8, 40, 300, 9_000)));
      for (let i = 0; i < body.length; i += 1) body[i] = pick(0, 0, 0xff, Math.floor(dice() * 256));
      const bytes = frame(`${type}${pick("F", "F", "C", "A", "Z")}`, body);
      const lie = pick(0, 0, 0, 7, 8, 4_097, 8_193, 600_000, 0x7fff_ffff, 0xffff_ffff);
      if (lie !== 0) bytes.writeUInt32LE(lie, 4);
      return pick(bytes, bytes, bytes, bytes.subarray(0, Math.floor(dice() * bytes.length)));
    };
    const scripts = Array.from({ length: 300 }, () => {
      const frames = Array.from({ length: 1 + Math.floor(dice() * 4) }, random);
      return pick(once(...frames), once(hello(), ...frames), afterAck(...frames), afterAck(...frames));
    });
    await hold(scripts);
    expect(closedOf(running)).toBeGreaterThan(100);
  }, 60_000);

  it("send a session's own frames with a certificate cut short, and harm nobody", async () => {
    const recorded = await recordSession(running);
    const last = recorded.findIndex((bytes) => bytes.indexOf(CERTIFICATE_START) !== -1);
    const turns = recorded.slice(0, last + 1).map((bytes) => Buffer.from(bytes));
    const create = turns[last];
    if (create === undefined) throw new Error("no request carried a certificate");
    // The length that the certificate says of itself is then more than there is.
    const start = create.indexOf(CERTIFICATE_START);
    create[start + 2] = 0xff;
    // Before it stand its length and the nonce, which may not come twice.
    create.fill(7, start - 36, start - 4);
    const before = Number(closedOf(running));
    const script = inTurn(turns);
    // The server closes it. On a busy machine that takes longer than the other scripts may be silent.
    await exchange(running.url, script, 20_000);
    expect(closedOf(running)).toBe(before + 1);
    await hold([]);
  });

  it("send a session's own frames, spoilt, and harm nobody", async () => {
    const recorded = await recordSession(running);
    expect(recorded.length).toBeGreaterThan(6);
    const dice = seededRandom(SEED + 1);
    const spoilt = (bytes: Buffer): Buffer => {
      const copy = Buffer.from(bytes);
      const count = dice() < 0.4 ? 0 : 1 + Math.floor(dice() * 6);
      for (let i = 0; i < count; i += 1) {
        const at = 12 + Math.floor(dice() * (copy.length - 12));
        copy[at] = dice() < 0.5 ? 0xff : Math.floor(dice() * 256);
      }
      if (dice() < 0.15) {
        const shorter = copy.subarray(0, 32 + Math.floor(dice() * (copy.length - 32)));
        shorter.writeUInt32LE(shorter.length, 4);
        return shorter;
      }
      return copy;
    };
    const scripts = Array.from({ length: 300 }, (): Script => {
      const frames = recorded.map(spoilt);
      frames[0] = hello();
      return inTurn(frames);
    });
    await hold(scripts);
  }, 60_000);
});

it("connections with unfinished requests are bounded all together, and others are served", async () => {
  const running = await startServer();
  const chunk = Buffer.alloc(60_000);
  const channels = await Promise.all(Array.from({ length: 6 }, () => openRawChannel(running.url)));
  // 6 × 7 MB: each alone would be within the bound of a request.
  for (const channel of channels) {
    for (let count = 0; count < 116; count += 1) channel.send(channel.message("C", chunk));
  }
  await Promise.race(channels.map(({ closed }) => closed));
  await expectAnswers(running);
  expect(closedOf(running)).toBeGreaterThan(0);
  for (const channel of channels) channel.hangUp();
  await running.stop();
  expect(escaped).toEqual([]);
});

it("a connection that sends nothing, or a Hello alone, is closed after 30 s", async () => {
  const clock = createManualClock();
  const running = await startServer({}, { clock });
  const { hostname, port } = new URL(running.url.replace("opc.tcp", "tcp"));
  const answered = [hello(), null].map((bytes) => {
    const socket = connect({ host: hostname, port: Number(port) });
    const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
    socket.resume();
    if (bytes !== null) socket.write(bytes);
    return {
      closed,
      ready: new Promise<void>((resolve) =>
        socket.once(bytes === null ? "connect" : "data", () => resolve()),
      ),
    };
  });
  const channel = await openRawChannel(running.url);
  await Promise.all(answered.map(({ ready }) => ready));
  await expectAnswers(running);
  clock.advance(29_000);
  expect(closedOf(running)).toBe(0);
  clock.advance(1_001);
  expect(closedOf(running)).toBe(2);
  await Promise.all(answered.map(({ closed }) => closed));
  await expectAnswers(running);
  channel.hangUp();
  await running.stop();
});
