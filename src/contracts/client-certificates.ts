import type { Source } from "../domain/command.ts";

/** The certificate of a client, or of a CA whose clients are trusted. Its owner wrote the texts. */
export interface ClientCertificate {
  /** SHA-1 in hexadecimal, as OPC UA tools show it. */
  readonly thumbprint: string;
  readonly isTrusted: boolean;
  /** The configuration trusts it: no user decides on it. */
  readonly isConfigured: boolean;
  readonly isCa: boolean;
  readonly subject: string;
  readonly issuer: string;
  /** The URI that names the application; null: it has none. */
  readonly applicationUri: string | null;
  /** ISO 8601, like the two times that follow: since when its file has been in its folder. */
  readonly since: string;
  readonly validFrom: string;
  readonly validTo: string;
  /** What is wrong with it, each a sentence. */
  readonly warnings: readonly string[];
}

/** The result of a decision. */
export type CertificateDecision =
  /** `isNew` false: it was decided so before. */
  | { readonly kind: "done"; readonly certificate: ClientCertificate; readonly isNew: boolean }
  | { readonly kind: "unknown" }
  | { readonly kind: "refused"; readonly reason: string };

/** The clients that the OPC UA server trusts. */
export interface ClientCertificates {
  /** All that are trusted or wait for approval. Rejects if the disk cannot be read. */
  list(): Promise<readonly ClientCertificate[]>;
  /** Trusts the client with this whole thumbprint, or rejects it. Rejects if the disk fails. */
  decide(thumbprint: string, isTrusted: boolean): Promise<CertificateDecision>;
}

/** A user has trusted a client, or rejected it. */
export interface CertificateChange {
  readonly source: Source;
  readonly address: string;
  readonly thumbprint: string;
  readonly subject: string;
  readonly isTrusted: boolean;
}

/** Receives decisions on certificates from a protocol. */
export interface CertificateAudit {
  /** Puts it into the audit log. Never throws. */
  certificate(change: CertificateChange): void;
}

/** What the members of a cluster have decided on a client of OPC UA. */
export interface SharedClient {
  readonly isTrusted: boolean;
  /** Its certificate; "" if it is not trusted. */
  readonly pem: string;
}

/** The decisions, which every member may make. */
export interface SharedClients {
  /** By thumbprint, each with the number of its last change. Null: they are not known yet. */
  decisions(): ReadonlyMap<string, SharedClient & { readonly revision: number }> | null;
  /**
   * Decides, if nobody has since the change with this number (0: since ever). Resolves with the number of
   * this one; null: somebody has, or what became of it is not known.
   */
  decide(thumbprint: string, client: SharedClient, since: number): Promise<number | null>;
}
