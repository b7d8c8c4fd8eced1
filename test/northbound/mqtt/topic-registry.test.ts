import { afterEach, expect, test } from "vitest";
import type { TagSource, TagView } from "../../../src/contracts/tags.ts";
import { newBroker, newLink } from "./link-harness.ts";
import { base, type Listener, listen, missionChange, mqttOptions, stamp, start } from "./mqtt-harness.ts";

const closers: Array<() => unknown> = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const all = (tags: TagSource) =>
  new Map(tags.groups().flatMap((group) => group.tags().map((tag) => [tag.name, { tag, group }] as const)));

function read(tags: TagSource, topic: string): ReturnType<TagView["read"]> | undefined {
  return all(tags).get(`${base}/${topic}`)?.tag.read();
}

async function open(tags = true) {
  const broker = newBroker();
  closers.push(await start(broker));
  const link = newLink({ options: mqttOptions({ tags }), openBroker: broker.open });
  const plant: Listener = await listen(`mqtt://127.0.0.1:${broker.port()}`);
  closers.push(() => plant.client.endAsync(true));
  const connection = await link.connect(new AbortController().signal);
  return { link, plant, connection };
}

test("every retained topic that a client hears is a tag, with what it heard last", async () => {
  const { link, plant, connection } = await open();
  closers.push(() => connection[Symbol.asyncDispose]());
  await connection.write({
    changes: [
      { kind: "robot", robotId: "r1", family: "cart", quality: "good" },
      missionChange("r1"),
      { kind: "robot", robotId: "r2", family: "cart", quality: "good" },
      { kind: "alarms", alarms: [] },
    ],
    events: [],
  });
  await plant.on("robots/r2/info");
  // A topic whose payload is empty is not there.
  const received = new Map(
    plant.received.filter(({ text }) => text !== "").map(({ topic, text }) => [topic, text]),
  );
  const shown = all(link.tags);
  expect([...shown.keys()].toSorted()).toEqual([...received.keys()].toSorted());
  for (const [topic, { tag }] of shown)
    expect([topic, tag.read().value]).toEqual([topic, received.get(topic)]);
  const topicsOf = (robotId: string | null) =>
    link.tags
      .groups()
      .filter((group) => group.robotId === robotId)
      .flatMap((group) => group.tags().map(({ name }) => name));
  expect(topicsOf("r2")).toContain(`${base}/robots/r2/info`);
  expect(topicsOf(null)).toEqual([`${base}/alarms`, `${base}/health`, `${base}/status`]);
});

test("a topic tells of the same subject as the tags of OPC UA", async () => {
  const { link, connection } = await open();
  closers.push(() => connection[Symbol.asyncDispose]());
  await connection.write({ changes: [missionChange("r1"), { kind: "alarms", alarms: [] }], events: [] });
  const subjectOf = (topic: string) => {
    const { tag } = all(link.tags).get(`${base}/${topic}`) ?? expect.fail(topic);
    return link.tags.subjectOf(tag);
  };
  expect(subjectOf("robots/r1/mission")).toBe("mission");
  expect(subjectOf("robots/r1/tags/mission/count")).toBe("mission");
  expect(subjectOf("alarms")).toBe("alarms");
  expect(subjectOf("status")).toBeNull();
});

test("a topic is described by what is in it, and one of a bare value by its node alone", async () => {
  const { link, connection } = await open();
  closers.push(() => connection[Symbol.asyncDispose]());
  await connection.write({ changes: [missionChange("r1"), { kind: "alarms", alarms: [] }], events: [] });
  const described = (topic: string) => all(link.tags).get(`${base}/${topic}`)?.tag.facts().description?.en;
  expect(described("robots/r1/mission")).toBe("A robot's missions.");
  expect(described("alarms")).toBe("All alarms that stand.");
  expect(described("robots/r1/tags/mission/count")).toBeUndefined();
});

test("a topic has the quality and the times of the value that it says", async () => {
  const { link, connection } = await open();
  closers.push(() => connection[Symbol.asyncDispose]());
  await connection.write({ changes: [missionChange("r1", "stale")], events: [] });
  const times = { sourceTimeMs: stamp.sourceTimeMs, receivedAtMs: stamp.receivedAtMs };
  expect(read(link.tags, "robots/r1/mission")).toMatchObject({ type: "JSON", quality: "stale", ...times });
  expect(read(link.tags, "robots/r1/tags/mission/count")).toMatchObject({
    value: "1",
    type: "text",
    quality: "stale",
    ...times,
  });
  expect(read(link.tags, "status")).toMatchObject({ quality: "good", sourceTimeMs: null });
  await connection.write({ changes: [missionChange("r1", "lost")], events: [] });
  expect(read(link.tags, "robots/r1/mission")).toMatchObject({ quality: "lost" });
  expect(read(link.tags, "robots/r1/tags/mission/count")).toBeUndefined();
});

test("nothing is good while there is no connection, and the next one begins with nothing", async () => {
  const { link, connection } = await open(false);
  await connection.write({ changes: [missionChange("r1"), missionChange("r2", "lost")], events: [] });
  await connection[Symbol.asyncDispose]();
  await connection.lost;
  expect(read(link.tags, "robots/r1/mission")).toMatchObject({ quality: "offline" });
  expect(read(link.tags, "robots/r2/mission")).toMatchObject({ quality: "lost" });
  const next = await link.connect(new AbortController().signal);
  closers.push(() => next[Symbol.asyncDispose]());
  expect([...all(link.tags).keys()].toSorted()).toEqual([`${base}/health`, `${base}/status`]);
});
