// Holds an SBOM to BSI TR-03183-2, version 2.1.0, and to the schema of CycloneDX 1.6. Each check names the
// section that asks for it. Usage: node packaging/check-sbom.mjs FILE [TREE] With the tree, every file there
// must be in the list, with its hash, and every package must have its licence.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import Ajv from "ajv";
import parseLicence from "spdx-expression-parse";
import { isLicence } from "./licences.mjs";
import { filesOf, sha512Of, withSerialNumber } from "./sbom.mjs";

const schemas = join(
  dirname(createRequire(import.meta.url).resolve("@cyclonedx/cyclonedx-library/package.json")),
  "res/schema",
);
const named = (name) => `${name}.SNAPSHOT.schema.json`;
const schemaOf = (name) => JSON.parse(readFileSync(join(schemas, named(name)), "utf8"));
const beside = (name) => `http://cyclonedx.org/schema/${named(name)}`;
/** What the schema calls formats is checked below. */
const isCycloneDx = new Ajv({ strict: false, validateFormats: false, allErrors: true })
  .addSchema(schemaOf("spdx"), beside("spdx"))
  .addSchema(schemaOf("jsf-0.82"), beside("jsf-0.82"))
  .compile(schemaOf("bom-1.6"));

/**
 * @param sbom the parsed document
 * @param tree the folder that it lists, if it is at hand
 * @returns a line for each problem
 */
export function sbomProblems(sbom, tree) {
  if (!isCycloneDx(sbom))
    return isCycloneDx.errors.map(({ instancePath, message }) => `4: ${instancePath} ${message}`);
  return [
    ...documentProblems(sbom),
    ...[sbom.metadata.component, ...sbom.components].flatMap(componentProblems),
    ...graphProblems(sbom),
    ...(tree === undefined ? [] : treeProblems(sbom, tree)),
  ];
}

function documentProblems(sbom) {
  const { metadata = {}, serialNumber } = sbom;
  return found([
    [sbom.specVersion !== "1.6", "4: the format is not CycloneDX 1.6"],
    [!isContact(metadata.manufacturer), "5.2.1: the creator of the SBOM has no e-mail address or URL"],
    [!isTime(metadata.timestamp), "5.2.1: the timestamp is not a time in UTC"],
    [serialNumber === undefined, "5.2.3: no SBOM-URI"],
    [
      serialNumber !== undefined && serialNumber !== withSerialNumber(sbom).serialNumber,
      "5.2.3: the serial number is not that of the content",
    ],
    [sbom.vulnerabilities !== undefined, "3.1: vulnerabilities do not belong into an SBOM"],
    [metadata.component === undefined, "5.1: no primary component"],
  ]);
}

function componentProblems(component) {
  const ref = component["bom-ref"];
  const [licence] = component.licenses ?? [];
  return found([
    [ref === undefined, "5.2.2: no bom-ref, which dependencies need"],
    [!isContact(component.manufacturer), "5.2.2: the creator has no e-mail address or URL"],
    [!component.supplier?.name, "no supplier"],
    [!component.name, "5.2.2: no name"],
    [!component.version, "5.2.2: no version"],
    [!isLicenceExpression(licence?.expression), "6.1: the distribution licence is no SPDX expression"],
    [licence?.acknowledgement !== "concluded", "8.2.2: the distribution licence is not marked concluded"],
    ...(component.type === "file" ? physicalProblems(component) : logicalProblems(component)),
  ]).map((problem) => `${ref ?? component.name}: ${problem}`);
}

/** Of 5.2.2, beyond what logical components have. */
function physicalProblems({ properties = [], externalReferences = [] }) {
  const propertyOf = (name) => properties.find((each) => each.name === `bsi:component:${name}`)?.value;
  const sha512 = sha512In(distributionOf({ externalReferences })?.hashes);
  const filename = propertyOf("filename");
  return [
    [!filename || filename !== basename(filename), "5.2.2: no filename, or a path"],
    [!/^[0-9a-f]{128}$/.test(sha512), "5.2.2: no SHA-512 of the file"],
    [!["executable", "non-executable"].includes(propertyOf("executable")), "8.1.4: no executable property"],
    [!["archive", "no archive"].includes(propertyOf("archive")), "8.1.5: no archive property"],
    [!["structured", "unstructured"].includes(propertyOf("structured")), "8.1.6: no structured property"],
  ];
}

/** Of 3.2.2. */
function logicalProblems({ purl, cpe, hashes }) {
  return [
    [purl === undefined && cpe === undefined, "5.2.4: no other unique identifier"],
    [hashes !== undefined, "3.2.2: a logical component is no file, and has no hash"],
  ];
}

function graphProblems({ metadata, components, dependencies = [], compositions = [] }) {
  const refs = [metadata.component, ...components].map((component) => component["bom-ref"]);
  const known = new Set(refs);
  const uses = new Map(dependencies.map(({ ref, dependsOn = [] }) => [ref, dependsOn]));
  const reached = new Set();
  const reach = (ref) => {
    if (reached.has(ref)) return;
    reached.add(ref);
    for (const each of uses.get(ref) ?? []) reach(each);
  };
  reach(refs[0]);
  const stated = new Set(compositions.flatMap((each) => each.dependencies ?? []));
  const states = ["complete", "incomplete", "unknown"];
  return [
    ...[...new Set(refs.filter((ref, at) => refs.indexOf(ref) !== at))].map(
      (ref) => `${ref}: is in it twice`,
    ),
    ...refs
      .filter((ref) => !uses.has(ref))
      .map((ref) => `${ref}: 5.2.2: its dependencies are not enumerated`),
    ...[...uses].flatMap(([ref, used]) =>
      [ref, ...used]
        .filter((each) => !known.has(each))
        .map((each) => `${each}: 5.2.2: ${ref} needs it, it is missing`),
    ),
    ...refs.filter((ref) => !reached.has(ref)).map((ref) => `${ref}: 5.1: nothing depends on it`),
    ...refs
      .filter((ref) => !stated.has(ref))
      .map((ref) => `${ref}: 5.2.2: it does not say whether its dependencies are complete`),
    ...found(
      compositions.map(({ aggregate }) => [
        !states.includes(aggregate),
        `8.2.2: the completeness is ${aggregate}; it is one of ${states.join(", ")}`,
      ]),
    ),
  ];
}

function treeProblems({ components }, tree) {
  const listed = new Map(
    components
      .filter(({ type }) => type === "file")
      .map(distributionOf)
      .filter((each) => each !== undefined)
      .map(({ url, hashes }) => [decodeURI(url), sha512In(hashes)]),
  );
  // Units are no part of the program: systemd reads them, and dpkg lists them.
  const files = filesOf(tree).filter((path) => !path.startsWith("systemd/"));
  const there = new Set(files);
  return [
    ...files
      .filter((path) => !listed.has(path))
      .map((path) => `${path}: 5.1: is in the tree, not in the SBOM`),
    ...[...listed.keys()]
      .filter((path) => !there.has(path))
      .map((path) => `${path}: 5.1: is not in the tree`),
    ...files
      .filter((path) => listed.has(path) && listed.get(path) !== sha512Of(join(tree, path)))
      .map((path) => `${path}: 5.2.2: has another SHA-512`),
    ...components
      .filter(({ purl }) => purl?.startsWith("pkg:npm/"))
      .filter(
        ({ name }) => !["licences", "node_modules"].some((folder) => hasLicence(join(tree, folder, name))),
      )
      .map(({ name }) => `${name}: no licence text in the tree`),
  ];
}

/** Where the guideline puts the hash of a file (8.2.2). */
function distributionOf({ externalReferences = [] }) {
  return externalReferences.find(({ type }) => type === "distribution");
}

function sha512In(hashes = []) {
  return hashes.find(({ alg }) => alg === "SHA-512")?.content ?? "";
}

function hasLicence(folder) {
  return existsSync(folder) && readdirSync(folder).some(isLicence);
}

/** The address or the URL, not both (8.2.2). */
function isContact({ url = [], contact = [] } = {}) {
  const pages = url.filter((each) => /^https?:\/\/[^\s/]+/.test(each));
  const addresses = contact.filter(({ email }) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email ?? ""));
  return pages.length > 0 !== addresses.length > 0;
}

function isTime(text) {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text ?? "") && !Number.isNaN(Date.parse(text));
}

function isLicenceExpression(text) {
  try {
    parseLicence(text);
    // A name of one's own has the name of its list (6.1).
    return (text.match(/LicenseRef-\S+/g) ?? []).every((each) => /^LicenseRef-[\w.]+-[\w.-]+$/.test(each));
  } catch {
    return false;
  }
}

function found(checks) {
  return checks.filter(([isWrong]) => isWrong).map(([, problem]) => problem);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [file, tree] = process.argv.slice(2);
  const sbom = JSON.parse(readFileSync(file, "utf8"));
  const problems = sbomProblems(sbom, tree);
  for (const problem of problems) console.error(problem);
  const files = sbom.components?.filter(({ type }) => type === "file").length;
  console.log(`${sbom.components?.length} components, ${files} files, ${problems.length} problems`);
  if (problems.length > 0) process.exitCode = 1;
}
