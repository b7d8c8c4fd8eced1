import { once } from "node:events";
import { type ClientHttp2Session, connect as http2Connect } from "node:http2";
import { type Socket, connect as tcpConnect } from "node:net";
import { connect as tlsConnect } from "node:tls";
import { type DescMethod, getOption, hasOption } from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TaskService } from "../../src/wire/fleet/http/v1/task_pb.js";
import { route } from "../../src/wire/fleet/options/v1/route_pb.js";
import { FleetService } from "../../src/wire/fleet/v1/service_pb.js";
import type { FleetClient } from "../support/fleet-client.ts";
import { https } from "../support/https.ts";
import { type RunningSimulator, startSimulator } from "../support/simulator.ts";

/**
 * What `test/simulator/grpc/arbitrary-requests.test.ts` throws at the operations
 * are messages; here come bytes, JSON of any shape, and what is no request at all.
 */
const RUNS = 30;
let simulator: RunningSimulator;
let client: FleetClient;
let token: string;

beforeAll(async () => {
  simulator = await startSimulator({
    confirmWaitMs: 1,
    timeFactor: 100,
    resolve: async () => ["93.184.216.34"],
  });
  client = await simulator.client();
  token = await simulator.token();
});
afterAll(() => simulator.stop());

const ourFault: readonly number[] = [status.INTERNAL, status.UNKNOWN];
const streams = FleetService.methods.filter(({ methodKind }) => methodKind === "server_streaming");
const routed = [...FleetService.methods, ...TaskService.methods].filter((method) => hasOption(method, route));
const named = (methods: readonly DescMethod[]) => methods.map((method) => [method.name, method] as const);

/** Holds that the service still answers as it should, on both ports. */
async function expectUp(): Promise<void> {
  expect((await simulator.rest("GET", "/amr/onlineAmr")).status).toBe(200);
  expect((await client.call(FleetService.method.getConveyorIndex, { robotId: "cart-01" })).indexes).toEqual([
    1, 2,
  ]);
}

test.each(named(streams))("%s takes any bytes", async (name) => {
  const { serverStream } = rawStreams();
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 64 }), async (bytes) => {
      expect(ourFault).not.toContain(await serverStream(`/${FleetService.typeName}/${name}`, framed(bytes)));
    }),
    { numRuns: RUNS },
  );
  await expectUp();
});

test("a gRPC call takes any frames, also cut off, doubled and with a flag that nobody knows", async () => {
  const { serverStream } = rawStreams();
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 64 }), async (bytes) => {
      expect(ourFault).not.toContain(await serverStream(`/${FleetService.typeName}/CreateMission`, bytes));
    }),
    { numRuns: 2 * RUNS },
  );
  await expectUp();
});

test.each(named(routed))("REST %s takes any JSON and any bytes", async (_, method) => {
  const { verb, path } = getOption(method, route);
  const body = fc.oneof(fc.json(), fc.uint8Array({ maxLength: 64 }), fc.string());
  const id = fc.oneof(
    fc.integer().map(String),
    fc.webSegment().filter((text) => text !== "." && text !== ".."),
  );
  await fc.assert(
    fc.asyncProperty(body, id, fc.webQueryParameters(), async (sent, inPath, query) => {
      const url = `${path.replace(/\{\w+\}/, inPath)}?${query}`;
      const answer = await simulator.rest(verb, url, verb === "GET" ? undefined : sent);
      expect(answer.status, answer.text).not.toBe(500);
      expect(answer.headers["grpc-status"]).toMatch(/^\d+$/);
    }),
    { numRuns: RUNS },
  );
  await expectUp();
});

test("the exchange takes anything: 400 or 401, and explains", async () => {
  const url = `${simulator.endpoints.https}/authorizeApiAccess`;
  const word = fc.oneof(fc.string(), fc.jsonValue());
  const document = fc.record({ api_key: word, scope: word, secret: word }, { requiredKeys: [] });
  const body = fc.oneof(
    document.map((each) => JSON.stringify(each)),
    fc.json(),
    fc.uint8Array({ maxLength: 64 }),
  );
  await fc.assert(
    fc.asyncProperty(body, async (sent) => {
      const answer = await https({ url, ca: simulator.ca, method: "POST", body: sent });
      expect([400, 401]).toContain(answer.status);
      expect(answer.json()).toEqual({ code: expect.any(String), message: expect.stringMatching(/./) });
    }),
    { numRuns: 3 * RUNS },
  );
  await expectUp();
});

test("any Authorization header is a token, or UNAUTHENTICATED", async () => {
  const url = `${simulator.endpoints.https}/v1/webhook/list`;
  const [header, claims, signature] = token.split(".");
  const part = fc.oneof(fc.base64String(), fc.constantFrom(header, claims, signature));
  const jwt = fc.tuple(part, part, part).map((parts) => parts.join("."));
  const value = fc.oneof(
    jwt,
    fc.string().filter((text) => /^[\x21-\x7e]*$/.test(text)),
  );
  await fc.assert(
    fc.asyncProperty(value, async (text) => {
      fc.pre(text !== token);
      const headers = { authorization: `Bearer ${text}` };
      expect((await https({ url, ca: simulator.ca, method: "POST", headers, body: {} })).status).toBe(401);
    }),
    { numRuns: 3 * RUNS },
  );
  await expectUp();
});

test.each(["gRPC", "HTTPS"])(
  "the %s port takes any bytes, before the handshake and behind it",
  async (which) => {
    const { grpc, https: httpsUrl } = simulator.endpoints;
    const port = Number((which === "gRPC" ? grpc : new URL(httpsUrl).host).split(":")[1]);
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 200 });
    const open = {
      plain: () => tcpConnect(port, "127.0.0.1"),
      encrypted: () =>
        tlsConnect({
          port,
          host: "127.0.0.1",
          servername: "localhost",
          ca: simulator.ca,
          ALPNProtocols: which === "gRPC" ? ["h2"] : ["http/1.1"],
        }),
    };
    for (const kind of ["plain", "encrypted"] as const) {
      await fc.assert(
        fc.asyncProperty(bytes, async (sent) => {
          const socket: Socket = open[kind]();
          // How the service parts from somebody like this is its own affair.
          socket.on("error", () => {});
          socket.resume();
          await once(socket, kind === "plain" ? "connect" : "secureConnect");
          socket.end(sent);
          await once(socket, "close");
        }),
        { numRuns: RUNS },
      );
    }
    await expectUp();
  },
);

/** A message as gRPC frames it. */
function framed(bytes: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

/** Calls that grpc-js would not make: with any bytes where the frames should be. */
function rawStreams() {
  const session: ClientHttp2Session = http2Connect(`https://${simulator.endpoints.grpc}`, {
    ca: simulator.ca,
  });
  session.unref();
  return {
    /** The call's grpc-status, or OK where the stream stays open and sends messages. */
    async serverStream(path: string, body: Uint8Array): Promise<number> {
      const call = session.request({
        ":method": "POST",
        ":path": path,
        "content-type": "application/grpc",
        te: "trailers",
        authorization: `Bearer ${token}`,
      });
      call.end(body);
      const code = await new Promise<number>((resolve, reject) => {
        call.on("response", (headers) => {
          const atOnce = headers["grpc-status"];
          if (atOnce !== undefined) resolve(Number(atOnce));
        });
        call.on("trailers", (trailers) => resolve(Number(trailers["grpc-status"])));
        call.on("data", () => resolve(status.OK));
        call.on("error", reject);
      });
      call.close();
      return code;
    },
  };
}
