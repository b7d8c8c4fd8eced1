import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect } from "node:http2";
import { deflateSync, gzipSync } from "node:zlib";
import { create, toBinary } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { status } from "@grpc/grpc-js";
import { expect } from "vitest";
import { deployedLimits } from "../../src/simulator/auth/api-key.ts";
import { CreateMissionRequestSchema, FleetService } from "../../src/wire/fleet/v1/service_pb.js";
import { https } from "../support/https.ts";
import { command, navigate, started, tasks } from "./requests.ts";
import { robotOperations } from "./robot-names.ts";
import { contractTests, restAnswer, type Service } from "./service.ts";

/** A deployed service's own life of tokens and limits of the exchange. */
const { onBoth, overGrpc, overHttp } = contractTests({
  tokenLifeMs: 3_600_000,
  exchangeLimits: deployedLimits,
});

/** Asks the exchange for a token, with any body. */
async function exchange({ simulator }: Service, body: unknown) {
  const url = `${simulator.endpoints.https}/authorizeApiAccess`;
  return https({ url, ca: simulator.ca, method: "POST", body });
}

async function keyDocument({ simulator }: Service): Promise<Record<string, string>> {
  return JSON.parse(await readFile(simulator.endpoints.credentials, "utf8"));
}

onBoth(
  "ERR-48 Operations that name one robot: foreign PERMISSION_DENIED, unknown NOT_FOUND, on all of them",
  async ({ code }) => {
    for (const [operation, request] of robotOperations("globex-01")) {
      expect(`${operation} ${await code(operation, request)}`).toBe(`${operation} PERMISSION_DENIED`);
    }
    for (const [operation, request] of robotOperations("nobody")) {
      expect(`${operation} ${await code(operation, request)}`).toBe(`${operation} NOT_FOUND`);
    }
  },
);

overHttp(
  "ERR-49 Chains, amr_ids and maps: foreign PERMISSION_DENIED, unknown NOT_FOUND",
  async ({ code, done }) => {
    const confirm = tasks(3, ["SYSTEM_CONFIRM", "G2"]);
    const added = await done("AddTaskChain", { taskChain: { amrId: 4_001 }, tasks: confirm }, "globex");
    const foreign = Number(added.taskChainId);
    const reassigned = { sequence: 1, reassignTasks: confirm };
    for (const [expected, amrId, chainId, mapId] of [
      ["PERMISSION_DENIED", 4_001, foreign, 3],
      ["NOT_FOUND", 999_999, 999_999, 999_999],
    ] as const) {
      expect(await code("AddTaskChain", { taskChain: { amrId }, tasks: tasks(1, ["LOAD", "S0-1"]) })).toBe(
        expected,
      );
      expect(await code("PauseRobot", { amr_id: amrId })).toBe(expected);
      expect(await code("ResumeRobot", { amr_id: amrId })).toBe(expected);
      expect(await code("ReassignTaskByAmrId", { amr_id: amrId, ...reassigned })).toBe(expected);
      expect(await code("ReassignTaskByTaskChainId", { task_chain_id: chainId, ...reassigned })).toBe(
        expected,
      );
      expect(await code("FinishTaskChain", { task_chain_id: chainId })).toBe(expected);
      expect(await code("CancelTaskChain", { task_chain_id: chainId, force: true })).toBe(expected);
      expect(await code("GetMap", { map_id: mapId })).toBe(expected);
    }
    expect(await code("QueryTaskChain", { task_chain_ids: [foreign] })).toBe("PERMISSION_DENIED");
    expect(await done("QueryTaskChain", { task_chain_ids: [999_999] })).toEqual({ taskChains: [] });
  },
);

overGrpc(
  "ERR-52 extension set, and bytes that are no protobuf: INVALID_ARGUMENT",
  async ({ client, fresh }) => {
    const { id, stations } = fresh("base");
    const goal = { goal: { case: "destinationId" as const, value: stations[0] } };
    const baseMission = { mission: { case: "navigateMission" as const, value: { goal } } };
    const extension = create(AnySchema, { typeUrl: "type.example/x", value: new Uint8Array([1]) });
    const request = create(CreateMissionRequestSchema, {
      robotId: id,
      mission: { mission: { case: "baseMission", value: baseMission }, extension },
    });
    const path = `/${FleetService.typeName}/CreateMission`;
    const refused = { code: status.INVALID_ARGUMENT };
    await expect(
      client().callBytes(path, toBinary(CreateMissionRequestSchema, request)),
    ).rejects.toMatchObject(refused);
    await expect(client().callBytes(path, new Uint8Array([0xff, 0xff, 0xff]))).rejects.toMatchObject(refused);
  },
);

onBoth(
  "ERR-53 UpdateMission looks at: no mission, unknown id, queued, terminal, in this order",
  async (service) => {
    const { id, stations } = service.fresh("base");
    const code = (missionId: string) => service.code("UpdateMission", command(id, missionId, "PAUSE"));
    expect(await code("any")).toBe("FAILED_PRECONDITION");
    const first = await started(service, id, stations[0]);
    const { missionId } = await service.done("AppendMission", navigate(id, stations[1]));
    const second = String(missionId);
    expect(await code("any")).toBe("INVALID_ARGUMENT");
    expect(await code(second)).toBe("NOT_FOUND");
    await service.done("UpdateMission", command(id, first, "CANCEL"));
    expect(await code(first)).toBe("FAILED_PRECONDITION");
    expect(await code(second)).toBe("OK");
  },
);

overHttp("ERR-54 Exchange, a field missing, of the wrong type, or no JSON: 400", async (service) => {
  const document = await keyDocument(service);
  const malformed: unknown[] = [
    "",
    "no json",
    "[]",
    "null",
    { ...document, secret: 7 },
    { ...document, scope: "" },
  ];
  for (const name of ["api_key", "scope", "secret"]) {
    malformed.push(Object.fromEntries(Object.entries(document).filter(([key]) => key !== name)));
  }
  for (const body of malformed) {
    const answer = await exchange(service, body);
    expect(answer.status).toBe(400);
    expect(restAnswer(answer).code).toBe("INVALID_ARGUMENT");
  }
});

overHttp("ERR-55 Exchange, fields that do not belong together: 401", async (service) => {
  const document = await keyDocument(service);
  for (const wrong of [{ api_key: "acme-two" }, { scope: "globex" }, { secret: "wrong" }]) {
    const answer = await exchange(service, { ...document, ...wrong });
    expect(restAnswer(answer).code).toBe("UNAUTHENTICATED");
  }
  expect((await exchange(service, document)).status).toBe(200);
});

overHttp(
  "ERR-56 Exchange, past 20 in 5 minutes for a key and address, or 100 in 10 for an address: 429",
  async (service) => {
    const { clock } = service;
    const document = await keyDocument(service);
    clock.advance(600_000);
    for (let n = 0; n < 20; n += 1) expect((await exchange(service, document)).status).toBe(200);
    expect(restAnswer(await exchange(service, document)).code).toBe("RESOURCE_EXHAUSTED");
    clock.advance(300_000);
    expect((await exchange(service, document)).status).toBe(200);
    clock.advance(600_000);
    for (let n = 0; n < 100; n += 1) {
      expect((await exchange(service, { ...document, api_key: `key-${n}` })).status).toBe(401);
    }
    expect((await exchange(service, { ...document, api_key: "key-100" })).status).toBe(429);
    clock.advance(600_000);
    expect((await exchange(service, document)).status).toBe(200);
  },
);

onBoth("ERR-57 A call with a JWT that is missing, malformed or expired: UNAUTHENTICATED", async (service) => {
  const { transport, simulator, clock } = service;
  clock.advance(600_000);
  const token = await simulator.token();
  const code = async (jwt: string | null) => {
    if (transport === "rest") {
      return restAnswer(await simulator.rest("POST", "/v1/webhook/list", {}, jwt)).code;
    }
    const client = await simulator.client({ token: jwt ?? "" });
    return client.call(FleetService.method.listWebhooks, {}).then(
      () => "OK",
      (error) => status[error.code],
    );
  };
  expect(await code(token)).toBe("OK");
  const [header, claims, signature] = token.split(".");
  for (const wrong of [null, "nonsense", `${header}.${claims}.${signature}x`, `${header}.${claims}.`]) {
    expect(await code(wrong)).toBe("UNAUTHENTICATED");
  }
  clock.advance(3_599_000);
  expect(await code(token)).toBe("OK");
  clock.advance(1_000);
  expect(await code(token)).toBe("UNAUTHENTICATED");
});

overGrpc(
  "ERR-58 A stream with a JWT that is missing, malformed or expired: UNAUTHENTICATED",
  async ({ simulator, clock }) => {
    clock.advance(600_000);
    const token = await simulator.token();
    const { id } = { id: "annex-2" };
    const robotIds = { selector: { targetId: { case: "robotIds" as const, value: { ids: [id] } } } };
    const codes = async (jwt: string) => {
      const client = await simulator.client({ token: jwt });
      const { method } = FleetService;
      const streams = [
        client.stream(method.subscribeMissionStatus, robotIds),
        client.stream(method.subscribeBatteryStatus, robotIds),
        client.stream(method.subscribeConveyorStatus, { robotId: id }),
      ];
      const found = await Promise.all(
        streams.map((stream) =>
          stream.next().then(
            () => "OK",
            (error) => status[error.code],
          ),
        ),
      );
      for (const stream of streams) stream.cancel();
      return found;
    };
    const unauthenticated = ["UNAUTHENTICATED", "UNAUTHENTICATED", "UNAUTHENTICATED"];
    expect(await codes(token)).toEqual(["OK", "OK", "OK"]);
    expect(await codes("")).toEqual(unauthenticated);
    expect(await codes("nonsense")).toEqual(unauthenticated);
    clock.advance(3_600_000);
    expect(await codes(token)).toEqual(unauthenticated);
  },
);

overHttp(
  "ERR-59 REST errors: the code table's status, grpc-status, percent-encoded grpc-message, and the body",
  async ({ simulator }) => {
    const token = await simulator.token();
    const destinationId = "Tisch 5 % ü";
    const answer = await simulator.rest(
      "POST",
      "/v1/mission/create",
      navigate("aisle-1", destinationId),
      token,
    );
    expect(answer.status).toBe(400);
    expect(answer.headers["grpc-status"]).toBe("3");
    expect(answer.headers["grpc-message"]).toContain("Tisch 5 %25 %C3%BC");
    expect(answer.json()).toEqual({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining(destinationId),
    });
  },
);

overHttp(
  "ERR-62 Task operations: unknown points and task types, and what is no integer: INVALID_ARGUMENT",
  async ({ simulator, fresh }) => {
    const token = await simulator.token();
    const { amrId, codes } = fresh("base");
    const add = (body: unknown) => simulator.rest("POST", "/task/add", body, token);
    const taskChain = { amrId };
    const malformed = [
      {},
      { taskChain },
      { taskChain, tasks: [] },
      { tasks: tasks(1, ["LOAD", codes[0]]) },
      { taskChain, tasks: tasks(1, ["LOAD", "nowhere"]) },
      { taskChain, tasks: tasks(1, ["LOAD", ""]) },
      { taskChain, tasks: tasks(1, ["JUMP", codes[0]]) },
      { taskChain: { amrId: "many" }, tasks: tasks(1, ["LOAD", codes[0]]) },
      { taskChain: { amrId: 2_147_483_648 }, tasks: tasks(1, ["LOAD", codes[0]]) },
      "{",
      "[]",
    ];
    for (const body of malformed) expect(restAnswer(await add(body)).code).toBe("INVALID_ARGUMENT");
    for (const path of [
      "/map/getMapVertexes/one",
      "/taskChain/endFinishPauseIsFalseTask/1.5",
      "/task/getTaskChainByIds?task_chain_ids=x",
    ]) {
      expect(restAnswer(await simulator.rest("GET", path, undefined, token)).code).toBe("INVALID_ARGUMENT");
    }
  },
);

overHttp(
  "ERR-63 A path that is none: NOT_FOUND; a verb that is wrong: 405 UNIMPLEMENTED with Allow",
  async ({ simulator }) => {
    const token = await simulator.token();
    expect(restAnswer(await simulator.rest("POST", "/v1/mission/nothing", {}, token)).code).toBe("NOT_FOUND");
    const answer = await simulator.rest("GET", "/v1/mission/create", undefined, token);
    expect(answer.status).toBe(405);
    expect(answer.headers.allow).toBe("POST");
    expect(answer.json()).toMatchObject({ code: "UNIMPLEMENTED" });
  },
);

overGrpc(
  "ERR-64 A gzip request is taken; another encoding UNIMPLEMENTED, no gzip INVALID_ARGUMENT, too much of it RESOURCE_EXHAUSTED",
  async ({ simulator }) => {
    const session = connect(`https://${simulator.endpoints.grpc}`, { ca: simulator.ca });
    const authorization = `Bearer ${await simulator.token()}`;
    async function ask(payload: Buffer, encoding: string | null, flag = 1) {
      const stream = session.request({
        ":method": "POST",
        ":path": "/fleet.v1.FleetService/ListWebhooks",
        "content-type": "application/grpc",
        te: "trailers",
        authorization,
        ...(encoding === null ? {} : { "grpc-encoding": encoding }),
      });
      const framed = Buffer.concat([Buffer.from([flag, 0, 0, 0, 0]), payload]);
      framed.writeUInt32BE(payload.length, 1);
      stream.end(framed);
      let found: Record<string, unknown> = {};
      for (const event of ["response", "trailers"]) {
        stream.on(event, (headers) => {
          found = { ...found, ...headers };
        });
      }
      stream.resume();
      await once(stream, "close");
      return [Number(found["grpc-status"]), found["grpc-accept-encoding"]];
    }
    const accepted = "identity,gzip";
    expect(await ask(gzipSync(""), "gzip")).toEqual([status.OK, accepted]);
    expect(await ask(Buffer.alloc(0), "gzip", 0)).toEqual([status.OK, accepted]);
    expect(await ask(deflateSync(""), "deflate")).toEqual([status.UNIMPLEMENTED, accepted]);
    for (const encoding of [null, "identity"]) {
      expect(await ask(gzipSync(""), encoding)).toEqual([status.INVALID_ARGUMENT, accepted]);
    }
    expect(await ask(Buffer.from("no gzip"), "gzip")).toEqual([status.INVALID_ARGUMENT, accepted]);
    const bomb = gzipSync(Buffer.alloc(100_000_000));
    expect(await ask(bomb, "gzip")).toEqual([status.RESOURCE_EXHAUSTED, accepted]);
    session.close();
  },
);
