// Writes the alarms of docs/alarms.md, and the table of docs/mqtt-reference.md, from their rules and the
// notes beside them (in .build, so build first). With --check it writes nothing, and fails when what is
// committed is not what they say today.
import { alarmPriority, alarmRules, alarmsOfCluster } from "../.build/domain/alarm.js";
import { alarmNotes } from "../.build/domain/alarm-notes.js";
import { writeParts } from "./marked-parts.mjs";

const endings = { return: "both", either: "either", acknowledgement: "*ack*" };

function delays({ onDelayMs, offDelayMs }) {
  if (onDelayMs + offDelayMs === 0) return "";
  const [on, off] = [`${onDelayMs / 1_000} s`, `${offDelayMs / 1_000} s`];
  return on === off ? on : `${on} and ${off}`;
}

const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;

function paragraph([code, rule]) {
  const { robots, more, who } = alarmNotes[code];
  const link = more === undefined ? "" : ` [More](${more}).`;
  return `
### ${code}

**${sentence(who)}** ${sentence(rule.advice)}${link}

${robots === undefined ? "" : `- Robots: ${robots}.\n`}- Cause: ${rule.cause}.
`;
}

function row([code, rule]) {
  const box = alarmsOfCluster.has(code) ? " ▣" : "";
  const cells = [
    `\`${code}\`${box}`,
    rule.severity,
    delays(rule),
    endings[rule.ends],
    alarmNotes[code].active ?? "",
  ];
  return `| ${cells.join(" | ")} |`;
}

/** The most severe first; of equal ones as the rules list them. */
const rules = Object.entries(alarmRules).sort(([, a], [, b]) => b.severity - a.severity);
const priorities = ["urgent", "high", "medium", "low"];
const sections = priorities.map((priority) => {
  const own = rules.filter(([, { severity }]) => alarmPriority(severity) === priority);
  return `\n## ${priority[0].toUpperCase()}${priority.slice(1)}\n${own.map(paragraph).join("")}`;
});
writeParts("alarms.md", { alarms: sections.join("").split("\n").slice(1, -1) });
writeParts("mqtt-reference.md", {
  "alarm rules": ["| code | severity | delay | ends | active |", "|---|---|---|---|---|", ...rules.map(row)],
});
