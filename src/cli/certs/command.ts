import { Command } from "commander";
import { fail } from "../exit.ts";
import { fullText, inventoryJson, inventoryText, listedJson } from "./certificate-text.ts";
import { takeInventory } from "./inventory.ts";
import { select } from "./selection.ts";

interface Options {
  readonly config: string;
  readonly json?: true;
}

/** `fleetgate certs`: certificates without a file manager. */
export function certsCommand(): Command {
  return new Command("certs")
    .description("list and show certificates: of OPC UA clients, our own, and those of the configuration")
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
    );
}

function subcommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .requiredOption("-c, --config <file>", "the gateway's configuration, which names its data folder");
}

/** The words of a command line before its options. */
function done<T extends unknown[]>(action: (...values: T) => Promise<void>): (...values: T) => Promise<void> {
  return (...values) => action(...values).catch((error: unknown) => fail(error, () => ""));
}

async function list({ config, json }: Options): Promise<void> {
  const inventory = await takeInventory(config, Date.now());
  process.stdout.write(json ? jsonText(inventoryJson(inventory)) : inventoryText(inventory));
}

async function show(
  thumbprint: string,
  { config, json, pem }: Options & { readonly pem?: true },
): Promise<void> {
  const { certificates } = await takeInventory(config, Date.now());
  const found = select(certificates, thumbprint);
  if (pem) process.stdout.write(found[0]?.pem ?? "");
  else process.stdout.write(json ? jsonText(found.map(listedJson)) : fullText(found));
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
