import type { Command as CommandFacts } from "../../northbound/web/api/command.ts";
import { meaningText, operationText, sourceText } from "../fleet/command-words.ts";
import { codesManualAddress, robotAddress } from "../route.ts";
import { say, word } from "../texts/texts.ts";
import { CommandState, useCommands } from "./command-log.tsx";
import { Ago, Card, Link, Says, Table, Time, TimeZone } from "./parts.tsx";

/** All stages of one command. */
export function Command({ commandKey }: { readonly commandKey: string }) {
  const { remembered, problem, isRead } = useCommands();
  const command = remembered.get(commandKey);
  if (command === undefined) {
    return (
      <>
        <h1>{say("command")}</h1>
        {problem === "" ? (
          <p>{say(isRead ? "command.gone" : "command.reading")}</p>
        ) : (
          <p class="warning">{say("log.problem", { problem })}</p>
        )}
      </>
    );
  }
  return (
    <>
      <div>
        <h1>
          {operationText(command)} <CommandState command={command} />
        </h1>
        <TimeZone />
      </div>
      <p class="first">{sentence(meaningText(command))}</p>
      {command.outcome === "unknown" && (
        <p class="warning">
          <Says
            of="command.lookAt"
            robot={
              command.robot_id === null ? (
                say("command.theRobots")
              ) : (
                <Link to={robotAddress(command.robot_id)}>{command.robot_id}</Link>
              )
            }
          />
        </p>
      )}
      <div class="columns">
        <Who command={command} />
        <Table
          caption={say("command.stages")}
          columns={[say("command.stage"), say("command.time"), say("command.ago")]}
          rows={stagesOf(command).map(([stage, at]) => ({
            key: stage,
            cells: [word(stage), <Time iso={at} isDated />, at !== null && <Ago iso={at} />],
          }))}
        />
      </div>
      <Card title={say("command.asked")}>
        <dl class="facts">
          <dt>{say("command.requestId")}</dt>
          <dd class="id">{command.request_id ?? say("command.noId")}</dd>
          <dt>{say("command.request")}</dt>
          <dd class="id">{command.request ?? say("command.unreadable")}</dd>
        </dl>
      </Card>
    </>
  );
}

/** Who asked for it, for which robot, and what is known of its end. */
function Who({ command }: { readonly command: CommandFacts }) {
  return (
    <Card title={say("command.who")}>
      <dl class="facts">
        <dt>{say("log.robot")}</dt>
        <dd>
          {command.robot_id === null ? (
            say("command.none")
          ) : (
            <Link to={robotAddress(command.robot_id)}>{command.robot_id}</Link>
          )}
        </dd>
        <dt>{say("log.source")}</dt>
        <dd>{sourceText(command)}</dd>
        <dt>{say("command.code")}</dt>
        <dd>
          {command.code ?? "–"}
          {command.code !== null && command.code !== "OK" && (
            <>
              {" "}
              <a href={codesManualAddress}>{say("manual.codes")}</a>
            </>
          )}
        </dd>
        <dt>{say("command.message")}</dt>
        <dd>{command.message === "" ? "–" : (command.message ?? "–")}</dd>
        <dt>{say("command.mission")}</dt>
        <dd class="id">{command.mission_id ?? "–"}</dd>
        <dt>{say("command.evidence")}</dt>
        <dd>{command.evidence ?? "–"}</dd>
        <dt>{say("command.later")}</dt>
        <dd>{command.found_later ?? "–"}</dd>
      </dl>
    </Card>
  );
}

/** A meaning begins with a small letter, and has no end. */
function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`.replace(/[^.]$/, "$&.");
}

function stagesOf(command: CommandFacts): ReadonlyArray<readonly [string, string | null]> {
  return [
    ["accepted", command.accepted_at],
    ["sent", command.sent_at],
    ["final", command.final_at],
  ];
}
