import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { afterEach, beforeEach, expect, it } from "vitest";

let running: ChildProcess;
let port: number;
let ca: string;

beforeEach(async () => {
  running = fork(join(import.meta.dirname, "child.mjs"));
  const [told] = await once(running, "message");
  ({ port, ca } = told);
});
afterEach(() => {
  running.kill("SIGKILL");
});

/** A TLS client's wire: its ClientHello passes, and what it sends after that at the release, in one piece. */
class HeldFlight extends Duplex {
  readonly #socket: Socket;
  readonly #held: Buffer[] = [];
  #hasGreeted = false;
  #onHeld = () => {};
  /** Resolves when something is held. */
  readonly isHeld = new Promise<void>((resolve) => {
    this.#onHeld = resolve;
  });

  constructor(socket: Socket) {
    super();
    this.#socket = socket;
    socket.on("data", (bytes) => this.push(bytes));
    socket.on("close", () => this.destroy());
    socket.on("error", () => {});
  }

  override _read(): void {}

  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    if (this.#hasGreeted) {
      this.#held.push(bytes);
      this.#onHeld();
    } else this.#socket.write(bytes);
    this.#hasGreeted = true;
    done();
  }

  release(): void {
    if (this.#socket.writable) this.#socket.write(Buffer.concat(this.#held.splice(0)));
  }
}

/** The preface of HTTP/2, and a SETTINGS frame that sets nothing. */
const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");

/** Greets the server; resolves when it has answered, and the client holds back the end of the handshake. */
async function greet(): Promise<{ readonly flight: HeldFlight; readonly closed: Promise<unknown> }> {
  const socket = connect(port, "127.0.0.1");
  const flight = new HeldFlight(socket);
  const client = connectTls({ socket: flight, host: "127.0.0.1", ca, ALPNProtocols: ["h2"] });
  client.on("error", () => {});
  client.write(preface);
  await flight.isHeld;
  return { flight, closed: new Promise((resolve) => socket.once("close", resolve)) };
}

async function isAlive(): Promise<boolean> {
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ca });
  session.on("error", () => {});
  const stream = session.request({ ":path": "/livez" });
  const answer = await Promise.race([
    once(stream, "response").then(([headers]) => headers[":status"] === 200),
    new Promise<boolean>((resolve) => stream.once("error", () => resolve(false))),
  ]);
  session.destroy();
  return answer;
}

async function expectAlive(): Promise<void> {
  expect(await isAlive()).toBe(true);
  expect([running.exitCode, running.signalCode]).toEqual([null, null]);
}

it("outlives a client that finishes its handshake after the limit, and then speaks HTTP/2", async () => {
  const failed = once(running, "message");
  const { flight, closed } = await greet();
  const [limit] = await failed;
  expect(limit).toEqual({ code: "ERR_TLS_HANDSHAKE_TIMEOUT" });
  flight.release();
  await closed;
  await expectAlive();
});

it("outlives a pause of its process beyond the limit while a client connects", async () => {
  const { flight, closed } = await greet();
  running.kill("SIGSTOP");
  flight.release();
  // Real time: the limit of 5 s passes while the process stands still.
  await new Promise((resolve) => setTimeout(resolve, 6_500));
  running.kill("SIGCONT");
  await closed;
  await expectAlive();
});
