import { AttributeIds, BrowseDirection, type LocalizedText } from "node-opcua";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Caller, openSession, type RunningServer, startServer } from "./opcua-harness.ts";

let running: RunningServer;
let english: Caller;
let german: Caller;
beforeAll(async () => {
  running = await startServer();
  english = await openSession(running.url);
  german = await openSession(running.url, { locales: ["de"] });
});
afterAll(async () => {
  await english.close();
  await german.close();
  await running.stop();
});

async function nameOf({ session }: Caller, nodeId: string): Promise<LocalizedText> {
  const { value } = await session.read({ nodeId, attributeId: AttributeIds.DisplayName });
  return value.value as LocalizedText;
}

it.each(["Operations", "RobotMethods"])(
  "%s and its methods have names in English and German",
  async (folder) => {
    const nodeId = `ns=2;s=${folder}`;
    expect(await nameOf(english, nodeId)).toMatchObject({ locale: "en", text: folder });
    expect(await nameOf(german, nodeId)).toMatchObject({ locale: "de" });
    const { references } = await german.session.browse({
      nodeId,
      browseDirection: BrowseDirection.Forward,
      referenceTypeId: "HasComponent",
      resultMask: 63,
    });
    expect(references?.length).toBeGreaterThan(0);
    for (const { nodeId: method, browseName, displayName } of references ?? []) {
      expect(displayName, String(browseName.name)).toMatchObject({ locale: "de" });
      expect(await nameOf(english, method.toString())).toMatchObject({ locale: "en", text: browseName.name });
    }
  },
);

it("the German name of a typed method says what its operation does", async () => {
  const { text } = await nameOf(german, "ns=2;s=RobotMethods.ForceCancelChain");
  expect(text).toBe("Die Aufgabenkette mit Zwang abbrechen");
  expect((await nameOf(german, "ns=2;s=Operations.CreateMission")).text).toBe("CreateMission (de)");
});
