import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { gatewayErrors } from "../src/domain/errors.ts";
import { type Literal, literalsOf } from "./support/literals.ts";

/** Where the words of refusals are: every sentence here must be some test's expectation. */
const places = [
  "src/domain/refusals.ts",
  "src/commands/",
  "src/fleet/operations/check.ts",
  "src/northbound/web/access/limited-moves.ts",
  "src/northbound/web/acts.ts",
  "src/northbound/web/command-body.ts",
  "src/northbound/web/command-intake.ts",
  "src/northbound/web/request-body.ts",
  "src/northbound/web/rights.ts",
  "src/northbound/web/sender.ts",
  "src/northbound/mqtt/commands.ts",
  "src/northbound/mqtt/message.ts",
  "src/northbound/opcua/commands/",
  "src/northbound/opcua/node-opcua/slot-writers.ts",
  "src/cli/call-request.ts",
];

/** These refuse in words of the places above, or what is no command to a robot. */
const otherRefusers = [
  "src/cli/call.ts",
  "src/domain/outcome.ts",
  "src/northbound/mqtt/broker/authenticate.ts",
  "src/northbound/opcua/log-on-gate.ts",
  "src/northbound/web/access/access-audit.ts",
  "src/northbound/web/client-certificates.ts",
  "src/northbound/web/simulator-routes.ts",
];

/** Sentences for somebody else than a command's sender, by the call that they stand in. */
const toOthers =
  /^(.*log\.(debug|info|warn|error)|Error|RecordDamaged|StoreFailed|add|builder\.\w+|addMethods|createClearing|report|setCondition)$/;

/** Sentences that no sender reads, or that no test can bring about, each with the reason. */
const exempt: Readonly<Record<string, string>> = {
  "an ISO 8601 time": "no request has a time",
  "\0; a refused write to \0 emptied the session's parameters": "its parts are two expectations",
  "its numbers are used up": "takes a thousand million numbers",
  "lines of the audit log are lost: \0": "stands in the health, which no sender reads",
  "the session has no user, and a slot needs operator": "a session that was let in has a user",
  "it is no request of the fleet service": "no method is made for such an operation",
  "the station is no longer configured":
    "a station that leases a robot goes with a restart, which is named first",
  "the body ends before its content-length": "its sender has gone",
  "the body did not arrive": "its sender has gone",
};

const sources = filesOf("src").filter((path) => places.some((place) => path.startsWith(place)));
const tests = filesOf("test").filter((path) => path !== "test/refusal-texts.test.ts");
/** All tests as they are written, without the backslashes that quoting and regular expressions need. */
const expectations = tests.map((path) => readFileSync(path, "utf8").replace(/\\/g, "")).join("\n");

describe("one test for each refusal, with its text", () => {
  it.each(sources)("%s", (path) => {
    const missing = literalsOf(readFileSync(path, "utf8"))
      .filter((literal) => isSentence(literal) && exempt[literal.text] === undefined)
      .filter(({ text }) => !patternOf(text).test(expectations))
      .map(({ text, line }) => `${path}:${line} ${text.replaceAll("\0", "…")}`);
    expect(missing).toEqual([]);
  });

  it("looks wherever refusals are made", () => {
    const makers = filesOf("src").filter((path) => {
      const isOurs = !/^src\/(simulator|config|wire)\//.test(path);
      return isOurs && /\b(refusal|badRequest|unknownOperation|jsonFault)\(/.test(readFileSync(path, "utf8"));
    });
    expect(makers.length).toBeGreaterThan(10);
    expect(makers.filter((path) => !sources.includes(path) && !otherRefusers.includes(path))).toEqual([]);
  });

  it("sees the sentences, and misses none that is not tested", () => {
    const sentences = sources.flatMap((path) => literalsOf(readFileSync(path, "utf8")).filter(isSentence));
    expect(sentences.length).toBeGreaterThan(80);
    expect(patternOf("no test \0 has ever read this").test(expectations)).toBe(false);
    const text = ["f(`a $", '{g("b c")} d`); // "no"\nlog.warn({}, "x y"); const r = /"/.test(""); "z"'].join(
      "",
    );
    expect(literalsOf(text)).toEqual([
      { text: "b c", line: 1, calls: ["f", "g"] },
      { text: "a \0 d", line: 1, calls: ["f"] },
      { text: "x y", line: 2, calls: ["log.warn"] },
      { text: "", line: 2, calls: [".test"] },
      { text: "z", line: 2, calls: [] },
    ]);
  });
});

describe("every error of the gateway", () => {
  it.each(Object.entries(gatewayErrors))(
    "%s is some refusal's that is tested by its code",
    (name, { id }) => {
      // By its name, or by its number as a PLC reads it.
      const checks = tests.filter((path) => {
        const text = readFileSync(path, "utf8");
        const isCode = new RegExp(`"${name}"|\\b${id}\\b`).test(text);
        return isCode && /\b(code|errorId|ErrorId)\b/.test(text);
      });
      expect(checks).not.toEqual([]);
    },
  );
});

function isSentence({ text, calls }: Literal): boolean {
  if (calls.some((call) => toOthers.test(call))) return false;
  const words = text.replaceAll("\0", "x").trim();
  return /[a-z,:;] [a-z]/i.test(words) && text.replaceAll("\0", "").length >= 12;
}

/** The text, whatever is filled in, within a line of a test. */
function patternOf(text: string): RegExp {
  const parts = text.replace(/\\/g, "").split("\0");
  return new RegExp(parts.map((part) => part.replace(/[.*+?^${}()|[\]]/g, "\\$&")).join("[^\\n]*?"));
}

function filesOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => join(folder, path))
    .sort();
}
