import { fromBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import {
  encodePayload,
  type MetricModel,
  readPayload,
  type Sample,
} from "../../../../src/northbound/mqtt/sparkplug/payload.ts";
import { PayloadSchema } from "../../../../src/wire/sparkplug/payload_pb.js";
import { decode, field } from "../../../support/sparkplug/payload.ts";

const AT_MS = 1_750_000_000_000;
const sample = (
  type: MetricModel["type"],
  value: Sample["value"],
  changed: Partial<Sample> & Partial<MetricModel> = {},
): Sample => ({
  model: { name: changed.name ?? "Metric", type, ...(changed.unit ? { unit: changed.unit } : {}) },
  alias: 7,
  value,
  quality: "good",
  atMs: AT_MS,
  ...changed,
});
const decoded = (samples: readonly Sample[], isBirth = true) =>
  decode(encodePayload({ atMs: AT_MS, seq: 255, samples, isBirth }));

test.each<[MetricModel["type"], Sample["value"]]>([
  ["Int32", 0],
  ["Int32", -1],
  ["Int32", 2 ** 31 - 1],
  ["Int32", -(2 ** 31)],
  ["Int64", 127],
  ["Int64", 128],
  ["Int64", Number.MAX_SAFE_INTEGER],
  ["DateTime", AT_MS],
  ["Double", -0.1],
  ["Double", Number.MAX_VALUE],
  ["Boolean", true],
  ["Boolean", false],
  ["String", ""],
  ["String", "Fördertechnik 🤖"],
  ["String", "x".repeat(127)],
  ["String", "ä".repeat(64)],
  ["String", "x".repeat(20_000)],
])("a foreign decoder reads %s %s", (type, value) => {
  expect(decoded([sample(type, value)])?.metrics[0]).toMatchObject({ value, isNull: false, atMs: AT_MS });
});

test.each([-1, Number.MIN_SAFE_INTEGER])(
  "Int64 %s is in the unsigned field, as two's complement",
  (value) => {
    const samples = [sample("Int64", value)];
    const [metric] = fromBinary(
      PayloadSchema,
      encodePayload({ atMs: 0, seq: 0, samples, isBirth: true }),
    ).metrics;
    expect(metric?.value).toEqual({ case: "longValue", value: BigInt.asUintN(64, BigInt(value)) });
  },
);

test("half of a surrogate pair is a replacement character", () => {
  expect(decoded([sample("String", "a\ud83eb")])?.metrics[0]?.value).toBe("a\ufffdb");
});

test("a large birth keeps every metric, its name, alias, unit and quality", () => {
  const unit = { name: "%".repeat(130), low: 0, high: 100 };
  const samples = Array.from({ length: 1_000 }, (_, index) =>
    sample("Int32", index, { name: `Metric/${index}/${"n".repeat(index)}`, alias: index * 1_000_003, unit }),
  );
  const stale: Sample = sample("String", null, { quality: "stale", alias: null });
  const read = decoded([...samples, stale]);
  expect(read).toMatchObject({ seq: 255, atMs: AT_MS });
  for (const [index, { model, alias }] of samples.entries())
    expect(read?.metrics[index]).toMatchObject({ name: model.name, alias, value: index, datatype: 3 });
  expect(read?.metrics[999]?.properties).toMatchObject({
    keys: ["engUnit", "engLow", "engHigh"],
    values: [{ value: unit.name }, { value: 0 }, { value: 100 }],
  });
  expect(read?.metrics[1_000]).toMatchObject({
    ...{ isNull: true, alias: null, name: "Metric" },
    properties: { keys: ["Quality"], values: [{ value: 500 }] },
  });
});

test("data have the alias alone, and are in the order of their times", () => {
  const read = decoded([sample("Int32", 2), sample("Int32", 1, { atMs: -5, isHistorical: true })], false);
  expect(
    read?.metrics.map(({ name, alias, value, atMs, isHistorical }) => [
      name,
      alias,
      value,
      atMs,
      isHistorical,
    ]),
  ).toEqual([
    [null, 7, 1, 0, true],
    [null, 7, 2, AT_MS, false],
  ]);
});

test("no metric of a birth is of later than the birth", () => {
  const late = [sample("Int32", 1, { atMs: AT_MS + 5 })];
  expect(decoded(late)?.metrics[0]?.atMs).toBe(AT_MS);
  expect(decoded(late, false)?.metrics[0]?.atMs).toBe(AT_MS + 5);
});

const named = (...more: readonly Buffer[]) =>
  readPayload(field(2, Buffer.concat([field(1, Buffer.from("Commands/Request")), ...more])));

test("what a command has besides name, alias and value is passed over", () => {
  const text = field(15, Buffer.from("text"));
  const expected = [
    { name: "Commands/Request", alias: 5, datatype: null, isHistorical: false, value: "text" },
  ];
  const nothing = Buffer.alloc(0);
  for (const other of [nothing, field(9, text), field(17, text), field(18, field(2, text)), field(16, text)])
    expect(named(Buffer.from([0x10, 5]), other, text)).toEqual(expected);
  expect(named(text, Buffer.from([0x38, 1]))).toMatchObject([{ value: null }]);
  for (const cut of [[0x10], [0x7a, 200, 1], [0x0b]]) expect(named(Buffer.from(cut))).toBeNull();
});

test("a message or a metric of very many fields is not worked through", () => {
  const many = Buffer.alloc(300 * 1024, Buffer.from([0x10, 1]));
  expect(named(many)).toBeNull();
  expect(readPayload(Buffer.alloc(300 * 1024, Buffer.from([0x18, 1])))).toBeNull();
});

test("many properties, rows or templates of a command cost no more than its bytes", () => {
  const size = 256 * 1024;
  const many = (tag: number) =>
    Buffer.from(
      Array(size / 2)
        .fill([tag, 0])
        .flat(),
    );
  // Processor time: what else the machine does does not count.
  const millis = (content: Buffer) => {
    const began = process.cpuUsage();
    for (let time = 0; time < 5; time += 1) expect(named(content)).toHaveLength(1);
    const { user, system } = process.cpuUsage(began);
    return (user + system) / 1_000;
  };
  const plain = millis(field(15, Buffer.alloc(size, 0x61)));
  for (const number of [9, 17, 18]) expect(millis(field(number, many(0x12)))).toBeLessThan(50 * plain + 50);
});
