import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseAst } from "rolldown/parseAst";
import { describe, expect, it } from "vitest";
import { german as de } from "../../src/console/texts/de.ts";
import { later } from "../../src/console/texts/en/later.ts";
import { en, english } from "../../src/console/texts/en.ts";
import { fieldText, inWords, languageOf, say, speak, speakMore } from "../../src/console/texts/texts.ts";
import { alarmRules } from "../../src/domain/alarm.ts";
import { missionStateNames } from "../../src/domain/mission.ts";
import { qualities } from "../../src/domain/observed.ts";
import { outcomeMeanings } from "../../src/domain/outcome.ts";
import { batteryStateNames } from "../../src/domain/robot.ts";

const namesIn = (text: string) => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort();

describe("the texts of both languages", () => {
  it("have the same keys, names and forms", async () => {
    const german = { ...de.texts, ...(await de.more()).later };
    const all = { ...en, ...later };
    expect(Object.keys(german).sort()).toEqual(Object.keys(all).sort());
    for (const [key, text] of Object.entries(all)) {
      const other: string = Reflect.get(german, key);
      expect([key, namesIn(other)]).toEqual([key, namesIn(text)]);
      expect([key, other.split("|").length]).toEqual([key, text.split("|").length]);
      expect(other).not.toBe("");
    }
  });

  it("have a word for each name of the gateway and the service, and advice for each alarm", async () => {
    const outcomes = Object.keys(outcomeMeanings).filter((name) => name !== "idle");
    const states = [...batteryStateNames, ...missionStateNames].map((name) => name.replace("STATE_", ""));
    const names = [...qualities, ...outcomes, ...states, ...Object.keys(alarmRules)];
    const plain = names.map((name) => name.toLowerCase().replaceAll("_", " "));
    expect(plain.filter((name) => de.words[name] === undefined)).toEqual([]);
    expect(Object.keys(await de.alarms()).sort()).toEqual(Object.keys(alarmRules).sort());
  });

  it("have sayings that the gateway says, and names of fields that requests have", async () => {
    const { sayings, fields } = await de.more();
    const codeOf = (root: string, ending: string) =>
      readdirSync(root, { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(ending) && !file.startsWith("console"))
        .map((file) => readFileSync(join(root, file), "utf8"))
        .join();
    const [code, proto] = [codeOf("src", ".ts"), codeOf("proto", ".proto")];
    const camel = (plain: string) => plain.replace(/ (\w)/g, (_, letter: string) => letter.toUpperCase());
    const parts = Object.keys(sayings).flatMap((saying) =>
      saying.split(/\{\w+\}/).map((part) => part.trim()),
    );
    expect(parts.filter((part) => !code.includes(part) && !code.includes(camel(part)))).toEqual([]);
    const isField = (plain: string) => new RegExp(`\\b${plain.replaceAll(" ", "_")}\\b`).test(proto);
    expect(Object.keys(fields).filter((plain) => !isField(plain))).toEqual([]);
  });

  it("are those of the user's choice, or of the browser", () => {
    expect(languageOf(null, ["fr-FR", "de-AT", "en-GB"])).toBe("de");
    expect(languageOf("en", ["de-DE"])).toBe("en");
    expect(languageOf(null, ["fr-FR"])).toBe("en");
    expect(languageOf("tlh", ["de"])).toBe("de");
  });

  it("have one form for one thing, and another for several", () => {
    expect([1, 2].map((count) => say("alarms.number", { count }))).toEqual(["1 alarm", "2 alarms"]);
    speak(de, ["de-DE"]);
    expect([1, 2].map((count) => say("alarms.number", { count }))).toEqual(["1 Alarm", "2 Alarme"]);
    speak(english, ["en-GB"]);
  });

  it("say in German what the gateway says, with its values", async () => {
    const told = "2 of 3 streams are open; no token: (1) {a}; made of dots.";
    expect([inWords(told), fieldText("robot_id")]).toEqual([told, "robot id"]);
    speak(de, ["de-DE"]);
    await speakMore();
    const german = "2 von 3 Datenströmen sind offen; kein Token: (1) {a}; made of dots.";
    expect([inWords(told), fieldText("robot_id")]).toEqual([german, "Roboter (robot id)"]);
    speak(english, ["en-GB"]);
    await speakMore();
  });
});

it("no module of the first view uses a text that is loaded later, and each of its own is used there", () => {
  const usedIn = (file: string, keys: readonly string[]) => {
    const code = readFileSync(file, "utf8");
    const named = [...code.matchAll(/"([\w.]+)"/g)].flatMap(([, key = ""]) =>
      keys.includes(key) ? key : [],
    );
    const begun = [...code.matchAll(/`(\w+\.)\$\{/g)].flatMap(([, begin = ""]) =>
      keys.filter((key) => key.startsWith(begin)),
    );
    return [...named, ...begun];
  };
  const modules = firstModules("src/console/main.tsx").filter((file) => !file.includes("/texts/"));
  const usedFirst = (keys: readonly string[]) => modules.flatMap((file) => usedIn(file, keys));
  expect(usedFirst(Object.keys(later))).toEqual([]);
  expect(usedIn("src/console/views/connections.tsx", Object.keys(later)).length).toBeGreaterThan(20);
  const keys = Object.keys(en);
  const used = new Set(usedFirst(keys));
  expect(keys.filter((key) => !used.has(key))).toEqual([]);
});

/** A module, and those that are loaded with it. */
function firstModules(file: string, seen = new Set<string>()): readonly string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  const code = readFileSync(file, "utf8");
  for (const [, path = ""] of code.matchAll(/^(?:import(?! type)|\}).* from "(\..*\.tsx?)";$/gm))
    firstModules(join(dirname(file), path), seen);
  return [...seen];
}

describe("no view has a text of its own", () => {
  const root = "src/console";
  // The manual speaks English, like its pages.
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
    (file) => /\.tsx?$/.test(file) && !/^(texts|manual)/.test(file),
  );

  it.each(files)("%s", (file) => {
    expect(textsIn(readFileSync(join(root, file), "utf8"), file)).toEqual([]);
  });

  it("is a test that finds one", () => {
    const found = (code: string) => textsIn(code, "a.tsx").length;
    expect(found("const a = <p>Hello</p>;")).toBe(1);
    expect(found('const a = <p title="Hello" class="big box" />;')).toBe(1);
    expect(found('const a = b ? "not known" : "";')).toBe(1);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code
    expect(found("const a = `${b} of them`;")).toBe(1);
  });
});

interface Node {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** Attributes that people read. */
const spoken = /^(aria-label|title|label|caption|placeholder|alt)$/;
/**
 * Fonts, questions to the browser, keys, a role of the API, and a search that is written into the address.
 */
const ofCode = /sans-serif$|^\(prefers-|^(gap|number|station) $|^no proof$/;
/** Two words of a language: no code, no name of a class. */
const words = /[A-Za-z]{2,}[,:;.]? [a-z]{2,}|[A-Za-z]{2,} \$|^ ?[a-z]+ [a-z]* ?$/;

/** The texts in a file that should be in those of the languages. */
function textsIn(code: string, file: string): readonly string[] {
  const found: string[] = [];
  const look = (node: unknown): void => {
    if (Array.isArray(node)) {
      for (const each of node) look(each);
      return;
    }
    if (!isNode(node) || isOfCode(node)) return;
    const text = textOf(node);
    if (text !== null && !ofCode.test(text)) found.push(text);
    for (const part of Object.values(node)) look(part);
  };
  look(parseAst(code, { lang: file.endsWith("x") ? "tsx" : "ts" }).body);
  return found;
}

function textOf(node: Node): string | null {
  const { type, value } = node;
  if (type === "JSXText" && typeof value === "string") return /[A-Za-z]/.test(value) ? value.trim() : null;
  if (type === "JSXAttribute") {
    const { name, value: given } = node as unknown as { name: { name: string }; value: Node | null };
    const text = given?.type === "Literal" ? String(given.value) : "";
    return spoken.test(name.name) && /[A-Za-z]{2,}/.test(text) && !/^[a-z]+$/.test(text) ? text : null;
  }
  if (type === "Literal" && typeof value === "string") return words.test(value) ? value : null;
  if (type !== "TemplateElement") return null;
  const { raw } = value as { raw: string };
  return words.test(raw) || /^ [a-z]{2,}/.test(raw) ? raw : null;
}

/** What nobody reads: classes, keys, fonts, errors that only a developer sees, modules. */
function isOfCode(node: Node): boolean {
  if (node.type === "JSXAttribute")
    return /^(class|key|d|viewBox)$/.test((node.name as { name: string }).name);
  if (/^(Import|ExportAll|TS)/.test(node.type) || isSetting(node)) return true;
  if (node.type === "Property" && (node.key as { name?: string }).name === "class") return true;
  const { callee } = node as { callee?: { name?: string } };
  return node.type === "NewExpression" && /Error|DOMException/.test(callee?.name ?? "");
}

/** The name of a setting, as the configuration has it. */
function isSetting({ type, openingElement, children }: Node): boolean {
  if (type !== "JSXElement" || (children as readonly Node[])[0]?.type !== "JSXText") return false;
  const { attributes } = openingElement as {
    readonly attributes: ReadonlyArray<{ name?: { name?: string }; value?: { value?: unknown } | null }>;
  };
  return attributes.some(({ name, value }) => name?.name === "class" && value?.value === "id");
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value;
}
