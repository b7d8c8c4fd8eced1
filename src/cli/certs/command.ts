import { Command } from "commander";
import { moveCertificates, select } from "../../northbound/opcua/certificate-store/move.ts";
import { storeFolder } from "../../northbound/opcua/certificate-store/store.ts";
import { asOwnerOf } from "../../platform/folder.ts";
import { plainLines } from "../../platform/plain-text.ts";
import { fail, NotPossible, Refused, refuse } from "../exit.ts";
import { dataOptions, type GatewayLocation } from "../installed.ts";
import { judgingHereMs, wrongClockHere } from "../machine-clock.ts";
import { publicAccess, writeNewFile } from "../new-file.ts";
import { complain, say } from "../readable.ts";
import {
  fullText,
  inventoryJson,
  inventoryText,
  listedJson,
  movedText,
  placedFileText,
  placedText,
} from "./certificate-text.ts";
import { takeInventory } from "./inventory.ts";

interface Options extends GatewayLocation {
  readonly json?: true;
}

/** `fleetgate certs`: certificates without a file manager. */
export function certsCommand(): Command {
  return new Command("certs")
    .description("certificates of OPC UA clients and of the gateway itself, without a file manager")
    .addCommand(
      subcommand("list", "list every certificate, and what is wrong with it")
        .option("--json", "print one JSON document")
        .action(done(list)),
    )
    .addCommand(
      subcommand("show", "show all that a certificate says")
        .argument("<thumbprint>", "SHA-1 or SHA-256, or its beginning")
        .option("--json", "print one JSON document")
        .option("--pem", "print the certificate itself (PEM), for a client's trust list")
        .action(done(show)),
    )
    .addCommand(
      subcommand("approve", "let OPC UA clients in; the gateway may run")
        .argument("<thumbprint...>", "of certificates that wait")
        .action(done(move("trusted"))),
    )
    .addCommand(
      subcommand("reject", "keep OPC UA clients out, and end their sessions; the gateway may run")
        .argument("<thumbprint...>", "of trusted certificates")
        .action(done(move("rejected"))),
    )
    .addCommand(
      subcommand("request", "make a signing request (PKCS #10) of the gateway's key, for the plant's CA")
        .option("--out <file>", "write it to a new file instead of printing it")
        .action(done(request)),
    )
    .addCommand(
      subcommand("import", "use the certificate that the CA has signed; the gateway may run")
        .argument("<file>", "the certificate, its issuers after it (PEM), or alone (DER)")
        .option("--next", "let it wait until fleetgate certs renew --activate")
        .action(done(importFile)),
    )
    .addCommand(
      subcommand(
        "renew",
        "make the next certificate of OPC UA, and of each listener with a certificate of the CA of init; those in use stay",
      )
        .option("--activate", "use the next ones: OPC UA within seconds, listeners after fleetgate reload")
        .action(done(renew)),
    );
}

function subcommand(name: string, description: string): Command {
  return dataOptions(new Command(name).description(description));
}

/** Ends the process with one line if the action is not possible. */
function done<T extends unknown[]>(action: (...values: T) => Promise<void>): (...values: T) => Promise<void> {
  return (...values) =>
    action(...values).catch((error: unknown) => {
      if (error instanceof Refused) refuse(error);
      fail(error, () => "");
    });
}

async function list({ json, ...location }: Options): Promise<void> {
  warnOfClock();
  const inventory = await takeInventory(location, judgingHereMs());
  process.stdout.write(json ? jsonText(inventoryJson(inventory)) : inventoryText(inventory));
}

async function show(
  thumbprint: string,
  { json, pem, ...location }: Options & { readonly pem?: true },
): Promise<void> {
  const { certificates } = await takeInventory(location, judgingHereMs());
  const found = select(certificates, thumbprint);
  if (pem) process.stdout.write(found[0]?.pem ?? "");
  else process.stdout.write(json ? jsonText(found.map(listedJson)) : fullText(found));
}

function move(
  to: "trusted" | "rejected",
): (wanted: readonly string[], location: GatewayLocation) => Promise<void> {
  return async (wanted, location) => {
    const { configured, certificates } = await takeInventory(location, judgingHereMs());
    const store = storeFolder(configured.dataDir);
    const moved = await asOwnerOf(store, () => moveCertificates(store, certificates, wanted, to));
    for (const each of moved) process.stdout.write(movedText(each, to));
  };
}

async function request({ out, ...location }: GatewayLocation & { readonly out?: string }): Promise<void> {
  const { makeRequest } = await import("./renewal.ts");
  const text = await makeRequest(location, judgingHereMs());
  if (out === undefined) {
    process.stdout.write(text);
    return;
  }
  await writeNewFile(out, text, publicAccess);
  process.stdout.write(`The signing request is in ${out}. fleetgate certs import takes the answer.\n`);
}

async function importFile(
  file: string,
  { next, ...location }: GatewayLocation & { readonly next?: true },
): Promise<void> {
  const { importAnswer } = await import("./renewal.ts");
  const placed = await importAnswer(location, file, next ? "next" : "own", rightTime());
  process.stdout.write(placedText(placed, next === true));
}

async function renew({
  activate,
  ...location
}: GatewayLocation & { readonly activate?: true }): Promise<void> {
  const nowMs = rightTime();
  const { activateNext, makeNext } = await import("./renewal.ts");
  const { activateNextOfListeners, listenersToRenew, makeNextOfListeners } = await import(
    "./listener-renewal.ts"
  );
  const { renewable, passedOver, problems } = activate
    ? { renewable: [], passedOver: [], problems: [] }
    : await listenersToRenew(location, nowMs);
  if (passedOver.length > 0)
    process.stdout.write(`Not renewed, since another CA has signed it: ${passedOver.join(", ")}\n`);
  for (const problem of problems) say(`! ${problem}`);
  const files = activate
    ? await activateNextOfListeners(location, nowMs)
    : await makeNextOfListeners(renewable, nowMs);
  for (const file of files) process.stdout.write(placedFileText(file, nowMs));
  try {
    process.stdout.write(
      placedText(await (activate ? activateNext : makeNext)(location, nowMs), activate !== true),
    );
  } catch (error) {
    // Its certificate is the plant's, it has made none yet, or there is no OPC UA.
    if (files.length + passedOver.length === 0 || !(error instanceof NotPossible)) throw error;
    say(`Not of OPC UA: ${error.message}`);
  }
  if (problems.length > 0) throw new NotPossible(problems.join("; "));
}

function warnOfClock(): void {
  const problem = wrongClockHere();
  if (problem !== null) complain(problem);
}

/** Throws NotPossible if the clock is wrong: a certificate would be of that time. */
function rightTime(): number {
  const problem = wrongClockHere();
  if (problem !== null) throw new NotPossible(problem);
  return Date.now();
}

function jsonText(value: unknown): string {
  return `${plainLines(JSON.stringify(value, null, 2))}\n`;
}
