import { mkdtempSync, rmSync } from "node:fs";
import { readdir, rename } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  AttributeIds,
  type BinaryStream,
  DataType,
  ReadRequest,
  ServiceFault,
  type StatusCode,
  StatusCodes,
  Variant,
  WriteRequest,
} from "node-opcua";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  openApprovedSession,
  openSession,
  type RunningServer,
  scada,
  scadaLogin,
  startServer,
} from "./opcua-harness.ts";
import { encoded, openRawChannel, type RawChannel } from "./raw-client.ts";

const dataDir = mkdtempSync(join(tmpdir(), "fleetgate-opcua-undecodable-"));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const SERVICE_FAULT = 397;
const HANDLE = 4_711;
const nodeId = "ns=0;i=2258";

const read = () =>
  new ReadRequest({
    requestHeader: { requestHandle: HANDLE },
    nodesToRead: [{ nodeId, attributeId: AttributeIds.Value }],
  });

/** A write whose value is these bytes, as a Variant's are. */
function writeOf(variant: Buffer): Buffer {
  const mark = 0x1234_5678;
  const whole = encoded(
    new WriteRequest({
      requestHeader: { requestHandle: HANDLE },
      nodesToWrite: [
        {
          nodeId,
          attributeId: AttributeIds.Value,
          value: { value: new Variant({ dataType: DataType.UInt32, value: mark }) },
        },
      ],
    }),
  );
  const bytes = Buffer.alloc(5);
  bytes.writeUInt8(DataType.UInt32);
  bytes.writeUInt32LE(mark, 1);
  const at = whole.indexOf(bytes);
  if (at === -1) throw new Error("the value is not where it was expected");
  return Buffer.concat([whole.subarray(0, at), variant, whole.subarray(at + bytes.length)]);
}

/** A structure of OPC UA itself, in a Variant. @param encoding the NodeId of its binary encoding */
function structure(encoding: number, body: Buffer, length = body.length): Buffer {
  const head = Buffer.from([DataType.ExtensionObject, 1, 0, encoding & 0xff, encoding >> 8, 1, 0, 0, 0, 0]);
  head.writeUInt32LE(length, 6);
  return Buffer.concat([head, body]);
}
const RANGE = 886;
const EVENT_FILTER = 727;
/** An EventFilter that selects nothing, and whose where clause has so many elements. */
function filterOf(elements: number): Buffer {
  const body = Buffer.alloc(8);
  body.writeUInt32LE(elements, 4);
  return structure(EVENT_FILTER, body);
}

const { BadDecodingError, BadEncodingLimitsExceeded } = StatusCodes;
const undecodable: ReadonlyArray<readonly [string, Buffer, StatusCode]> = [
  ["that is cut short", encoded(read()).subarray(0, -3), BadDecodingError],
  ["with a Variant of type 31", writeOf(Buffer.from([31, 0, 0, 0, 0])), BadDecodingError],
  [
    "with Variants nested 1,000 deep",
    writeOf(Buffer.from([...Buffer.alloc(1_000, DataType.Variant), 1, 1])),
    BadDecodingError,
  ],
  ["with a structure that is too short", writeOf(structure(RANGE, Buffer.alloc(8))), BadDecodingError],
  ["with a structure that is too long", writeOf(structure(RANGE, Buffer.alloc(20))), BadDecodingError],
  ["with the start of a filter", writeOf(filterOf(3)), BadDecodingError],
  ["with a filter of 30,000 elements", writeOf(filterOf(30_000)), BadEncodingLimitsExceeded],
];

describe("a request that cannot be decoded", () => {
  let running: RunningServer;
  let raw: RawChannel;
  beforeAll(async () => {
    running = await startServer();
    raw = await openRawChannel(running.url);
  });
  afterAll(async () => {
    raw.hangUp();
    await running.stop();
  });
  const countOf = () => Number(running.server.health().figures?.requestsUndecodable);

  it.each(undecodable)("%s is answered with a ServiceFault of its handle", async (_what, body, status) => {
    const before = countOf();
    const answer = await raw.ask(body);
    expect(answer?.type).toBe(SERVICE_FAULT);
    const { responseHeader } = answer?.read(new ServiceFault()) ?? new ServiceFault();
    expect(responseHeader.serviceResult).toBe(status);
    expect(responseHeader.requestHandle).toBe(HANDLE);
    expect(countOf()).toBe(before + 1);
    // The channel goes on.
    expect((await raw.call(read()))?.status).toBe(StatusCodes.BadSessionIdInvalid.value);
  });

  it("is told from one with a whole structure", async () => {
    const before = countOf();
    const answer = await raw.ask(writeOf(structure(RANGE, Buffer.alloc(16))));
    expect(answer?.status).toBe(StatusCodes.BadSessionIdInvalid.value);
    expect(countOf()).toBe(before);
  });

  it("in its header is answered with handle 0", async () => {
    const answer = await raw.ask(encoded(read()).subarray(0, 8));
    const { responseHeader } = answer?.read(new ServiceFault()) ?? new ServiceFault();
    expect(responseHeader.serviceResult).toBe(StatusCodes.BadDecodingError);
    expect(responseHeader.requestHandle).toBe(0);
  });
});

/** It ends where its nodes would begin. */
class CutReadRequest extends ReadRequest {
  override encode(stream: BinaryStream): void {
    this.requestHeader.encode(stream);
    stream.writeFloat(0);
  }
}

it("over an encrypted channel it is answered too", async () => {
  const running = await startServer({ dataDir, users: [scada], insecureLoopback: null });
  await expect(openSession(running.url, scadaLogin)).rejects.toThrow();
  const folder = join(dataDir, "opcua", "server");
  for (const name of await readdir(join(folder, "rejected")))
    await rename(join(folder, "rejected", name), join(folder, "trusted", "certs", name));
  const plc = await openApprovedSession(running.url, scadaLogin);
  const send: unknown = Reflect.get(plc.session, "performMessageTransaction");
  if (typeof send !== "function") throw new Error("node-opcua's client sends its requests elsewhere now");
  const cut = new CutReadRequest({ nodesToRead: [{ nodeId, attributeId: AttributeIds.Value }] });
  await expect(send.call(plc.session, cut)).rejects.toThrow("BadDecodingError");
  const { statusCode } = await plc.session.read({ nodeId, attributeId: AttributeIds.Value });
  expect(statusCode).toBe(StatusCodes.Good);
  await plc.close();
  await running.stop();
});
