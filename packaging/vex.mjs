// What known vulnerabilities mean for this product, in OpenVEX 0.2.0.
import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The statements of vex.json about components that the package has. A statement for another version is left
 * out: somebody must look again.
 */
export function vexOf({ root, sbom, at }) {
  const { statements } = JSON.parse(readFileSync(join(root, "packaging", "vex.json"), "utf8"));
  const { component, manufacturer } = sbom.metadata;
  const known = new Set(sbom.components.map(({ purl }) => purl));
  return {
    "@context": "https://openvex.dev/ns/v0.2.0",
    "@id": `${sbom.serialNumber}#vex`,
    author: `${manufacturer.name} <${manufacturer.contact[0].email}>`,
    role: "manufacturer",
    timestamp: at,
    version: 1,
    statements: statements
      .filter(({ component: purl }) => known.has(purl))
      .map(({ component: purl, vulnerability, ...others }) => ({
        vulnerability: { name: vulnerability },
        products: [{ "@id": component.purl, subcomponents: [{ "@id": purl }] }],
        ...others,
      })),
  };
}
