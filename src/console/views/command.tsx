import type { Command as CommandFacts } from "../../northbound/web/api/command.ts";
import { commandWord, operationText, sourceText } from "../fleet/command-words.ts";
import { robotAddress } from "../route.ts";
import { useCommands } from "./command-log.tsx";
import { Ago, Card, Link, Table, Time, TimeZone, Word } from "./parts.tsx";

/** All stages of one command. */
export function Command({ commandKey }: { readonly commandKey: string }) {
  const { remembered, problem, isRead } = useCommands();
  const command = remembered.get(commandKey);
  if (command === undefined) {
    return (
      <>
        <h1>Command</h1>
        {problem === "" ? (
          <p>{isRead ? "The log has no such command any more." : "Reading the log."}</p>
        ) : (
          <p class="warning">◆ The log could not be read: {problem}.</p>
        )}
      </>
    );
  }
  return (
    <>
      <h1>
        {operationText(command)} <Word {...commandWord(command)} />
      </h1>
      <p class="first">{command.meaning ?? "Its outcome is not final yet."}</p>
      {command.outcome === "unknown" && (
        <p class="warning">
          ◆ Look at{" "}
          {command.robot_id === null ? (
            "the robots that it may concern"
          ) : (
            <Link to={robotAddress(command.robot_id)}>{command.robot_id}</Link>
          )}
          {" before anything is sent again: what it does now, and where it stands."}
        </p>
      )}
      <div class="columns">
        <Card title="Who, and what became of it">
          <dl class="facts">
            <dt>Robot</dt>
            <dd>
              {command.robot_id === null ? (
                "none"
              ) : (
                <Link to={robotAddress(command.robot_id)}>{command.robot_id}</Link>
              )}
            </dd>
            <dt>Source</dt>
            <dd>{sourceText(command)}</dd>
            <dt>Code</dt>
            <dd>{command.code ?? "–"}</dd>
            <dt>Message</dt>
            <dd>{command.message ?? "–"}</dd>
            <dt>Mission</dt>
            <dd class="id">{command.mission_id ?? "–"}</dd>
            <dt>Evidence</dt>
            <dd>{command.evidence ?? "–"}</dd>
            <dt>Found later</dt>
            <dd>{command.found_later ?? "–"}</dd>
          </dl>
        </Card>
        <Table
          caption="Stages"
          columns={["Stage", "Time", "Ago"]}
          rows={stagesOf(command).map(([stage, at]) => ({
            key: stage,
            cells: [stage, <Time iso={at} isDated />, at !== null && <Ago iso={at} />],
          }))}
        />
      </div>
      <Card title="What was asked">
        <dl class="facts">
          <dt>Request id</dt>
          <dd class="id">{command.request_id ?? "none"}</dd>
          <dt>Request</dt>
          <dd class="id">{command.request ?? "could not be read"}</dd>
        </dl>
        <TimeZone />
      </Card>
    </>
  );
}

function stagesOf(command: CommandFacts): ReadonlyArray<readonly [string, string | null]> {
  return [
    ["accepted", command.accepted_at],
    ["sent", command.sent_at],
    ["final", command.final_at],
  ];
}
