import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { helpTexts, programText } from "./record/cli.ts";
import { exportedText, httpText, nodeValuesText } from "./record/gather.ts";
import { stable } from "./record/placeholders.ts";
import { BASE, openRecordHarness, type RecordHarness } from "./record/record-harness.ts";
import { followTail, tellStory } from "./record/story.ts";
import { metricsText, mqttText } from "./record/texts.ts";

/**
 * What the product shows in one story that is the same in every run, against the files in `record/recorded`.
 * docs/internals/tests.md says how to read a difference, and how to record anew.
 */
const texts = new Map<string, string>();
let harness: RecordHarness;

beforeAll(async () => {
  harness = await openRecordHarness();
  await harness.pass(5_000);
  const tail = await followTail(harness);
  const steps = await tellStory(harness);

  const { configPath, socketPath } = harness;
  const socket = ["--socket", socketPath] as const;
  const shown = [
    await programText("status", ...socket),
    await programText("alarms", "list", ...socket),
    await programText("check", "--config", configPath),
  ];
  texts.set("help.txt", await helpTexts());
  texts.set("opcua-values.txt", await nodeValuesText(harness));
  texts.set("opcua-export.txt", await exportedText(configPath));
  texts.set("http.txt", await httpText(harness));
  const metrics = await (await fetch(`${harness.webUrl}/metrics`)).text();
  texts.set("metrics.txt", metricsText(metrics).replace(process.version, "(of the run)"));
  await harness.stop();
  shown.push(`$ fleetgate tail\n${await tail.ended}`);
  texts.set("cli.txt", shown.join("\n"));
  const all = [...steps, { name: "end", until: Number.POSITIVE_INFINITY }];
  texts.set("mqtt.txt", mqttText(harness.published, all, BASE));
  texts.set("audit.txt", await harness.audit());
});
afterAll(() => harness?.close());

it.each([
  "mqtt.txt",
  "http.txt",
  "opcua-values.txt",
  "opcua-export.txt",
  "cli.txt",
  "help.txt",
  "audit.txt",
  "metrics.txt",
])("%s", async (name) => {
  const text = texts.get(name) ?? "";
  const path = join(import.meta.dirname, "record", "recorded", name);
  await expect(stable(text, harness.folder)).toMatchFileSnapshot(path);
});
