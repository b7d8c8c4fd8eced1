import { randomBytes } from "node:crypto";
import { Command } from "commander";
import { digestOf } from "../platform/password.ts";

const SECRET_BYTES = 32;

/** `fleetgate token`: a token for a program, and the hash by which the gateway knows it. */
export function tokenCommand(): Command {
  return new Command("token")
    .description("make a token for a program that uses the web listener, and print it with its hash")
    .addHelpText(
      "after",
      "\nGive the token to the program, which sends it as Authorization: Bearer TOKEN. The hash is for" +
        "\nweb.tokens.<name>.hash. The token is shown once: nobody can find it from the hash.",
    )
    .action(() => {
      const token = `fgt_${randomBytes(SECRET_BYTES).toString("base64url")}`;
      process.stdout.write(`token: ${token}\nhash:  sha256:${digestOf(token).toString("hex")}\n`);
    });
}
