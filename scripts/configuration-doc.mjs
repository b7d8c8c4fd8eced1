// Writes the keys of docs/configuration.md from the schema of the configuration (in .build, so build first).
// With --check it writes nothing, and fails when what is committed is not what the schema says today. A key
// that a reload changes must be in the page's table of what a reload does.
import { liveKeys } from "../.build/config/fields.js";
import { configJsonSchema, configSchema } from "../.build/config/schema.js";
import { readPage, writeParts } from "./marked-parts.mjs";

const live = new Map([...liveKeys(configSchema)].map(({ path: key, reloads }) => [key, reloads]));

/** The page lists the roles once. */
const roles = "observer,operator,engineer";

/** The values that a key may have, the default in bold. */
function valuesOf(key, schema) {
  const { enum: choices, default: usual, anyOf = [] } = schema;
  if (choices?.join() === roles) return [defaultOf(schema)].filter(Boolean);
  if (choices !== undefined) return choices.map((choice) => (choice === usual ? bold(choice) : code(choice)));
  const isOptional = usual !== null && anyOf.some((option) => option.type === "null");
  return [defaultOf(schema), isOptional ? code(null) : "", bounds(key, schema)].filter(Boolean);
}

const code = (value) => `\`${value}\``;
const bold = (value) => `**${value}**`;

function bounds(key, schema) {
  const { minimum, maximum } =
    [schema, ...(schema.anyOf ?? [])].find((one) => one.maximum !== undefined) ?? {};
  // Of a whole number, JSON Schema has the largest one there is; it bounds nothing.
  if (maximum === undefined || maximum === Number.MAX_SAFE_INTEGER) return "";
  return key.endsWith("port") ? "" : `${minimum}–${maximum}`;
}

function defaultOf({ default: usual, type }) {
  if (usual === undefined || type === "object" || Array.isArray(usual)) return "";
  return bold(usual);
}

/** Whether a reload takes the key: by its own mark, or by that of a part that it belongs to. */
function reloadOf(key) {
  const steps = key
    .replaceAll("[]", "")
    .split(".")
    .map((_, index, all) => all.slice(0, index + 1).join("."));
  if (steps.some((step) => live.get(step)?.includes("changed"))) return " ↻";
  const own = live.get(key);
  if (own === undefined) return "";
  return own.includes("gone") ? " ↻ entries" : " ↻ new";
}

/** @param pair the key of the private key that belongs to it, or null */
function row(key, schema, isNeeded, pair = null) {
  const values = [isNeeded ? "needed" : "", ...valuesOf(key, schema)].filter(Boolean).join(", ");
  const text = (schema.description ?? "").replace(/ ?A reload changes it\.$/, "").replaceAll("|", "\\|");
  const said = text.replace(/<([^>]+)>/g, "`<$1>`").replace(/ \(PEM files?\)/g, "");
  const names = pair === null ? code(key) : `${code(key)}, ${code(pair)}`;
  return `| ${names}${reloadOf(key)} | ${[values, said].filter(Boolean).join(". ")} |`;
}

/** Every listener has the same two keys, which the page explains once. */
function listenRow(key, { properties: { host, port } }) {
  return `| ${code(`${key}.host`)}, ${code(`${key}.port`)}${reloadOf(key)} | ${bold(host.default)}, ${bold(port.default)} |`;
}

/** Whether it is the private key of the certificate before it, which has a row for both. */
const isOfPair = (child) => child?.description?.startsWith("Its key") === true;

/** The rows of the keys below a key: a part that has keys has no row of its own. */
function rows(key, schema) {
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, child], at, all) => {
    if (name === "listen") return [listenRow(`${key}.listen`, child)];
    if (isOfPair(child)) return [];
    const [next, following] = all[at + 1] ?? [];
    const pair = isOfPair(following) ? `${key}.${next}` : null;
    const below = rows(`${key}.${name}`, child);
    if (child.type === "object" && below.length > 0) return below;
    return [row(`${key}.${name}`, child, schema.required?.includes(name), pair), ...below];
  });
  const entry = schema.additionalProperties;
  if (typeof entry === "object") own.push(...entryRows(`${key}.*`, entry, schema));
  if (schema.type === "array" && schema.items.type === "object") own.push(...rows(`${key}[]`, schema.items));
  return own;
}

/** An entry has a row of its own if a reload takes it as a whole. */
function entryRows(key, entry, { description }) {
  const isShown = live.has(key) && !live.get(key).includes("changed");
  return [...(isShown ? [row(key, { ...entry, description }, false)] : []), ...rows(key, entry)];
}

function section([key, schema]) {
  const reload = reloadOf(key) === " ↻" ? " A reload takes all of it." : "";
  const text = schema.description.replace(/ ?A reload changes it\.$/, "");
  return `
### ${key}

${text}${reload}

| key | |
|---|---|
${rows(key, schema).join("\n")}
`;
}

const [, effects = ""] =
  /\n\| key \| what follows \|\n\|---\|---\|\n([\s\S]*?)\n\n/.exec(readPage("configuration.md")) ?? [];
const listed = effects.split("\n").flatMap((line) => {
  const [, keys = ""] = line.split("|");
  return Array.from(keys.matchAll(/`([^`]+)`/g), ([, key]) => key);
});
const unlike = [...live.keys()]
  .filter((key) => !listed.includes(key))
  .concat(listed.filter((key) => !live.has(key)));
if (unlike.length > 0) {
  console.error(`docs/configuration.md, what a reload does: too many or too few keys: ${unlike.join(", ")}`);
  process.exit(1);
}
writeParts("configuration.md", {
  keys: Object.entries(configJsonSchema().properties).map(section).join("").split("\n").slice(1, -1),
});
