import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Tags, tags } from "../../../src/northbound/web/api/tag.ts";
import { findTags } from "../../../src/northbound/web/resources/tags.ts";
import { type ControlHarness, createControlHarness } from "./control-harness.ts";
import { fakeGroup, fakeTag, fakeTags } from "./fake-tags.ts";
import { createWebHarness } from "./web-harness.ts";

let harness: ControlHarness;
beforeEach(async () => {
  harness = await createControlHarness();
});
afterEach(() => harness[Symbol.asyncDispose]());

async function get(query = ""): Promise<Tags> {
  const { status, body } = await harness.ask("GET", `/api/v1/tags${query}`);
  expect([query, status]).toEqual([query, 200]);
  return tags.parse(body);
}

const addressesOf = ({ tags: all }: Tags) => all.map(({ address }) => address);

function showPlant(): void {
  harness.fleet.sources.push(
    fakeTags(
      { missingRobots: () => 3 },
      fakeGroup({ robotId: "cart-2" }, fakeTag("Robots.AMR2.Battery.Charge"), fakeTag("Robots.AMR2.Valid")),
      fakeGroup({ robotId: "cart-1" }, fakeTag("Robots.cart-1.Valid")),
      fakeGroup({}, fakeTag("Gateway.Heartbeat")),
    ),
    fakeTags(
      { protocol: "mqtt", prefix: "" },
      fakeGroup({ station: "dock" }, fakeTag("fleetgate/plant1/stations/dock")),
      fakeGroup({ robotId: "cart-1" }, fakeTag("fleetgate/plant1/robots/cart-1/battery")),
    ),
  );
}

describe("GET /api/v1/tags", () => {
  it("lists what every protocol shows: the gateway's own, then by robot, then by station", async () => {
    showPlant();
    const page = await get();
    expect(addressesOf(page)).toEqual([
      "ns=2;s=Gateway.Heartbeat",
      "fleetgate/plant1/robots/cart-1/battery",
      "ns=2;s=Robots.cart-1.Valid",
      "ns=2;s=Robots.AMR2.Battery.Charge",
      "ns=2;s=Robots.AMR2.Valid",
      "fleetgate/plant1/stations/dock",
    ]);
    expect(page).toMatchObject({ count: 6, next: null, missing_robots: 3 });
    expect(page.tags[1]).toMatchObject({ protocol: "mqtt", robot_id: "cart-1", station: null });
  });

  it("says of each its value, how far it is true, and both times", async () => {
    const nowMs = harness.clock.nowMs();
    harness.fleet.sources.push(
      fakeTags(
        {},
        fakeGroup(
          { robotId: "r1" },
          fakeTag("Robots.r1.A", {
            value: [1, 2],
            type: "Int32[]",
            quality: "stale",
            status: "UncertainLastUsableValue",
            sourceTimeMs: Number.MAX_SAFE_INTEGER,
            receivedAtMs: nowMs - 1_500,
          }),
        ),
      ),
    );
    expect((await get()).tags).toEqual([
      {
        protocol: "opcua",
        address: "ns=2;s=Robots.r1.A",
        robot_id: "r1",
        station: null,
        type: "Int32[]",
        value: [1, 2],
        clipped: false,
        quality: "stale",
        status: "UncertainLastUsableValue",
        source_time: null,
        received_at: new Date(nowMs - 1_500).toISOString(),
        age_ms: 1_500,
        description: null,
        unit: null,
        meaning: null,
        equivalents: [],
      },
    ]);
  });

  it("describes a tag, and names what tells the same in the other protocol", async () => {
    const description = { en: "How full it is", de: "Wie voll sie ist" };
    const meaning = { en: "charging", de: "lädt" };
    const subjectOf = ({ name }: { readonly name: string }) => (/batt/i.test(name) ? "battery" : "robot");
    const charge = "Robots.cart-1.Battery.ChargePercent";
    const state = "Robots.cart-1.Battery.State";
    const topic = "f/cart-1/battery";
    harness.fleet.sources.push(
      fakeTags(
        { subjectOf },
        fakeGroup(
          { robotId: "cart-1" },
          fakeTag(charge, {}, { description, unit: "%" }),
          fakeTag(state, {}, { description, meaning }),
          fakeTag("Robots.cart-1.Valid"),
        ),
        fakeGroup({ robotId: "cart-2" }, fakeTag("Robots.cart-2.Battery.State")),
      ),
      fakeTags(
        { protocol: "mqtt", prefix: "", subjectOf },
        fakeGroup(
          { robotId: "cart-1" },
          fakeTag(topic, { type: "JSON" }),
          fakeTag("f/cart-1/tags/battery/charge_percent", { type: "text" }),
          fakeTag("f/cart-1/tags/battery/valid", { type: "text" }),
        ),
      ),
    );
    const one = async (address: string) =>
      (await get(`?address=${encodeURIComponent(address)}`)).tags[0] ?? expect.fail(address);
    expect(await one(`ns=2;s=${charge}`)).toMatchObject({ description, unit: "%", meaning: null });
    expect(await one(`ns=2;s=${state}`)).toMatchObject({ unit: null, meaning, equivalents: [topic] });
    expect((await one(`ns=2;s=${charge}`)).equivalents).toEqual([
      topic,
      "f/cart-1/tags/battery/charge_percent",
    ]);
    expect((await one(topic)).equivalents).toEqual([`ns=2;s=${charge}`, `ns=2;s=${state}`]);
    const bare = await one("f/cart-1/tags/battery/charge_percent");
    expect(bare).toMatchObject({ description, unit: "%", equivalents: [`ns=2;s=${charge}`] });
    // In a list, nobody looks for them.
    expect((await get("?robot=cart-1")).tags.flatMap(({ equivalents }) => equivalents)).toEqual([]);
  });

  it.each([
    ["?robot=cart-1", ["fleetgate/plant1/robots/cart-1/battery", "ns=2;s=Robots.cart-1.Valid"]],
    ["?station=dock", ["fleetgate/plant1/stations/dock"]],
    ["?protocol=mqtt&robot=cart-1", ["fleetgate/plant1/robots/cart-1/battery"]],
    ["?text=VALID", ["ns=2;s=Robots.cart-1.Valid", "ns=2;s=Robots.AMR2.Valid"]],
    // Words may be of the robot too, whose nodes have its alias.
    ["?text=cart-2%20batt", ["ns=2;s=Robots.AMR2.Battery.Charge"]],
    ["?text=ns%3D2%3Bs%3DRobots.AMR2.V", ["ns=2;s=Robots.AMR2.Valid"]],
    ["?text=Robots.*Valid", []],
    ["?address=ns%3D2%3Bs%3DGateway.Heartbeat", ["ns=2;s=Gateway.Heartbeat"]],
    ["?address=Gateway.Heartbeat", []],
  ])("leaves out what does not fit %s", async (query, wanted) => {
    showPlant();
    const page = await get(query);
    expect(addressesOf(page)).toEqual(wanted);
    expect(page.count).toBe(wanted.length);
  });

  it.each([
    ["?robot=a&robot=b"],
    ["?protocol=modbus"],
    ["?name=x"],
    ["?limit=0"],
    [`?text=${"a".repeat(257)}`],
  ])("refuses %s", async (query) => {
    expect((await harness.ask("GET", `/api/v1/tags${query}`)).status).toBe(400);
  });

  it("gives each tag once over all pages, whatever comes and goes meanwhile", async () => {
    const robots = ["r1", "r10", "r2"];
    const groups = robots.map((robotId) =>
      fakeGroup({ robotId }, fakeTag(`Robots.${robotId}.A`), fakeTag(`Robots.${robotId}.B`)),
    );
    harness.fleet.sources.push(fakeTags({ groups: () => groups }));
    const found: string[] = [];
    let next: string | null = null;
    do {
      const page: Tags = await get(`?limit=1${next === null ? "" : `&cursor=${next}`}`);
      found.push(...addressesOf(page));
      ({ next } = page);
      // Before the place of the cursor, and gone from there.
      if (found.length === 3) groups.shift();
    } while (next !== null);
    expect(found).toEqual(
      robots.flatMap((robot) => ["A", "B"].map((tag) => `ns=2;s=Robots.${robot}.${tag}`)),
    );
  });

  it("has the beginning of a long value, and all of it where it is asked for alone", async () => {
    const value = "x".repeat(5_000);
    harness.fleet.sources.push(
      fakeTags({ protocol: "mqtt", prefix: "" }, fakeGroup({}, fakeTag("fleet/robots", { value }))),
    );
    expect((await get()).tags[0]).toMatchObject({ value: value.slice(0, 1_000), clipped: true });
    expect((await get("?address=fleet/robots")).tags[0]).toMatchObject({ value, clipped: false });
  });

  it("takes the cursor behind the longest name", async () => {
    const robotId = "\u{10ffff}".repeat(128);
    const name = `Robots.${encodeURIComponent(robotId)}`;
    harness.fleet.sources.push(
      fakeTags({}, fakeGroup({ robotId }, fakeTag(`${name}.A`), fakeTag(`${name}.B`))),
    );
    const { next } = await get("?limit=1");
    expect(addressesOf(await get(`?cursor=${next}`))).toEqual([`ns=2;s=${name}.B`]);
  });

  it("is for everybody who may read, whatever robots they may command", async () => {
    await using web = await createWebHarness();
    web.fleet.sources.push(fakeTags({}, fakeGroup({ robotId: "r2" }, fakeTag("Robots.r2.Valid"))));
    const { digestOf } = await import("../../../src/platform/password.ts");
    const digest = digestOf("secret").toString("hex");
    web.access = {
      users: [],
      tokens: [{ name: "scada", role: "observer", robots: ["r1"], digest }],
      movesFrom: null,
    };
    const ask = (headers: Record<string, string>) => fetch(`${web.url}/api/v1/tags`, { headers });
    expect((await ask({})).status).toBe(401);
    const answer = await ask({ authorization: "Bearer secret" });
    expect(addressesOf((await answer.json()) as Tags)).toEqual(["ns=2;s=Robots.r2.Valid"]);
  });
});

describe("a search in a plant of 1,000 robots", () => {
  const groups = Array.from({ length: 1_000 }, (_unused, robot) =>
    fakeGroup(
      { robotId: `cart-${robot}` },
      ...Array.from({ length: 120 }, (_none, tag) => fakeTag(`Robots.cart-${robot}.Mission.Tag${tag}`)),
    ),
  );

  it("lets the event loop go on, and looks for no more than one page", async () => {
    let turns = 0;
    const count = () => {
      turns += 1;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    const wanted = { protocol: null, robot: null, station: null, address: null, text: "cart tag119" };
    const found = await findTags([fakeTags({ groups: () => groups })], wanted, { limit: 100, after: null });
    clearImmediate(timer);
    expect(found).toMatchObject({ count: 1_000, hasMore: true });
    expect(found.page).toHaveLength(100);
    expect(turns).toBeGreaterThan(0);
  });
});
