import {
  AccessLevelFlag,
  AttributeIds,
  constructEventFilter,
  DataChangeFilter,
  DataChangeTrigger,
  type DataValue,
  DeadbandType,
  type LocalizedText,
  NodeClass,
  ofType,
  resolveNodeId,
  StatusCodes,
  TimestampsToReturn,
  type Variant,
} from "node-opcua";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isMotorCommand } from "../../../src/northbound/opcua/commands/conveyor-slot.ts";
import { isLoadCommand, isMissionOperation } from "../../../src/northbound/opcua/commands/mission-request.ts";
import { isStationOperation } from "../../../src/northbound/opcua/commands/station-order.ts";
import { typedMethods } from "../../../src/northbound/opcua/commands/typed-methods.ts";
import {
  missionOperation,
  motorCommand,
  stationMotorCommand,
  stationOperation,
} from "../../../src/northbound/opcua/model/enums.ts";
import type { EnumModel } from "../../../src/northbound/opcua/model/member.ts";
import { objectTypes } from "../../../src/northbound/opcua/model/types.ts";
import { nodeText, type SeenNode, seeNodes } from "./browse-tree.ts";
import { batteryChange } from "./changes.ts";
import { type Caller, openSession, type RunningServer, startServer } from "./opcua-harness.ts";

let running: RunningServer;
let english: Caller;
let german: Caller;
let types: readonly SeenNode[];
let instances: readonly SeenNode[];

beforeAll(async () => {
  running = await startServer({
    robots: [
      { robotId: "r1", alias: "AMR01", number: 1, family: "cart", conveyorIndexes: [1] },
      { robotId: "r2", alias: "AMR02", number: 2, family: "unknown", conveyorIndexes: [] },
    ],
    stations: [{ name: "load 1", needsPermit: true, load: null }],
    users: [
      {
        name: "line 1",
        secret: { kind: "plain", text: "secret" },
        role: "operator",
        number: 1,
      },
    ],
  });
  english = await openSession(running.url);
  german = await openSession(running.url, { locales: ["fr", "de-AT", "en"] });
  const typePaths = objectTypes.map(({ name }) => name);
  types = await seeNodes(english, german, typePaths);
  instances = await seeNodes(english, german, ["Gateway", "Stations", "Robots"]);
});
afterAll(async () => {
  await english.close();
  await german.close();
  await running.stop();
});

const id = (path: string) => `ns=2;s=${path}`;

describe("the tree", () => {
  it("is the one that programs know: the types", async () => {
    await expect(textOf(types)).toMatchFileSnapshot("type-tree.txt");
  });

  it("is the one that programs know: the gateway, a station and a cart", async () => {
    const shown = instances.filter(({ path }) => !path.startsWith("Robots.AMR02"));
    await expect(textOf(shown)).toMatchFileSnapshot("instance-tree.txt");
  });

  it("has a description of each node, in English and German", () => {
    for (const { path, english: inEnglish, german: inGerman } of [...types, ...instances]) {
      const [name, description] = inEnglish;
      expect(description, path).toMatchObject({ locale: "en", text: expect.stringMatching(/.../) });
      expect(inGerman[1], path).toMatchObject({ locale: "de", text: expect.stringMatching(/.../) });
      // A robot's name is the same in every language.
      if (name.locale !== null) expect(inGerman[0].locale, path).toBe("de");
    }
  });

  it("has no object without a type of ours, and no member that its type does not declare", () => {
    const members = new Map(types.map((node) => [node.path, node]));
    const lineage = new Map(objectTypes.map((model) => [model.name, [model.name, ...bases(model)]]));
    const byPath = new Map(instances.map((node) => [node.path, node]));
    for (const node of instances) {
      if (node.nodeClass === NodeClass.Object) expect(lineage.has(node.typeDefinition), node.path).toBe(true);
      const at = node.path.lastIndexOf(".");
      const parent = byPath.get(node.path.slice(0, at));
      if (parent === undefined || parent.nodeClass !== NodeClass.Object) continue;
      const name = node.path.slice(at + 1);
      const declared = (lineage.get(parent.typeDefinition) ?? [])
        .flatMap((type) => [members.get(`${type}.${name}`), members.get(placeholder(type, members))])
        .find((member) => member !== undefined);
      expect(declared, `${node.path} in ${parent.typeDefinition}`).toBeDefined();
      expect(node.dataType, node.path).toBe(declared?.dataType);
      expect(node.writable, node.path).toBe(declared?.writable);
      expect(node.shared, node.path).toEqual(expect.arrayContaining([...declaredProperties(declared)]));
    }
  });

  it("takes no write to a member of a type, which would hold or permit nothing", async () => {
    const members = types.filter(({ writable }) => writable);
    expect(members.length).toBeGreaterThan(20);
    for (const { path } of members) {
      const level = await english.session.read({
        nodeId: id(path),
        attributeId: AttributeIds.UserAccessLevel,
      });
      expect(level.value.value, path).toBe(AccessLevelFlag.CurrentRead);
    }
    const statuses = await english.write(
      ["RobotType.Hold", { dataType: "Boolean", value: true }],
      ["StationType.Permit", { dataType: "Boolean", value: true }],
      ["SlotType.RequestId", { dataType: "Int32", value: 1 }],
    );
    expect(statuses).toEqual(Array(3).fill(StatusCodes.BadUserAccessDenied));
    expect((await english.read("RobotType.Hold")).value.value).toBeNull();
  });

  it("has each mandatory member of a type in its objects", () => {
    const byPath = new Map(instances.map((node) => [node.path, node]));
    for (const { path, typeDefinition } of instances) {
      for (const type of objectTypes.filter(({ name }) => name === typeDefinition)) {
        for (const each of [type.name, ...bases(type)]) {
          const mandatory = types.filter(
            (node) => node.rule === "mandatory" && /^[^.]+\.[^.]+$/.test(node.path) && owner(node) === each,
          );
          for (const member of mandatory) {
            const name = member.path.slice(each.length + 1);
            expect(byPath.has(`${path}.${name}`), `${path}.${name}`).toBe(true);
          }
        }
      }
    }
  });
});

describe("a robot that turns out to be a cart", () => {
  it("gets the type of carts with its conveyors", async () => {
    const [before] = await seeNodes(english, german, ["Robots.AMR02"]);
    expect(before?.typeDefinition).toBe("RobotType");
    running.server.write({
      changes: [{ kind: "robot", robotId: "r2", family: "cart", quality: "good" }],
      events: [],
    });
    const after = await seeNodes(english, german, ["Robots.AMR02"]);
    expect(after[0]?.typeDefinition).toBe("CartType");
    expect(after.map(({ path }) => path)).toContain("Robots.AMR02.Conveyors");
  });
});

describe("the language of a session", () => {
  it("is that of DisplayNames in a browse too", async () => {
    const names = async ({ session }: Caller) => {
      const { references } = await session.browse(id("BatteryType"));
      return references?.map(({ displayName }) => displayName.text);
    };
    expect(await names(english)).toEqual(expect.arrayContaining(["ChargePercent", "State"]));
    expect(await names(german)).toEqual(expect.arrayContaining(["Ladezustand", "Zustand"]));
  });

  it("is that of what numbers mean, and of units", async () => {
    const read = async ({ session }: Caller, path: string): Promise<unknown> =>
      (await session.read({ nodeId: id(path), attributeId: AttributeIds.Value })).value.value;
    const values = "EnumValues.BatteryState";
    expect(await read(english, values)).toMatchObject([{}, { description: { text: "charging" } }, {}, {}]);
    expect(await read(german, values)).toMatchObject([{}, { description: { text: "lädt" } }, {}, {}]);
    const unit = { displayName: { text: "%" }, unitId: 20529 };
    expect(await read(english, "EngineeringUnits.P1")).toMatchObject({
      ...unit,
      description: { text: "percent" },
    });
    expect(await read(german, "EngineeringUnits.P1")).toMatchObject({
      ...unit,
      description: { text: "Prozent" },
    });
    expect(await read(german, "EURange.0 to 100")).toMatchObject({ low: 0, high: 100 });
  });
});

describe("the methods of a robot", () => {
  const method = (name: string) => id(`RobotMethods.${name}`);

  it("are those that its type declares", async () => {
    const methodsOf = async (path: string) => {
      const { references } = await english.session.browse(id(path));
      const methods = (references ?? []).filter(({ nodeClass }) => nodeClass === NodeClass.Method);
      return methods.map(({ nodeId }) => nodeId.toString());
    };
    const declared = await methodsOf("RobotType");
    expect(declared).toEqual(expect.arrayContaining([method("Navigate"), method("Cancel")]));
    expect(await methodsOf("Robots.AMR01")).toEqual(declared);
    expect(await methodsOf("Robots.AMR02")).toEqual(declared);
    const calls = await english.session.call({ objectId: id("RobotType"), methodId: method("Cancel") });
    expect(calls.statusCode).toBe(StatusCodes.BadMethodInvalid);
  });

  it("have nodes of arguments whose NodeIds are made of names, as all of ours", async () => {
    for (const [folder, own] of [
      ["Operations", ["CreateMission", "PauseRobot", "QueryOutcome"]],
      ["RobotMethods", typedMethods.map(({ name }) => name)],
    ] as const) {
      for (const name of own) {
        const path = `${folder}.${name}`;
        const { references } = await english.session.browse(id(path));
        const properties = (references ?? []).filter(({ nodeClass }) => nodeClass === NodeClass.Variable);
        expect(
          properties.map(({ nodeId, browseName }) => [nodeId.toString(), browseName.toString()]),
        ).toEqual(["InputArguments", "OutputArguments"].map((list) => [id(`${path}.${list}`), list]));
      }
    }
  });

  it("are described with their arguments in the language of the session", async () => {
    const describe = async ({ session }: Caller, name: string) => {
      const { value } = await session.read({
        nodeId: method(name),
        attributeId: AttributeIds.Description,
      });
      const { inputArguments, outputArguments } = await session.getArgumentDefinition(method(name));
      const texts = [...inputArguments, ...outputArguments].map(({ description }) => description);
      return [value.value, ...texts] as readonly LocalizedText[];
    };
    for (const { name } of typedMethods) {
      for (const text of await describe(english, name)) expect(text, name).toMatchObject({ locale: "en" });
      for (const text of await describe(german, name)) expect(text, name).toMatchObject({ locale: "de" });
    }
    const [what, , , destination] = await describe(german, "ThenNavigate");
    expect(what?.text).toBe("Wie Operation 21 eines Slots: fahren, hinter den vorhandenen Missionen");
    expect(destination?.text).toBe("Anzeigename eines Ziels");
  });
});

describe("a percent deadband", () => {
  it("is a part of the range: a change of less is not told", async () => {
    const subscription = await english.session.createSubscription2({
      requestedPublishingInterval: 10,
      requestedLifetimeCount: 1000,
      requestedMaxKeepAliveCount: 100,
      publishingEnabled: true,
    });
    const show = (percent: number) =>
      running.server.write({ changes: [batteryChange("r1", percent)], events: [] });
    show(50);
    const item = await subscription.monitor(
      { nodeId: id("Robots.AMR01.Battery.ChargePercent"), attributeId: AttributeIds.Value },
      {
        samplingInterval: 0,
        queueSize: 100,
        discardOldest: true,
        filter: new DataChangeFilter({
          trigger: DataChangeTrigger.StatusValue,
          deadbandType: DeadbandType.Percent,
          deadbandValue: 10,
        }),
      },
      TimestampsToReturn.Both,
    );
    const told: unknown[] = [];
    await new Promise<void>((resolve) => {
      item.on("changed", ({ value }: DataValue) => {
        told.push(value.value);
        // 55 and 60 are 10 percent of 0 to 100 away, or less: told is what is further.
        if (value.value === 50) for (const percent of [55, 60, 61, 65, 80]) show(percent);
        if (value.value === 80) resolve();
      });
    });
    expect(told).toEqual([50, 61, 80]);
    await subscription.terminate();
  });
});

describe("what Operation may be", () => {
  it("is told of each number that a slot takes", () => {
    const numbers = ({ values }: EnumModel) =>
      values.map(({ value }) => value).filter((value) => value !== 0);
    const taken = (isTaken: (value: number) => boolean) =>
      Array.from({ length: 1_000 }, (_unused, value) => value).filter((value) => value > 0 && isTaken(value));
    expect(numbers(missionOperation)).toEqual(taken(isMissionOperation));
    expect(numbers(stationOperation)).toEqual(taken(isStationOperation));
    expect(numbers(motorCommand)).toEqual(taken(isMotorCommand));
    expect(numbers(stationMotorCommand)).toEqual(taken(isLoadCommand));
  });
});

describe("clients that have browsed", () => {
  it("are told of robots that are listed, and of carts that turn out to be some", async () => {
    const subscription = await english.session.createSubscription2({
      requestedPublishingInterval: 10,
      requestedLifetimeCount: 1000,
      requestedMaxKeepAliveCount: 100,
      publishingEnabled: true,
    });
    const events = await subscription.monitor(
      { nodeId: "ns=0;i=2253", attributeId: AttributeIds.EventNotifier },
      {
        samplingInterval: 0,
        queueSize: 100,
        discardOldest: true,
        filter: constructEventFilter(["Changes"], ofType(resolveNodeId("GeneralModelChangeEventType"))),
      },
      TimestampsToReturn.Both,
    );
    const told: unknown[] = [];
    const enough = new Promise<void>((resolve) => {
      events.on("changed", (fields: unknown) => {
        const [changes] = fields as [Variant];
        for (const { affected, verb } of changes.value) told.push([affected.value, verb]);
        if (told.length === 3) resolve();
      });
    });
    const batch = (family: "unknown" | "cart") => ({
      changes: [{ kind: "robot", robotId: "new", family, quality: "good" } as const],
      events: [],
    });
    running.server.write(batch("unknown"));
    await seeNodes(english, german, ["Robots.new"]);
    running.server.write(batch("cart"));
    await enough;
    expect(told).toEqual([
      ["Robots", 4],
      ["Robots.new", 1],
      ["Robots.new", 4],
    ]);
    await subscription.terminate();
  });
});

describe("the namespace", () => {
  it("is described under Server.Namespaces", async () => {
    const { references } = await english.session.browse("ns=0;i=11715");
    expect(references?.map(({ browseName }) => browseName.name)).toContain("urn:fleetgate:fleet");
    expect(await english.value("Namespace.NamespaceUri")).toBe("urn:fleetgate:fleet");
    expect(await english.value("Namespace.IsNamespaceSubset")).toBe(false);
    expect(await english.value("Namespace.StaticNodeIdTypes")).toEqual(Int32Array.of(1));
    // What default-permissions.ts declares.
    const below = (await english.session.browse("ns=2;s=Namespace")).references ?? [];
    const names = below.map(({ browseName }) => browseName.name);
    expect(names).toContain("NamespaceUri");
    expect(names.filter((name) => name?.startsWith("Default"))).toEqual([]);
  });
});

describe("the gateway's StartTime", () => {
  it("is a DateTime", async () => {
    expect(await english.value("Gateway.StartTime")).toEqual(new Date(0));
  });
});

function textOf(nodes: readonly SeenNode[]): string {
  return `${nodes.map(nodeText).join("\n")}\n`;
}

function bases({ base }: (typeof objectTypes)[number]): readonly string[] {
  return base === undefined ? [] : [base.name, ...bases(base)];
}

function owner({ path }: SeenNode): string {
  return path.slice(0, path.indexOf("."));
}

function placeholder(type: string, members: ReadonlyMap<string, SeenNode>): string {
  const found = [...members.keys()].find((path) => path.startsWith(`${type}.<`));
  return found ?? "";
}

function declaredProperties(declared: SeenNode | undefined): readonly string[] {
  return (declared?.shared ?? []).filter((path) => /^(EnumValues|EngineeringUnits|EURange)\./.test(path));
}
