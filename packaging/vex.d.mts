import type { Sbom } from "./sbom.mjs";

export interface Statement {
  readonly vulnerability: { readonly name: string };
  readonly products: readonly {
    readonly "@id": string;
    readonly subcomponents: readonly { readonly "@id": string }[];
  }[];
  readonly status: string;
  readonly justification?: string;
  readonly impact_statement?: string;
  readonly action_statement?: string;
}

export function vexOf(of: { readonly root: string; readonly sbom: Sbom; readonly at: string }): {
  readonly "@context": string;
  readonly statements: readonly Statement[];
};
