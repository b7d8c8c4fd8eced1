import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { sbomProblems } from "../../packaging/check-sbom.mjs";
import { missingLicence } from "../../packaging/licences.mjs";
import { type Component, type Sbom, sbomOf, withSerialNumber } from "../../packaging/sbom.mjs";
import { packagesOf } from "../../packaging/slim-tree.mjs";
import { vexOf } from "../../packaging/vex.mjs";

const root = join(import.meta.dirname, "../..");
const tree = mkdtempSync(join(tmpdir(), "fleetgate-sbom-"));
afterAll(() => rmSync(tree, { recursive: true, force: true }));

const put = (path: string, text: string) => {
  mkdirSync(join(tree, path, ".."), { recursive: true });
  writeFileSync(join(tree, path), text);
};
put("bin/node", "a program");
put("dist/main.js", "//#region node_modules/mqtt/build/index.js\n");
put("licences/mqtt/LICENSE.md", "MIT");
put("node_modules/lmdb/LICENSE", "MIT");
put("node_modules/lmdb/index.js", "");
put("node_modules/@lmdb/lmdb-linux-x64/LICENSE", "MIT");
put("node_modules/@lmdb/lmdb-linux-x64/node.napi.glibc.node", "a library");

const wanted = ["lmdb", "@lmdb/lmdb-linux-x64", "mqtt"];
const openssl = {
  name: "openssl",
  version: "3.5.8",
  licence: "Apache-2.0",
  url: "https://openssl-library.org/",
};
const made = () =>
  sbomOf({
    root,
    tree,
    manifest: JSON.parse(readFileSync(join(root, "package.json"), "utf8")),
    packages: packagesOf(root, "amd64", tree).filter(({ name }) => wanted.includes(name)),
    node: { version: "24.21.0", contents: [openssl] },
    at: "2026-01-31T18:00:00.000Z",
  });

function componentOf(sbom: Sbom, ref: string): Component {
  const found = sbom.components.find((component) => component["bom-ref"] === ref);
  if (found === undefined) throw new Error(`no ${ref}`);
  return found;
}
const file = (sbom: Sbom) => componentOf(sbom, "file:dist/main.js");
const library = (sbom: Sbom) => componentOf(sbom, "pkg:generic/openssl@3.5.8");
const without = (name: string) => (sbom: Sbom) => {
  file(sbom).properties =
    file(sbom).properties?.filter((each) => each.name !== `bsi:component:${name}`) ?? [];
};

type Break = readonly [what: string, says: RegExp, breakIt: (sbom: Sbom) => void];
const breaks: readonly Break[] = [
  [
    "an older format",
    /specVersion|4: the format/,
    (sbom) => {
      sbom.specVersion = "1.5";
    },
  ],
  ["no creator", /^5\.2\.1: the creator/, (sbom) => void delete sbom.metadata.manufacturer],
  [
    "a creator with a name alone",
    /^5\.2\.1: the creator/,
    (sbom) => {
      sbom.metadata.manufacturer = { name: "Somebody" };
    },
  ],
  ["no timestamp", /^5\.2\.1: the timestamp/, (sbom) => void delete sbom.metadata.timestamp],
  [
    "a local time",
    /^5\.2\.1/,
    (sbom) => {
      sbom.metadata.timestamp = "2026-01-31T18:00:00+01:00";
    },
  ],
  [
    "vulnerabilities",
    /^3\.1/,
    (sbom) => {
      sbom.vulnerabilities = [];
    },
  ],
  [
    "a component without a creator",
    /openssl.*5\.2\.2: the creator/,
    (sbom) => void delete library(sbom).manufacturer,
  ],
  [
    "a creator with an address and a page",
    /openssl.*5\.2\.2: the creator/,
    (sbom) => {
      library(sbom).manufacturer = {
        url: ["https://a.example/"],
        contact: [{ email: "a@b.example" }],
      };
    },
  ],
  ["no supplier", /openssl.*no supplier/, (sbom) => void delete library(sbom).supplier],
  [
    "no name",
    /openssl.*5\.2\.2: no name/,
    (sbom) => {
      library(sbom).name = "";
    },
  ],
  ["no version", /openssl.*5\.2\.2: no version/, (sbom) => void delete library(sbom).version],
  ["no licence", /openssl.*6\.1/, (sbom) => void delete library(sbom).licenses],
  [
    "a licence in free text",
    /openssl.*6\.1/,
    (sbom) => {
      library(sbom).licenses = [{ expression: "as is", acknowledgement: "concluded" }];
    },
  ],
  [
    "a licence that is not the distribution's",
    /openssl.*8\.2\.2/,
    (sbom) => {
      library(sbom).licenses = [{ expression: "MIT", acknowledgement: "declared" }];
    },
  ],
  ["no unique identifier", /openssl.*5\.2\.4/, (sbom) => void delete library(sbom).purl],
  ["no filename", /main\.js.*5\.2\.2: no filename/, without("filename")],
  ["no executable property", /main\.js.*8\.1\.4/, without("executable")],
  ["no archive property", /main\.js.*8\.1\.5/, without("archive")],
  ["no structured property", /main\.js.*8\.1\.6/, without("structured")],
  [
    "no hash",
    /main\.js.*5\.2\.2: no SHA-512/,
    (sbom) => {
      file(sbom).externalReferences = [];
    },
  ],
  ["dependencies that are not enumerated", /5\.2\.2: its dep/, (sbom) => void sbom.dependencies.pop()],
  ["a dependency that is missing", /gone: 5\.2\.2/, (sbom) => sbom.dependencies[0]?.dependsOn.push("gone")],
  [
    "a component that nothing needs",
    /5\.1: nothing depends/,
    (sbom) => {
      for (const each of sbom.dependencies) if (/node@/.test(each.ref)) each.dependsOn = [];
    },
  ],
  ["nothing about completeness", /5\.2\.2: it does not say/, (sbom) => void sbom.compositions.pop()],
  [
    "another word for completeness",
    /8\.2\.2: the completeness/,
    (sbom) => {
      for (const each of sbom.compositions) each.aggregate = "not_specified";
    },
  ],
];

describe("the SBOM", () => {
  test("has what BSI TR-03183-2 asks for", () => {
    expect(sbomProblems(made(), tree)).toEqual([]);
  });

  test("names what lies inside a file", () => {
    const uses = (ref: string) => made().dependencies.find((each) => each.ref === ref)?.dependsOn;
    expect(uses("file:bin/node")).toEqual(["pkg:generic/openssl@3.5.8"]);
    expect(uses("file:dist/main.js")).toEqual([expect.stringMatching(/^pkg:npm\/mqtt@/)]);
    expect(uses("file:node_modules/@lmdb/lmdb-linux-x64/node.napi.glibc.node")).toEqual([
      expect.stringMatching(/^pkg:generic\/LMDB@0\.9\.\d+$/),
      expect.stringMatching(/^pkg:generic\/LZ4@1\.\d+\.\d+$/),
    ]);
  });

  test("has the same serial number for the same content, and another one for other content", () => {
    const { serialNumber } = made();
    expect(serialNumber).toMatch(
      /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(made().serialNumber).toBe(serialNumber);
    const other = made();
    library(other).version = "3.5.9";
    expect(withSerialNumber(other).serialNumber).not.toBe(serialNumber);
    expect(sbomProblems(other)).toContain("5.2.3: the serial number is not that of the content");
  });

  test("without a serial number is refused", () => {
    const sbom = made();
    delete sbom.serialNumber;
    expect(sbomProblems(sbom)).toContain("5.2.3: no SBOM-URI");
  });

  test.each(breaks)("with %s is refused", (_what, says, breakIt) => {
    const sbom = made();
    breakIt(sbom);
    expect(sbomProblems(withSerialNumber(sbom), tree)).toContainEqual(expect.stringMatching(says));
  });

  test("is held to the files that are there", () => {
    const sbom = made();
    put("dist/added.js", "");
    put("dist/main.js", "changed");
    rmSync(join(tree, "node_modules/lmdb/LICENSE"));
    expect(sbomProblems(sbom, tree)).toEqual([
      expect.stringMatching(/^dist\/added\.js: 5\.1: is in the tree/),
      expect.stringMatching(/^node_modules\/lmdb\/LICENSE: 5\.1: is not in the tree/),
      expect.stringMatching(/^dist\/main\.js: 5\.2\.2: has another SHA-512/),
      expect.stringMatching(/^lmdb: no licence text/),
    ]);
  });
});

describe("licences", () => {
  test("have a text for every package, also for those that bring none", () => {
    const added = packagesOf(root, "amd64", tree).flatMap((packed) => {
      const text = missingLicence(root, packed);
      return text === null ? [] : [[packed.name, text.length > 500 && /copyright/i.test(text)]];
    });
    expect(Object.fromEntries(added)).toEqual({
      "@bufbuild/protobuf": true,
      "@lmdb/lmdb-linux-x64": true,
      "@msgpackr-extract/msgpackr-extract-linux-x64": true,
      "abstract-logging": true,
      "assert-plus": true,
      precond: true,
      "weak-lru-cache": true,
    });
  });

  test("without a text are refused", () => {
    expect(() => missingLicence(root, { name: "new", from: join(tree, "bin") })).toThrow(
      "new has no licence text",
    );
  });
});

describe("the VEX document", () => {
  const statementsOf = (sbom: Sbom) => vexOf({ root, sbom, at: "2026-01-31T18:00:00.000Z" }).statements;

  test("says of components of the SBOM whether they are affected, and why", () => {
    const sbom = made();
    const purls = sbom.components.map(({ purl }) => purl);
    expect(statementsOf(sbom).length).toBeGreaterThan(0);
    for (const each of statementsOf(sbom)) {
      expect(each.products[0]?.["@id"]).toBe(sbom.metadata.component?.purl);
      expect(purls).toContain(each.products[0]?.subcomponents[0]?.["@id"]);
      // OpenVEX 0.2.0, Status labels: what each status needs.
      expect(each).toMatchObject(
        each.status === "not_affected"
          ? { justification: expect.any(String) }
          : each.status === "affected"
            ? { action_statement: expect.any(String) }
            : { status: expect.stringMatching(/^(fixed|under_investigation)$/) },
      );
    }
  });

  test("says nothing of a version that nobody has looked at", () => {
    const sbom = made();
    for (const each of sbom.components) if (each.name === "LMDB") each.purl = "pkg:generic/LMDB@1.0.0";
    expect(statementsOf(sbom)).toEqual([]);
  });
});
