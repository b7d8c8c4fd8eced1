// Writes docs/alarms.md from the rules of the alarms and the notes beside them (in .build, so build first).
// With --check it writes nothing, and fails when what is committed is not what they say today.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { alarmPriority, alarmRules, alarmsOfCluster } from "../.build/domain/alarm.js";
import { alarmNotes } from "../.build/domain/alarm-notes.js";
import { wrapMarkdown } from "./wrap.mjs";

const path = join(dirname(fileURLToPath(import.meta.url)), "..", "docs", "alarms.md");

const head = `<!-- Made by scripts/alarms-doc.mjs from src/domain/alarm.ts and alarm-notes.ts. -->
# Alarms

Find the code of your alarm, and do what stands below it. The most severe come first.

    sudo fleetgate alarms list
    sudo fleetgate alarms ack --all

The first line lists the alarms that stand; the second acknowledges them. The [console](console.md#alarms),
[MQTT](mqtt.md#alarms) and [OPC UA](opcua-reference.md#alarms) show the same alarms. **None is a safety function.**

| below a code | means |
|---|---|
| Robots | whether they may move, and what the gateway sends; no line: as usual |
| 500, 10 s | severity (1 to 1000); how long the condition must hold before the alarm, and be over before its end |
| no other word | the alarm stands, over restarts too, until its condition is over and somebody has acknowledged it |
| *either* | the end of the condition, or an acknowledgement, ends it |
| *ack* | only an acknowledgement ends it |
| *cluster* | only [two boxes that are one gateway](cluster.md) have it |

An operator of the robot (else of all robots) may acknowledge. The alarms of a robot that is [out of
service](mqtt.md#a-robot-out-of-service) rest.
`;

const endings = { return: [], either: ["*either*"], acknowledgement: ["*ack*"] };

function delays({ onDelayMs, offDelayMs }) {
  if (onDelayMs + offDelayMs === 0) return [];
  const [on, off] = [`${onDelayMs / 1_000} s`, `${offDelayMs / 1_000} s`];
  return [on === off ? on : `${on} and ${off}`];
}

const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;

function paragraph([code, rule]) {
  const { active, robots, more } = alarmNotes[code];
  const cluster = alarmsOfCluster.has(code) ? ["*cluster*"] : [];
  const facts = [rule.severity, ...delays(rule), ...endings[rule.ends], ...cluster].join(", ");
  const link = more === undefined ? "" : ` [More](${more}).`;
  return `
### ${code}

**${sentence(rule.advice)}**${link}

${robots === undefined ? "" : `- **Robots:** ${robots}.\n`}- **Cause:** ${rule.cause}.
- ${facts}${active === undefined ? "" : `; ${active}`}.
`;
}

/** The most severe first; of equal ones as the rules list them. */
const rules = Object.entries(alarmRules).sort(([, a], [, b]) => b.severity - a.severity);
const priorities = ["urgent", "high", "medium", "low"];
const sections = priorities.map((priority) => {
  const own = rules.filter(([, { severity }]) => alarmPriority(severity) === priority);
  return `\n## ${priority[0].toUpperCase()}${priority.slice(1)}\n${own.map(paragraph).join("")}`;
});
const text = wrapMarkdown(`${head}${sections.join("")}`);

if (!process.argv.includes("--check")) {
  writeFileSync(path, text);
} else if (readFileSync(path, "utf8") !== text) {
  console.error("docs/alarms.md is not what src/domain says. Run: node scripts/alarms-doc.mjs");
  process.exit(1);
}
