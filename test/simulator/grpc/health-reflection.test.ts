import { create, createFileRegistry, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { Client, status } from "@grpc/grpc-js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { tlsCredentials } from "../../../src/platform/grpc-channel.ts";
import {
  Health,
  HealthCheckResponse_ServingStatus as Serving,
} from "../../../src/wire/grpc/health/v1/health_pb.js";
import {
  type ServerReflectionRequest,
  ServerReflectionRequestSchema,
  type ServerReflectionResponse,
  ServerReflectionResponseSchema,
} from "../../../src/wire/grpc/reflection/v1/reflection_pb.js";
import { type RunningSimulator, startSimulator } from "../../support/simulator.ts";

const MAKER = "maker.api.Robots";
let simulator: RunningSimulator;
let raw: Client;
beforeAll(async () => {
  simulator = await startSimulator({ serviceNames: ["fleet.v1.FleetService", MAKER] });
  raw = new Client(simulator.endpoints.grpc, tlsCredentials({ ca: String(simulator.ca), client: null }));
});
afterAll(async () => {
  raw.close();
  await simulator.stop();
});

test("health answers without a token, and does not know what is not served", async () => {
  const client = await simulator.client({ token: "" });
  expect((await client.call(Health.method.check, {})).status).toBe(Serving.SERVING);
  expect((await client.call(Health.method.check, { service: MAKER })).status).toBe(Serving.SERVING);
  await expect(client.call(Health.method.check, { service: "nobody.Knows" })).rejects.toMatchObject({
    code: status.NOT_FOUND,
  });
  const watch = client.stream(Health.method.watch, { service: "nobody.Knows" });
  expect((await watch.next()).status).toBe(Serving.SERVICE_UNKNOWN);
  watch.cancel();
});

/** Asks reflection several things on one stream, as generic clients do. */
async function ask(
  service: string,
  ...questions: ReadonlyArray<ServerReflectionRequest["messageRequest"]>
): Promise<ServerReflectionResponse[]> {
  const pass = (bytes: Buffer) => bytes;
  const call = raw.makeBidiStreamRequest(`/${service}/ServerReflectionInfo`, pass, pass);
  for (const messageRequest of questions) {
    call.write(
      Buffer.from(
        toBinary(ServerReflectionRequestSchema, create(ServerReflectionRequestSchema, { messageRequest })),
      ),
    );
  }
  call.end();
  const answers: ServerReflectionResponse[] = [];
  for await (const bytes of call) answers.push(fromBinary(ServerReflectionResponseSchema, bytes));
  return answers;
}

test.each(["grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"])(
  "%s lists the services, and describes each so that a client can call it",
  async (service) => {
    const [list, bySymbol, byName, unknown] = await ask(
      service,
      { case: "listServices", value: "" },
      { case: "fileContainingSymbol", value: MAKER },
      { case: "fileByFilename", value: "fleet/v1/mission.proto" },
      { case: "fileContainingSymbol", value: "nobody.Knows" },
    );
    const names =
      list?.messageResponse.case === "listServicesResponse" ? list.messageResponse.value.service : [];
    expect(names.map(({ name }) => name)).toEqual([
      "fleet.v1.FleetService",
      MAKER,
      "grpc.health.v1.Health",
      "grpc.reflection.v1.ServerReflection",
    ]);
    const registry = createFileRegistry(
      create(FileDescriptorSetSchema, { file: inOrder(filesOf(bySymbol)) }),
    );
    const described = registry.getService(MAKER);
    expect(described?.methods.map(({ name }) => name)).toContain("SubscribeMissionStatus");
    expect(described?.method.createMission?.input.typeName).toBe("fleet.v1.CreateMissionRequest");
    expect(filesOf(byName)[0]?.name).toBe("fleet/v1/mission.proto");
    expect(unknown?.messageResponse).toMatchObject({ case: "errorResponse", value: { errorCode: 5 } });
  },
);

function filesOf(answer: ServerReflectionResponse | undefined): FileDescriptorProto[] {
  if (answer?.messageResponse.case !== "fileDescriptorResponse") return [];
  return answer.messageResponse.value.fileDescriptorProto.map((bytes) =>
    fromBinary(FileDescriptorProtoSchema, bytes),
  );
}

/** The registry wants each file behind those it imports; reflection promises no order. */
function inOrder(files: readonly FileDescriptorProto[]): FileDescriptorProto[] {
  const placed: FileDescriptorProto[] = [];
  const place = (file: FileDescriptorProto | undefined) => {
    if (file === undefined || placed.includes(file)) return;
    for (const name of file.dependency) place(files.find((candidate) => candidate.name === name));
    placed.push(file);
  };
  for (const file of files) place(file);
  return placed;
}
