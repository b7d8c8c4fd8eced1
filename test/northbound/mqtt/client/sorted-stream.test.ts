import fc from "fast-check";
import { generate, type Packet } from "mqtt-packet";
import { describe, expect, test } from "vitest";
import {
  createFrameSorter,
  createPublishReader,
  type FrameTakers,
} from "../../../../src/northbound/mqtt/client/sorted-stream.ts";

const isWanted = (topic: string) => topic.startsWith("in/");
const sorter = (
  take: FrameTakers["take"],
  protocolVersion: 4 | 5,
  onTooLong: FrameTakers["onTooLong"] = () => {},
) => createFrameSorter({ protocolVersion, isWanted, take, onTooLong });
const message = fc.record({
  topic: fc.constantFrom("in/a", "in/b", "other/a"),
  qos: fc.constantFrom(0 as const, 1 as const),
  length: fc.oneof(fc.nat(300), fc.constant(2_000)),
});

function packetOf({ topic, qos, length }: { topic: string; qos: 0 | 1; length: number }, at: number): Packet {
  const payload = Buffer.alloc(length, 97);
  const id = qos === 1 ? { messageId: at + 1 } : {};
  return { cmd: "publish", topic, payload, qos, dup: false, retain: false, ...id };
}

/** The bytes in pieces of these lengths, again and again. */
function pieces(bytes: Buffer, lengths: readonly number[]): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const end = at + (lengths[turn % lengths.length] ?? 1);
    found.push(bytes.subarray(at, end));
    at = end;
  }
  return found;
}

test.each([4, 5] as const)(
  "MQTT %i: every byte goes to one side, whole packets, however they are cut",
  (version) => {
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 8 }),
        fc.array(fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constant(65_536)), {
          minLength: 1,
          maxLength: 5,
        }),
        (messages, lengths) => {
          const packets = messages.map(packetOf);
          const encoded = packets.map((packet) => generate(packet, { protocolVersion: version }));
          const taken: Buffer[] = [];
          const sort = sorter((_topic, frame) => taken.push(frame), version);
          const sorted = pieces(Buffer.concat(encoded), lengths).map(sort);
          const isOurs = (at: number) => isWanted(messages[at]?.topic ?? "");
          expect(Buffer.concat(taken)).toEqual(Buffer.concat(encoded.filter((_, at) => isOurs(at))));
          const rest = Buffer.concat(sorted.flatMap(({ rest: left }) => left));
          expect(rest.equals(Buffer.concat(encoded.filter((_, at) => !isOurs(at))))).toBe(true);
          const acks = Buffer.concat(sorted.flatMap(({ acks: some }) => some ?? []));
          const wanted = packets.flatMap((packet, at) =>
            isOurs(at) && packet.cmd === "publish" && packet.qos === 1
              ? [generate({ cmd: "puback", messageId: packet.messageId ?? 0 })]
              : [],
          );
          expect(acks).toEqual(Buffer.concat(wanted));
          const read = createPublishReader(version);
          for (const frame of taken) expect(read(frame)?.topic).toMatch(/^in\//);
        },
      ),
      { numRuns: 40 },
    );
  },
);

describe.each([4, 5] as const)("MQTT %i: a message that is too long is dropped", (version) => {
  const long = { cmd: "publish", payload: Buffer.alloc(400_000), dup: false, retain: false } as const;
  const userProperties = { a: Array.from({ length: 5_000 }, () => "") };
  const properties = { ...long, payload: "", properties: { userProperties } } as const;
  const next = packetOf({ topic: "in/b", qos: 0, length: 5 }, 1);

  test.each([
    [long, "in/a", 0],
    [long, "other/a", 1],
    [long, "x".repeat(60_000), 1],
    ...(version === 5 ? ([0, 1] as const).map((qos) => [properties, "other/a", qos] as const) : []),
  ] as const)(
    "%#: acknowledged, with nothing of it held, and the next one is taken",
    (packet, topic, qos) => {
      const taken: string[] = [];
      const dropped: string[] = [];
      const sort = sorter(
        (name) => taken.push(name),
        version,
        (name) => dropped.push(name),
      );
      const id = qos === 1 ? { messageId: 258 } : {};
      const other = packetOf({ topic: "other/b", qos: 0, length: 5 }, 2);
      const bytes = [next, { ...packet, topic, qos, ...id }, next, other].map((one) =>
        generate(one, { protocolVersion: version }),
      );
      for (const length of [7, 65_536, 1_000_000]) {
        taken.splice(0);
        dropped.splice(0);
        const sorted = pieces(Buffer.concat(bytes), [length]).map(sort);
        expect(Buffer.concat(sorted.flatMap(({ rest }) => rest)).equals(bytes[3] ?? Buffer.of())).toBe(true);
        const acks = Buffer.concat(sorted.flatMap(({ acks: some }) => some ?? []));
        expect([...acks]).toEqual(qos === 1 ? [0x40, 2, 1, 2] : []);
        expect({ taken, dropped }).toEqual({ taken: ["in/b", "in/b"], dropped: [topic] });
      }
    },
  );
});

test("a long packet of another type is left to the MQTT client", () => {
  const sort = sorter(() => {}, 4);
  const long = Buffer.concat([Buffer.of(0x90, 0x80, 0xb5, 0x18), Buffer.alloc(400_000)]);
  const rest = pieces(long, [65_536]).flatMap((bytes) => sort(bytes).rest);
  expect(Buffer.concat(rest).equals(long)).toBe(true);
});

test("bytes that are no MQTT are left to the MQTT client, which knows what to say of them", () => {
  const sort = sorter(() => {}, 4);
  const noise = Buffer.alloc(100, 0xff);
  expect(Buffer.concat([...sort(noise).rest, ...sort(noise).rest])).toEqual(Buffer.concat([noise, noise]));
});

test("a packet that is not well formed is read as none, and the next one is read", () => {
  const read = createPublishReader(4);
  expect(read(Buffer.from([0x32, 3, 0, 5, 97]))).toBeNull();
  const good = generate({ cmd: "publish", topic: "in/a", payload: "x", qos: 0, dup: false, retain: false });
  expect(read(good)?.topic).toBe("in/a");
});
