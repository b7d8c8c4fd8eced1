import { OPEN_USER } from "../../northbound/web/options.ts";
import { type Finding, wrong } from "../finding.ts";
import { isLoopback } from "../loopback.ts";
import type { WebSection } from "./web.ts";

/** Keys of `web` that contradict, or need, each other. */
export function webFindings(web: WebSection): readonly Finding[] {
  const findings: Finding[] = [];
  const names = Object.keys(web.users);
  const isOpen = names.length === 0 && Object.keys(web.tokens).length === 0;
  if (!isLoopback(web.listen.host)) {
    const path = ["web", "listen", "host"];
    const reach = `${web.listen.host} is reached from other machines`;
    if (isOpen)
      findings.push(wrong(path, `${reach}: give web users or tokens; without them everybody is let in`));
    if (web.tls === undefined)
      findings.push(
        wrong(path, `${reach}: give web.tls; without it passwords and tokens travel in the clear`),
      );
  }
  for (const name of names)
    if (Object.hasOwn(web.tokens, name))
      findings.push(wrong(["web", "tokens", name], "is the name of a user too; choose another"));
  return [...findings, ...openNameFindings(web)];
}

function openNameFindings(web: WebSection): readonly Finding[] {
  return (["users", "tokens"] as const).flatMap((kind) =>
    Object.hasOwn(web[kind], OPEN_USER)
      ? [wrong(["web", kind, OPEN_USER], "means everybody while nobody must log in; choose another name")]
      : [],
  );
}
