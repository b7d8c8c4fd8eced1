import { z } from "zod";
import { time, type ViewOf } from "../../../models/parts.ts";
import { page } from "./parts.ts";

const thumbprint = z
  .string()
  .regex(/^[0-9a-f]{40}$/)
  .describe("SHA-1 in hexadecimal, as OPC UA tools show it.");

/** The certificate of an OPC UA client, or of a CA. Its owner wrote the texts. */
export const certificate = z.strictObject({
  thumbprint,
  state: z.enum(["waiting", "trusted"]).describe("waiting: nobody has approved it, or it was rejected."),
  since: time,
  subject: z.string(),
  issuer: z.string(),
  application_uri: z.string().nullable(),
  ca: z.boolean().describe("All clients that it has signed are trusted, too."),
  configured: z.boolean().describe("The configuration trusts it: it cannot be rejected here."),
  valid_from: time,
  valid_to: time,
  warnings: z.array(z.string()),
});

export const certificates = z.strictObject({
  ...page,
  certificates: z.array(certificate),
  why_not: z.string().describe("Why you cannot decide on them; empty where you can."),
});

/** The body of `PUT /api/v1/certificates/{thumbprint}`. */
export const certificateRequest = z.strictObject({
  trusted: z.boolean().describe("Whether the client is trusted."),
  password: z.string().describe("Yours, again."),
});

export type Certificate = ViewOf<typeof certificate>;
export type Certificates = ViewOf<typeof certificates>;
export type CertificateRequest = ViewOf<typeof certificateRequest>;
