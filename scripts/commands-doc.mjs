// Writes the marked parts of docs/commands.md from the catalogue of operations, the acts and the codes that
// the gateway itself uses (in .build, so build first). With --check it writes nothing, and fails when what is
// committed is not what they say today.
import { isDeepStrictEqual } from "node:util";
import { exitCodeOf } from "../.build/cli/control-client.js";
import { effectsOf, evidenceText, factsOf, fieldLines } from "../.build/cli/operation-facts.js";
import { acts } from "../.build/domain/acts.js";
import { errorId, gatewayErrors, grpcCodeNames, serviceAdvice } from "../.build/domain/errors.js";
import { outcomeMeanings, outcomeNumbers } from "../.build/domain/outcome.js";
import { createCatalogue } from "../.build/fleet/operations.js";
import { writeParts } from "./marked-parts.mjs";

const operations = [...createCatalogue().values()];
/** Messages that many requests share: described once. */
const shared = ["Goal", "Task"];

writeParts("commands.md", {
  operations: [
    "| operation | effect | role | names its robot by | after an unknown ending |",
    "|---|---|---|---|---|",
    ...operations.map(overview),
  ],
  outcomes: [
    "| outcome | OPC UA `Outcome` | exit code of `fleetgate call` | |",
    "|---|---|---|---|",
    ...Object.entries(outcomeNumbers).map(([name, number]) => {
      const isFinal = number > outcomeNumbers.sent;
      return `| \`${name}\` | ${number} | ${isFinal ? exitCodeOf(name) : ""} | ${meaningOf(name)} |`;
    }),
  ],
  codes: [
    "| ErrorId | code | what to do |",
    "|---|---|---|",
    ...grpcCodeNames.map((name) => `| ${errorId(name)} | ${name} | ${serviceAdvice[name]} |`),
    ...Object.entries(gatewayErrors).map(([name, { id, advice }]) => `| ${id} | ${name} | ${advice} |`),
  ],
  acts: ["| act | | role | fields |", "|---|---|---|---|", ...actRows()],
  requests: [
    ...shared.flatMap(sharedMessage),
    ...operations.flatMap((operation, at) => operationSection(operation, operations.slice(0, at))),
  ].slice(0, -1),
});

/** For an unknown outcome, its warning, which no reader must miss. */
function meaningOf(name) {
  return name === "unknown" ? outcomeMeanings[name].replace(/^[^.]*\./, "**$&**") : outcomeMeanings[name];
}

/** A row for each act. A field that several of them have is described once. */
function actRows() {
  const described = new Set();
  const fieldText = ([field, { isOptional, text: says }]) => {
    const name = `\`${field}\`${isOptional === true ? "?" : ""}`;
    const isKnown = described.has(`${field} ${says}`);
    described.add(`${field} ${says}`);
    return isKnown ? name : `${name} (${says})`;
  };
  return Object.entries(acts).map(([name, { text: says, role, only, fields }]) => {
    const does = only === undefined ? says : `${says} (${only} only)`;
    return `| \`${name}\` | ${does} | ${role ?? ""} | ${Object.entries(fields).map(fieldText).join("; ")} |`;
  });
}

function overview(operation) {
  const { name, role, robotField } = operation;
  const robot = robotField === null ? "" : `\`${robotField.path.join(".")}\``;
  const repeats = new Set(factsOf(operation).map(({ parsed }) => repeatText(parsed)));
  const anchor = `#${name.toLowerCase()}`;
  const repeat = repeats.size === 1 ? [...repeats][0] : `[by request](${anchor})`;
  return `| [${name}](${anchor}) | ${effectsOf(operation).join(", ")} | ${role} | ${robot} | ${repeat} |`;
}

function repeatText({ repeat }) {
  if (repeat.kind === "never") return "never repeated";
  const text = repeat.until === "expiry" ? "repeatable" : "repeatable, also late";
  if (repeat.alreadyDone.length === 0) return text;
  return `${text}; ${repeat.alreadyDone.join(", ")} then counts as done`;
}

function sharedMessage(name) {
  const message = operations.map(({ fields }) => findMessage(fields, name)).find((found) => found !== null);
  return [`\`${name}\`:`, "", ...message.fields.flatMap((field) => fieldLines(field, "    ", [])), ""];
}

function findMessage(fields, name) {
  for (const field of fields) {
    const found = field.type === name ? field : findMessage(field.fields, name);
    if (found !== null) return found;
  }
  return null;
}

/** @param before the operations that the page has above it */
function operationSection(operation, before) {
  const { name, summary, fields } = operation;
  const facts = factsOf(operation);
  const alike = before.find((other) => fields.length > 1 && isDeepStrictEqual(other.fields, fields))?.name;
  const fieldsText =
    alike === undefined
      ? fields.flatMap((field) => fieldLines(field, "    ", shared))
      : [`The fields are those of [${alike}](#${alike.toLowerCase()}).`];
  return [
    `### ${name}`,
    "",
    summary,
    "",
    ...endings(facts),
    ...(fields.length === 0 ? ["No fields."] : fieldsText),
    "",
    ...facts.slice(0, 1).map(({ request }) => `    ${JSON.stringify(request)}`),
    "",
  ];
}

/** What follows an unknown ending: a line if it is the same for all requests, else a table. */
function endings(facts) {
  const titles = new Map();
  for (const { title, parsed } of facts) {
    if (parsed.effect === "reads") continue;
    const ending = `${parsed.effect} | ${repeatText(parsed)} | ${evidenceOf(parsed)}`;
    titles.set(ending, [titles.get(ending) ?? [], title].flat().join(", "));
  }
  const [only] = titles.keys();
  if (only === undefined) return [];
  if (titles.size === 1) return [`Evidence: ${only.split(" | ").at(-1)}.`, ""];
  return [
    "| request | effect | after an unknown ending | evidence |",
    "|---|---|---|---|",
    ...Array.from(titles, ([ending, title]) => `| ${title} | ${ending} |`),
    "",
  ];
}

function evidenceOf({ identityField, evidence }) {
  if (identityField !== null)
    return `the command's identity in \`${identityField.join(".")}\`, if you left that empty, by GetOnlineRobots, then QueryTaskChain, before and after the call`;
  return evidenceText(evidence);
}
