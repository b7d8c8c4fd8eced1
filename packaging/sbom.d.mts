export interface Licence {
  expression?: string;
  acknowledgement?: string;
}

export interface Maker {
  name?: string;
  url?: string[];
  contact?: { email?: string }[];
}

export interface Component {
  type: string;
  "bom-ref"?: string;
  name: string;
  version?: string;
  purl?: string;
  manufacturer?: Maker;
  supplier?: Maker;
  licenses?: Licence[];
  hashes?: unknown;
  properties?: { name: string; value: string }[];
  externalReferences?: { type: string; url: string; hashes?: { alg: string; content: string }[] }[];
}

export interface Sbom {
  specVersion: string;
  serialNumber?: string;
  metadata: { timestamp?: string; component?: Component; manufacturer?: Maker };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
  compositions: { aggregate: string; dependencies: string[] }[];
  vulnerabilities?: unknown;
}

export function sbomOf(of: {
  readonly root: string;
  readonly tree: string;
  readonly manifest: unknown;
  readonly packages: readonly Packed[];
  readonly node: { readonly version: string; readonly contents: readonly unknown[] };
  readonly at: string;
}): Sbom;

/** With the number of its content. */
export function withSerialNumber(sbom: Sbom): Sbom;

export interface Packed {
  readonly name: string;
  /** Its folder. */
  readonly from: string;
}
