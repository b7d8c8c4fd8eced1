import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { askGateway, CallFailed, sendCommand } from "../../src/cli/control-client.ts";

let folder: string;
let socketPath: string;
let server: Server;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fleetgate-client-"));
  socketPath = join(folder, "control.sock");
});
afterEach(async () => {
  server.close();
  server.closeAllConnections();
  await rm(folder, { recursive: true });
});

/** A gateway that answers as a test says. */
async function serve(answer: RequestListener): Promise<void> {
  server = createServer(answer).listen(socketPath);
  await once(server, "listening");
}

const stages: unknown[] = [];
const send = () =>
  sendCommand(socketPath, "c1", {}, (stage) => stages.push(stage), new AbortController().signal).catch(
    (error: unknown) => error,
  );

describe("the client of the control socket", () => {
  it("does not call a command unsent that the gateway took before it ended", async () => {
    await serve((_request, response) => {
      // Nothing listens any more when the client asks again.
      server.close();
      response.writeHead(202, { connection: "close" }).end('{"id":"c1","stage":"sent"}');
    });
    expect(await send()).toMatchObject({ message: `no gateway runs behind ${socketPath}`, wasSent: true });
    expect(stages).toEqual([{ id: "c1", stage: "sent" }]);
  });

  it("takes no refusal for the outcome of a command that the gateway took", async () => {
    const stopping = { outcome: "refused", code: "SHUTTING_DOWN", detail: "it stops", retry_safe: true };
    const answers: ReadonlyArray<readonly [number, object]> = [
      [202, { id: "c1", stage: "sent" }],
      [503, stopping],
    ];
    let asked = 0;
    await serve((_request, response) => {
      const [status, body] = answers[asked] ?? [500, {}];
      asked += 1;
      response.writeHead(status).end(JSON.stringify(body));
    });
    expect(await send()).toMatchObject({ message: "the gateway answered 503: it stops", wasSent: true });
  });

  it("pauses before it asks again, where the gateway does not let it wait", async () => {
    const askedAtMs: number[] = [];
    await serve((_request, response) => {
      askedAtMs.push(performance.now());
      if (askedAtMs.length < 3) response.writeHead(202).end('{"id":"c1","stage":"sent"}');
      else response.end('{"outcome":"succeeded"}');
    });
    expect(await send()).toMatchObject({ outcome: "succeeded" });
    const [first = 0, , third = 0] = askedAtMs;
    expect(third - first).toBeGreaterThan(800);
  });

  it.each<[string, RequestListener, Partial<CallFailed>]>([
    [
      "closes the connection",
      ({ socket }) => void socket.destroy(),
      { message: "the gateway closed the connection before it told the outcome", wasSent: true },
    ],
    [
      "answers no object",
      (_request, response) => void response.end("[]"),
      { message: "the gateway's answer is no JSON object", wasSent: true },
    ],
    [
      "does not have the address",
      (_request, response) => void response.writeHead(404).end('{"detail":"no such thing"}'),
      { message: "the gateway answered 404: no such thing", wasSent: false },
    ],
    [
      "answers without end",
      (_request, response) => {
        const more = () => void (response.write(`"${"x".repeat(1_000_000)}`) ? setImmediate(more) : null);
        response.on("drain", more);
        more();
      },
      { message: "the gateway's answer is too long", wasSent: true },
    ],
  ])("says what a gateway did that %s", async (_what, answer, failure) => {
    await serve(answer);
    const error = await send();
    expect(error).toBeInstanceOf(CallFailed);
    expect(error).toMatchObject(failure);
  });
});

describe("a question to the control socket", () => {
  const ask = () =>
    askGateway(
      socketPath,
      { method: "GET", path: "/api/v1/status", timeoutMs: 200 },
      new AbortController().signal,
    ).catch((error: unknown) => error);

  it.each<[string, RequestListener, RegExp]>([
    ["nothing", () => {}, /^the gateway has not answered within 0.2 s$/],
    [
      "half",
      (_request, response) => void response.writeHead(200, { "content-length": 100 }).write("{"),
      /^the gateway has not answered within 0.2 s$/,
    ],
    [
      "garbage",
      (_request, response) => void response.end("\x1b[2J"),
      /^the connection to the gateway failed: /,
    ],
    [
      "what is no HTTP",
      ({ socket }) => void socket.end("\x1b[2J\r\n\r\n"),
      /^the connection to the gateway failed: /,
    ],
    [
      "the end of its connection",
      ({ socket }) => void socket.destroy(),
      /^the gateway closed the connection before it answered$/,
    ],
  ])("that is answered with %s was only a question", async (_what, answer, message) => {
    await serve(answer);
    expect(await ask()).toMatchObject({ message: expect.stringMatching(message), wasSent: false });
  });
});
