import { Command } from "commander";
import { askGateway, type ControlOptions, exitCodeOf, exitWith, finishDone } from "./control-client.ts";
import { exitCodes, NotPossible } from "./exit.ts";
import { findSocket, socketOptions } from "./installed.ts";
import { stopSignal } from "./stop-signal.ts";

const help = `
Only while the alarm FENCE_FAILED stands. First see for yourself that the box has no power: a start that it has
sent may still reach a robot. It needs the role engineer, and counts for this takeover alone.

Exit code 0: this box takes over. 4: refused, with the reason. 1: no gateway answers. 6: not known.

Example: sudo fleetgate fence-confirm box-a`;

/** `fleetgate fence-confirm`: lets this box take over though it could not fence the other one. */
export function fenceConfirmCommand(): Command {
  const command = new Command("fence-confirm").description(
    "say that the box that led is off, so that this one takes over though cluster.fence has failed",
  );
  return socketOptions(command)
    .argument("<member>", "the box that is off")
    .option("--json", "print one JSON object")
    .addHelpText("after", help)
    .action((member: string, options: ControlOptions) => exitWith(() => run(member, options)));
}

const ANSWER_MS = 5_000;

async function run(member: string, options: ControlOptions): Promise<number> {
  const socketPath = await findSocket(options);
  const request = { method: "POST", path: "/api/v1/fence", body: { member }, timeoutMs: ANSWER_MS } as const;
  const { status, body } = await askGateway(socketPath, request, stopSignal());
  if (status === 200) return finishDone(`${member} counts as off: this box takes over`, body, options);
  const reason = String(body.detail ?? `the gateway answered ${status}`);
  throw new NotPossible(reason, [403, 409].includes(status) ? exitCodeOf("refused") : exitCodes.failure);
}
