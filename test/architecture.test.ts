import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { circlesOf } from "./support/circles.ts";
import { type Import, importsOf, withoutComments } from "./support/imports.ts";
import { operations } from "./support/operations.ts";

/** What a module may import, by the beginning of the path under src, each with its reason. */
type Rules = Readonly<Record<string, string>>;

const sharedByNorthbounds: Rules = {
  domain: "what is shown",
  models: "what is published has one shape in every protocol",
  contracts: "how it is given, and how commands leave",
  platform: "parts of any daemon",
};

/** What state, delivery and commands may import: no protocol, and never each other. */
const core: Rules = {
  domain: "what it keeps and decides on",
  contracts: "it must not know which protocols exist",
  platform: "parts of any daemon",
};

/**
 * The import table of docs/develop.md, Modules. What is not here is forbidden; a module may always import
 * itself.
 */
const modules: Readonly<Record<string, Rules>> = {
  domain: {},
  contracts: { domain: "a promise names what it is about" },
  platform: {},
  wire: {},
  config: {
    domain: "roles, qualities and robots are keys and values of the file",
    contracts: "a promise, not an implementation",
    platform: "parts of any daemon",
    "fleet/options.ts": "the options that configuration builds",
    "northbound/mqtt/options.ts": "the options that configuration builds",
    "northbound/mqtt/sparkplug/options.ts": "the options that configuration builds",
    "northbound/mqtt/topic-templates.ts": "the placement of topics is configuration",
    "northbound/mqtt/topic-checks.ts": "one place knows what is wrong with topics",
    "northbound/opcua/options.ts": "the options that configuration builds",
    "northbound/web/options.ts": "the options that configuration builds",
    "commands/options.ts": "the options that configuration builds",
    "cluster/options.ts": "the options that configuration builds",
    "delivery/outbox/options.ts": "the options that configuration builds",
  },
  fleet: {
    domain: "what messages are translated to",
    contracts: "what the gateway expects of a fleet",
    platform: "parts of any daemon",
    wire: "the only gateway module that sees the service's messages",
  },
  cluster: {
    domain: "what its records are about",
    contracts: "what the gateway expects of a store",
    platform: "parts of any daemon",
    "wire/etcd": "etcd's messages, and no others",
  },
  models: { domain: "what is published", contracts: "how it is given", platform: "parts of any daemon" },
  state: core,
  delivery: core,
  commands: core,
  "northbound/mqtt": { ...sharedByNorthbounds, "wire/sparkplug": "its messages, and no others" },
  "northbound/opcua": sharedByNorthbounds,
  "northbound/web": sharedByNorthbounds,
  console: {
    models: "what the gateway publishes; types alone, for it runs in the browser",
    "northbound/web/api": "what the gateway answers; types alone",
  },
  simulator: {
    platform: "parts of any daemon",
    wire: "its messages; it must not share our translation, or two bugs cancel out",
  },
  composition: { "": "the composition root wires everything, and decides nothing of its own" },
  cli: { "": "commands wire what they run" },
  "version.ts": { platform: "the notes of the build" },
  "main.ts": { cli: "argv to command, nothing else" },
};

/** Who asks Date for the time: all others have a clock, and with it a test's time. */
const readersOfDate: Readonly<Record<string, string>> = {
  "platform/clock.ts": "the clock",
  "cluster/etcd/member.ts": "gRPC takes a deadline as a Date, and begins a timer with it at once",
  cli: "a command of a moment; what runs longer is given the clock",
  console: "the browser has no clock of ours",
  "fleet/calls/service-call.ts": "gRPC takes a deadline as a Date, and begins a timer with it at once",
  "fleet/channels/preflight.ts": "gRPC takes a deadline as a Date, and begins a timer with it at once",
  "northbound/mqtt/client/client.ts": "validity of the broker's certificate",
  "northbound/opcua/certificate-store/move.ts": "the time of a file",
  "northbound/opcua/node-opcua/steady-times.ts": "undoes a subtraction of wall times",
};

/** Who subtracts or compares wall times. Ages and timeouts are for the monotonic clock: the other is set. */
const usersOfWallTimes: Readonly<Record<string, string>> = {
  "cluster/protocol/presence.ts": "the wall clock of another machine",
  "cli/online/etcd.ts": "the wall clock of another machine",
  "cli/online/members.ts": "the wall clock of another machine",
  "platform/clock-watch.ts": "sees that it was set, and what it would be without that",
  "platform/crash/crash-watch.ts": "reports of runs before have a wall time alone",
  "platform/recorder/segments.ts": "recordings of runs before have a wall time alone",
  "northbound/mqtt/commands.ts": "when a message came in, which is a moment",
  "northbound/mqtt/sparkplug/connection.ts": "sees that it was set back",
  "northbound/mqtt/sparkplug/primary-host.ts": "the wall clock of another machine",
  "northbound/web/floor/robot-facts.ts": "the monotonic time of a message that came just now",
  "northbound/web/floor/floor-json.ts": "a lease of a run before has a wall time alone",
  "northbound/web/resources/gateway.ts": "certificates end by the wall clock",
  "fleet/session/exchange-history.ts": "what runs before have noted",
  "fleet/session/exchange.ts": "the service's times",
  "fleet/robot-clocks.ts": "the times of the service and of its robots",
  "commands/journal/durable-journal.ts": "records of runs before have a wall time alone",
  "commands/intake-checks.ts": "a moment that the sender wrote (expires_at)",
  "commands/evidence/evidence-search.ts": "the monotonic time of a message that came just now",
  "console/commanding/send.ts": "what a page has kept over its reload",
};

/** Modules that may look at the environment of the process. */
const readersOfEnvironment = ["config", "cli"];

/** The modules that name no operation and no protocol. */
const coreModules = ["state", "delivery", "commands"];

const protocolPackage =
  /^(@grpc\/|@bufbuild\/|mqtt|aedes|node-opcua|fastify|undici|jose|node:(net|tls|https?|http2)$)/;

const mostLines = 400;

interface Source {
  /** Under src, with slashes. */
  readonly path: string;
  readonly module: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

const sources = readSources("src");
const written = sources.filter((source) => source.module !== "wire");

describe("the architecture test itself", () => {
  it("has found the code", () => {
    expect(written.length).toBeGreaterThan(50);
    const outer = ["domain", "contracts", "platform", "config", "fleet", "models", "console", "simulator"];
    for (const module of [...outer, ...coreModules]) {
      expect(
        written.some((source) => source.module === module),
        `no file of ${module}`,
      ).toBe(true);
    }
    expect(written.flatMap((source) => source.imports).length).toBeGreaterThan(100);
  });

  it("sees every kind of import, and none in comments", () => {
    const text = `
      import { a } from "./a.ts";
      import type { B } from './b.ts';
      import {
        c,
        type C,
      } from "../c.ts";
      import "./d.ts";
      export { e } from "./e.ts";
      export type * from "./f.ts";
      const g = await import("./g.ts");
      let h: import("./h.ts").H;
      const i = require("./i.ts");
      // import { no } from "./comment.ts";
      /* import { no } from "./block.ts"; */
    `;
    expect(importsOf(text).map((found) => found.specifier)).toEqual([
      ..."abc".split("").map((name) => (name === "c" ? "../c.ts" : `./${name}.ts`)),
      ..."defghi".split("").map((name) => `./${name}.ts`),
    ]);
  });

  it("finds circles, and what is not in one", () => {
    const imports = new Map([
      ["a.ts", ["b.ts", "d.ts"]],
      ["b.ts", ["c.ts"]],
      ["c.ts", ["a.ts"]],
      ["d.ts", []],
      ["e.ts", ["a.ts"]],
      ["f.ts", ["f.ts"]],
    ]);
    expect(circlesOf(imports)).toEqual([["a.ts", "b.ts", "c.ts"], ["f.ts"]]);
  });

  it.each([
    ["src/delivery/a.ts", "../fleet/b.ts", false],
    ["src/delivery/a.ts", "../state/b.ts", false],
    ["src/commands/a.ts", "../contracts/b.ts", true],
    ["src/northbound/mqtt/a.ts", "../opcua/b.ts", false],
    ["src/northbound/mqtt/a.ts", "./sparkplug/b.ts", true],
    ["src/simulator/a.ts", "../domain/b.ts", false],
    ["src/config/a.ts", "../fleet/options.ts", true],
    ["src/config/a.ts", "../fleet/session/token.ts", false],
    ["src/domain/a.ts", "../platform/clock.ts", false],
    ["src/console/a.ts", "../northbound/web/api/b.ts", true],
    ["src/console/views/a.tsx", "../../northbound/web/server.ts", false],
    ["src/console/a.ts", "../domain/b.ts", false],
    ["src/models/a.ts", "../northbound/web/b.ts", false],
    ["src/northbound/web/a.ts", "../../models/b.ts", true],
  ])("of %s importing %s says %s", (from, specifier, allowed) => {
    expect(refusalOf(relative("src", from), specifier) === null).toBe(allowed);
  });
});

describe("the import table", () => {
  it("has a row for every module", () => {
    const unknown = sources
      .filter((source) => modules[source.module] === undefined)
      .map((source) => source.path);
    expect(unknown).toEqual([]);
  });

  it("is kept", () => {
    const refusals = written.flatMap((source) =>
      source.imports
        .filter((found) => found.specifier.startsWith("."))
        .map((found) => refusalOf(source.path, found.specifier))
        .filter((refusal) => refusal !== null),
    );
    expect(refusals).toEqual([]);
  });

  it("gives the console nothing but types, and nobody imports it", () => {
    const value = /^import (?!type\b)[^;]*(?:northbound\/web\/api|models)\//m;
    const ofNode = written
      .filter(({ module }) => module === "console")
      .filter(
        ({ text, imports }) => value.test(text) || imports.some(({ specifier }) => /^node:/.test(specifier)),
      );
    expect(ofNode.map(({ path }) => path)).toEqual([]);
    const users = written
      .filter(({ module }) => module !== "console")
      .filter(({ path, imports }) => imports.some(({ specifier }) => reaches(path, specifier, "console")));
    expect(users.map(({ path }) => path)).toEqual([]);
  });

  it("has no circle, not even of types", () => {
    const imports = new Map(
      written.map((source) => [
        source.path,
        source.imports
          .filter((found) => found.specifier.startsWith("."))
          .map((found) => join(dirname(source.path), found.specifier)),
      ]),
    );
    expect(circlesOf(imports)).toEqual([]);
  });

  it("lets only fleet and simulator see the service's messages, and only the cluster etcd's", () => {
    const seers = (messages: string) => {
      const found = written.filter((source) =>
        source.imports.some(({ specifier }) => reaches(source.path, specifier, messages)),
      );
      return new Set(found.map(({ module }) => module));
    };
    expect(seers("wire/etcd")).toEqual(new Set(["cluster"]));
    expect(seers("wire/sparkplug")).toEqual(new Set(["northbound/mqtt"]));
    expect(seers("wire")).toEqual(new Set(["cluster", "fleet", "northbound/mqtt", "simulator"]));
  });

  it("lets only the demo join gateway and simulator", () => {
    const uses = ({ path, imports }: Source, module: string) =>
      imports.some(({ specifier }) => reaches(path, specifier, module));
    const joined = pathsWhere((source) => uses(source, "composition") && uses(source, "simulator"));
    expect(joined.filter((path) => path !== "cli/demo.ts")).toEqual([]);
  });
});

describe("the habits", () => {
  it("files stay readable: at most 400 lines", () => {
    const long = [...written, ...readSources("test"), ...readSources("bench")]
      .map((source) => ({ path: source.path, lines: source.text.split("\n").length - 1 }))
      .filter(({ lines }) => lines > mostLines);
    expect(long).toEqual([]);
  });

  it("no default exports and no barrel files", () => {
    const code = (source: Source) => withoutComments(source.text);
    expect(
      pathsWhere((source) => /^\s*export\s+(default\b|\{[^}]*\bas\s+default\b)/m.test(code(source))),
    ).toEqual([]);
    expect(
      pathsWhere((source) =>
        /^\s*export\s+(type\s+)?(\*|\{[^}]*\})\s*(as\s+\w+\s*)?from\b/m.test(code(source)),
      ),
    ).toEqual([]);
  });

  it("only config and cli read the environment", () => {
    const readers = pathsWhere((source) =>
      /\bprocess\s*(\.\s*env\b|\[)|\benv\b[^;]*\}\s*=\s*process\b|\benv\b.*from "node:process"/.test(
        withoutComments(source.text),
      ),
    );
    const others = readers.filter((path) => !readersOfEnvironment.includes(path.split("/")[0] ?? ""));
    expect(others).toEqual([]);
  });

  it("only the clock reads the time, and nobody makes an age of wall times", () => {
    const others = (allowed: Readonly<Record<string, string>>, use: RegExp) =>
      pathsWhere((source) => source.module !== "simulator" && use.test(withoutComments(source.text))).filter(
        (path) => !Object.keys(allowed).some((each) => path === each || path.startsWith(`${each}/`)),
      );
    const date = /\bDate\.now\b|\bnew Date\(\s*\)/;
    const arithmetic = /\bnowMs\(\)\s*(?:-|[<>])|(?:-|(?<!=)[<>]=?)\s+(?:\w+\.)*nowMs\(\)/;
    expect(others(readersOfDate, date)).toEqual([]);
    expect(others(usersOfWallTimes, arithmetic)).toEqual([]);
    expect(others({}, arithmetic).length).toBeGreaterThan(10);
    expect(["atMs - clock.nowMs()", "clock.nowMs() < atMs"].every((text) => arithmetic.test(text))).toBe(
      true,
    );
  });

  it("only the web module knows the metrics' package: the others tell what happens through a contract", () => {
    const users = pathsWhere((source) => source.imports.some(({ specifier }) => specifier === "prom-client"));
    expect(users.filter((path) => !path.startsWith("northbound/web/metrics/"))).toEqual([]);
    expect(users).not.toEqual([]);
  });

  it("folders are made in one place: `mkdir` with `recursive` never comes back from /proc", () => {
    const makers = pathsWhere((source) => /\bmkdir(Sync)?\(/.test(withoutComments(source.text)));
    expect(makers).toEqual(["platform/folder.ts"]);
  });

  it("the simulator and the OPC UA server are loaded where they are used: a start without them is shorter", () => {
    const value = /^import (?!type\b)[^;]*from "[^"]*(?:simulator\/simulator|opcua\/server)\.ts"/m;
    expect(pathsWhere((source) => value.test(withoutComments(source.text)))).toEqual([]);
  });

  it("state, delivery and commands name no operation", () => {
    const name = new RegExp(`\\b(${[...operations.keys()].join("|")})\\b`);
    const naming = written
      .filter((source) => coreModules.includes(source.module) && name.test(withoutComments(source.text)))
      .map((source) => `${source.path}: ${name.exec(withoutComments(source.text))?.[0]}`);
    expect(naming).toEqual([]);
  });

  it("the pure modules use no package, and the core modules none of a protocol", () => {
    const packages = (module: string) =>
      written
        .filter((source) => source.module === module)
        .flatMap((source) => source.imports.map((found) => ({ path: source.path, name: found.specifier })))
        .filter((found) => !found.name.startsWith("."));
    expect([...packages("domain"), ...packages("contracts")]).toEqual([]);
    expect(coreModules.flatMap(packages).filter((found) => protocolPackage.test(found.name))).toEqual([]);
  });

  it("file names are kebab-case nouns, none a drawer for everything", () => {
    const odd = pathsWhere(
      (source) => !/^([a-z0-9]+(-[a-z0-9]+)*\/)*[a-z0-9]+(-[a-z0-9]+)*\.tsx?$/.test(source.path),
    );
    const drawers = pathsWhere((source) =>
      /(^|[/-])(utils?|helpers?|managers?|misc|common)\.tsx?$/.test(source.path),
    );
    expect([...odd, ...drawers]).toEqual([]);
  });
});

function pathsWhere(test: (source: Source) => boolean): string[] {
  return written.filter(test).map((source) => source.path);
}

/** Why an import is not allowed, or null when it is. */
function refusalOf(from: string, specifier: string): string | null {
  const to = join(dirname(from), specifier);
  const module = moduleOf(from);
  if (moduleOf(to) === module) return null;
  const allowed = Object.keys(modules[module] ?? {});
  return allowed.some((beginning) => isUnder(to, beginning))
    ? null
    : `${from} imports ${to}; ${module} may import only: ${allowed.join(", ") || "nothing"}`;
}

function reaches(from: string, specifier: string, beginning: string): boolean {
  return specifier.startsWith(".") && isUnder(join(dirname(from), specifier), beginning);
}

function isUnder(path: string, beginning: string): boolean {
  return beginning === "" || path === beginning || path.startsWith(`${beginning}/`);
}

function moduleOf(path: string): string {
  const [first = "", second = ""] = path.split("/");
  return first === "northbound" ? `${first}/${second}` : first;
}

function readSources(folder: string): readonly Source[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(tsx?|js)$/.test(entry.name))
    .map((entry) => {
      const file = join(entry.parentPath, entry.name);
      const path = relative(folder, file);
      const text = readFileSync(file, "utf8");
      return { path, module: moduleOf(path), text, imports: importsOf(text) };
    });
}
