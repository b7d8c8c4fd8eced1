import type { Source } from "../domain/command.ts";

/** The certificate of a client, or of an authority that lets clients in. Its owner wrote the texts. */
export interface ClientCertificate {
  /** SHA-1 in hexadecimal, as OPC UA tools show it. */
  readonly thumbprint: string;
  readonly isTrusted: boolean;
  /** The configuration trusts it: nobody else decides on it. */
  readonly isConfigured: boolean;
  readonly isAuthority: boolean;
  readonly subject: string;
  readonly issuer: string;
  /** The URI that names the application; null: it has none. */
  readonly applicationUri: string | null;
  /** ISO 8601, as the two that follow: since when its file lies where it does. */
  readonly since: string;
  readonly validFrom: string;
  readonly validTo: string;
  /** What is wrong with it, each a sentence. */
  readonly warnings: readonly string[];
}

/** What became of a decision. */
export type CertificateDecision =
  /** `isNew` false: it was so before. */
  | { readonly kind: "done"; readonly certificate: ClientCertificate; readonly isNew: boolean }
  | { readonly kind: "unknown" }
  | { readonly kind: "refused"; readonly reason: string };

/** Whom the OPC UA server lets in. */
export interface ClientCertificates {
  /** All that are trusted or wait for approval. Rejects when the disk cannot be read. */
  list(): Promise<readonly ClientCertificate[]>;
  /** Lets the client with this whole thumbprint in, or keeps it out. Rejects when the disk fails. */
  decide(thumbprint: string, isTrusted: boolean): Promise<CertificateDecision>;
}

/** Somebody has let a client in, or keeps it out. */
export interface CertificateChange {
  readonly source: Source;
  readonly address: string;
  readonly thumbprint: string;
  readonly subject: string;
  readonly isTrusted: boolean;
}

/** Where a protocol tells of decisions on certificates. */
export interface CertificateAudit {
  /** Puts it into the audit log. Never throws. */
  certificate(change: CertificateChange): void;
}
