import { X509Certificate } from "node:crypto";
import {
  type CertificateFacts,
  factsOf,
} from "../../northbound/opcua/certificate-store/certificate-facts.ts";
import type { Moved } from "../../northbound/opcua/certificate-store/move.ts";
import { plainStart } from "../../platform/plain-text.ts";
import type { Damaged, Inventory, Listed } from "./inventory.ts";
import type { PlacedFile } from "./listener-renewal.ts";
import type { Placed } from "./renewal.ts";

const headings: ReadonlyArray<readonly [place: Listed["place"], heading: string, none: string | null]> = [
  ["own", "The gateway's own certificate (OPC UA)", null],
  ["next", "The gateway's next certificate, not in use yet", null],
  ["rejected", "Clients that wait for approval, or were rejected", "none"],
  ["trusted", "Clients and CAs that are trusted", "none"],
  ["issuers", "Issuers, which let nobody in", null],
  ["configuration", "Files that the configuration names", null],
];

/** The output of `fleetgate certs list`. */
export function inventoryText({ certificates, damaged }: Inventory): string {
  const parts = headings.flatMap(([place, heading, none]) => {
    const here = certificates.filter((each) => each.place === place);
    const broken = damaged.filter((each) => each.place === place);
    if (here.length + broken.length === 0) return none === null ? [] : [`${heading}: ${none}\n`];
    return [
      `${heading}\n${here.map((each) => shortText(each, here)).join("")}${broken.map(damageText).join("")}`,
    ];
  });
  return parts.join("\n");
}

function shortText(listed: Listed, here: readonly Listed[]): string {
  const { place, configKey, path, since, facts, warnings } = listed;
  const { thumbprint, validTo, daysLeft, subject, applicationUri } = facts;
  const days = daysLeft < 0 ? "expired" : daysLeftText(daysLeft);
  const lines = [
    `  ${thumbprint}  until ${validTo.slice(0, 10)} (${days})`,
    `    ${plainStart(subject, 200) || "(without a subject)"}`,
    ...(applicationUri === null ? [] : [`    ${plainStart(applicationUri, 200)}`]),
    ...(configKey === null ? [] : [`    ${configKey}: ${plainStart(path, 400)}`]),
    ...(place === "rejected" && since !== null ? [`    since ${minuteText(since)}`] : []),
    ...(place === "rejected" && here.some((other) => isAlike(other, listed)) ? [ALIKE] : []),
    ...ownLines(place, facts),
    ...warnings.map((warning) => `    ! ${plainStart(warning, 400)}`),
  ];
  return `${lines.join("\n")}\n`;
}

/** NaN: this machine's clock is wrong. */
function daysLeftText(daysLeft: number): string {
  return Number.isNaN(daysLeft) ? "the clock is wrong" : `${daysLeft} days left`;
}

const ALIKE = "    another one here has the same name and URI: only the thumbprint tells them apart";

/** Whether two different certificates seem to belong to one client. */
function isAlike({ facts: one }: Listed, { facts: other }: Listed): boolean {
  return (
    one.thumbprint !== other.thumbprint &&
    one.subject === other.subject &&
    one.applicationUri === other.applicationUri
  );
}

function ownLines(place: Listed["place"], { validFrom, names, key, keyUsage }: CertificateFacts): string[] {
  if (place !== "own" && place !== "next") return [];
  return [
    `    valid from ${validFrom.slice(0, 10)}; ${key}; ${keyUsage.join(", ") || "no key usage"}`,
    `    names ${plainStart(names.join(", "), 1_000) || "no host"}`,
  ];
}

function damageText({ path, problem }: Damaged): string {
  return `  ! ${plainStart(path, 400)}: ${plainStart(problem, 400)}\n`;
}

function minuteText(iso: string): string {
  return `${iso.slice(0, 16).replace("T", " ")} UTC`;
}

/** The whole content of certificates, and their places. */
export function fullText(listed: readonly Listed[]): string {
  const [first] = listed;
  if (first === undefined) return "";
  const { facts } = first;
  const places = listed.map(({ place, configKey, path, since }) => {
    const name = configKey ?? place;
    return `${name}${since === null ? "" : ` since ${minuteText(since)}`}: ${path}`;
  });
  const rows: ReadonlyArray<readonly [string, string]> = [
    ...places.map((text) => ["where", text] as const),
    ["thumbprint", `${facts.thumbprint} (SHA-1)`],
    ["", `${facts.sha256} (SHA-256)`],
    ["subject", facts.subject],
    ["issuer", facts.isSelfSigned ? "itself" : facts.issuer],
    ["serial", facts.serial],
    ["application", facts.applicationUri ?? "none"],
    ["names", facts.names.join(", ") || "none"],
    ["valid", `${facts.validFrom} to ${facts.validTo} (${daysLeftText(facts.daysLeft)})`],
    ["key", facts.key],
    ["key usage", facts.keyUsage.join(", ") || "not given"],
    ["extended", facts.extendedKeyUsage.join(", ") || "not given"],
    ["signed by", facts.signature],
    ["CA", facts.isCa ? "yes: it signs other certificates" : "no"],
  ];
  const text = rows.map(([name, value]) => `${name.padEnd(12)}${plainStart(value, 1_000)}\n`).join("");
  const warnings = [...new Set(listed.flatMap((each) => each.warnings))];
  return `${text}${warnings.map((warning) => `! ${plainStart(warning, 400)}\n`).join("")}`;
}

/** The result for a certificate that was approved or rejected. */
export function movedText(
  { thumbprint, subject, isNew, isCa, applicationUri, warnings }: Moved,
  to: "trusted" | "rejected",
): string {
  const isIn = to === "trusted";
  const done = isIn ? "is trusted" : "is refused, and its sessions end within seconds";
  const lines = [
    `${thumbprint}  ${plainStart(subject, 200)}`,
    isNew ? `  ${done}` : `  was ${isIn ? "trusted" : "refused"} already; nothing was changed`,
    ...(isIn && !isCa && applicationUri !== null
      ? [
          `  as ${plainStart(applicationUri, 200)}: refused if it calls itself otherwise (BadCertificateUriInvalid)`,
        ]
      : []),
    ...(isIn && isCa ? ["  ! it is a CA: every client that it signs is trusted too"] : []),
    ...(isIn ? warnings : []).map((warning) => `  ! ${plainStart(warning, 400)}`),
  ];
  return `${lines.join("\n")}\n`;
}

/** The result for a certificate of the gateway's own. */
export function placedText(
  { facts, warnings, isWaiting }: Placed & { readonly isWaiting?: boolean },
  isNext: boolean,
): string {
  const lines = [
    `${facts.thumbprint}  until ${facts.validTo.slice(0, 10)}`,
    isNext
      ? `  is ${isWaiting ? "already " : ""}the next one. Let clients trust it (fleetgate certs show --pem prints it), then: fleetgate certs renew --activate`
      : "  is in use within seconds by a gateway that runs, else from its start. Open connections keep the one before, own/certs/previous.pem",
    ...warnings.map((warning) => `  ! ${plainStart(warning, 400)}`),
  ];
  return `${lines.join("\n")}\n`;
}

/** The result for a listener's certificate. */
export function placedFileText({ name, path, pem, previous }: PlacedFile, nowMs: number): string {
  const { thumbprint, validTo } = factsOf(new X509Certificate(pem), nowMs);
  return [
    `${thumbprint}  until ${validTo.slice(0, 10)}`,
    `  ${name}: ${plainStart(path, 400)}`,
    previous === null
      ? "  is the next one, for clients that trust the CA: fleetgate certs renew --activate"
      : `  is in use after fleetgate reload, else from the start. The one before is ${plainStart(previous, 400)}`,
    "",
  ].join("\n");
}

/** One certificate for programs. */
export function listedJson({ place, configKey, path, since, facts, warnings }: Listed): object {
  return { place, configKey, path, since, ...facts, warnings };
}

export function inventoryJson({ certificates, damaged }: Inventory): object {
  return { certificates: certificates.map(listedJson), damaged };
}
