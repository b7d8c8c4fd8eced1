import { useSignal, useSignalEffect } from "@preact/signals";
import type { Operation, Operations } from "../../northbound/web/api/command.ts";
import type { MapPoint } from "../../northbound/web/api/floor.ts";
import type { Check, Rights } from "../../northbound/web/api/session.ts";
import { getOnce } from "../api.ts";
import { type FormObject, formOf, prefilled, requestOf, robotNamed } from "../commanding/form.ts";
import { offersOf } from "../commanding/offers.ts";
import { robotAddress, sendAddress } from "../route.ts";
import { inLanguage, inWords, say, word } from "../texts/texts.ts";
import { AskedList } from "./asked-list.tsx";
import { usePage } from "./context.ts";
import { Link, Says } from "./parts.tsx";
import { RequestFields } from "./request-form.tsx";
import { useSecondStep } from "./second-step.tsx";
import { isAllowed, useCheck, useRights } from "./use-rights.ts";
import "../style/send.css";

interface SendProps {
  readonly operation: string | null;
  readonly robotId: string | null;
}

/** Any command of the catalogue, by a form. */
export function Send({ operation: wanted, robotId }: SendProps) {
  const { go } = usePage();
  const { rights, problem } = useRights(robotId);
  const { operations, problem: unread } = useOperations();
  const own = rights.value;
  const open = own === null ? [] : operations.filter(({ name }) => isAllowed(own, name));
  const operation = open.find(({ name }) => name === wanted);
  return (
    <>
      <h1>{say("send.title")}</h1>
      <Refusals
        // The catalogue of operations is read apart, and may come later.
        rights={operations.length === 0 ? null : own}
        problem={problem.value === "" ? unread : problem.value}
        robotId={robotId}
      />
      {robotId !== null && (
        <p>
          <Says of="send.to" robot={<Link to={robotAddress(robotId)}>{robotId}</Link>} />
        </p>
      )}
      {open.length > 0 && (
        <label class="field">
          {say("send.operation")}{" "}
          <select
            value={operation?.name ?? ""}
            onChange={({ currentTarget: { value } }) =>
              go(sendAddress(value === "" ? null : value, robotId), "replace")
            }
          >
            <option value="">{say("send.choose")}</option>
            {open.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      {operation !== undefined && own?.robot == null && (
        <OperationForm key={`${operation.name} ${robotId}`} operation={operation} robotId={robotId} />
      )}
      <section class="commanding" aria-label={say("send.before")}>
        <AskedList robot={null} />
      </section>
    </>
  );
}

/** Operations that are not offered, and why. */
function Refusals({
  rights,
  problem,
  robotId,
}: {
  readonly rights: Rights | null;
  readonly problem: string;
  readonly robotId: string | null;
}) {
  if (problem !== "") return <p class="warning">{say("commanding.notKnown", { problem })}</p>;
  if (rights === null) return <p class="muted">{say("send.reading")}</p>;
  const refused = rights.operations.filter((each) => each.refused !== null);
  return (
    <>
      {rights.robot !== null && (
        <p>{say("send.refusedRobot", { robot: robotId ?? "", reason: rights.robot })}</p>
      )}
      {rights.moves !== null && <p>{say("send.refusedMoves", { reason: rights.moves })}</p>}
      {refused.length > 0 && (
        <details>
          <summary>{say("send.notOffered", { count: refused.length })}</summary>
          <ul>
            {refused.map(({ name, refused: reason }) => (
              <li key={name}>{say("send.refused", { name, reason: reason ?? "" })}</li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function OperationForm(props: { readonly operation: Operation; readonly robotId: string | null }) {
  const { operation, robotId } = props;
  const { store, maps } = usePage();
  const fleet = store.fleet.value;
  const chosen = fleet?.robots.get(robotId ?? "")?.robot ?? null;
  const fill = (request: unknown) => {
    const empty = formOf(operation.fields, request);
    return chosen === null ? empty : prefilled(operation.fields, empty, chosen);
  };
  const value = useSignal<FormObject>(fill({}));
  const { problem, begin, changed, step, isAsking } = useCheckedSend(operation);
  const mapId = chosen?.place?.map_id ?? fleet?.maps.keys().next().value ?? null;
  const { map } = maps.known.value.get(mapId ?? -1) ?? {};
  if (fleet === null) return null;
  const points: readonly MapPoint[] = map?.points ?? [];
  const set = (next: FormObject) => {
    changed();
    value.value = next;
  };
  return (
    <form class="request card" onSubmit={(event) => event.preventDefault()}>
      <p>{summaryText(operation)}</p>
      <p class="muted">{say("send.needs", { role: word(operation.role) })}</p>
      <div class="line-up">
        {say("send.begin")}{" "}
        {operation.examples.map(({ title, request }) => (
          <button type="button" key={title} onClick={() => set(fill(request))}>
            {inWords(title)}
          </button>
        ))}
      </div>
      <RequestFields
        fields={operation.fields}
        path=""
        value={value.value}
        set={set}
        form={{ problem, offers: offersOf(fleet, points, chosen) }}
      />
      {problem?.path === "" && (
        <p class="wrong" role="alert">
          {say("form.problem", { problem: problem.text })}
        </p>
      )}
      <button
        type="button"
        class="primary"
        disabled={!store.isLive.value || isAsking}
        onClick={() => void begin(requestOf(operation.fields, value.value))}
      >
        {say("commanding.first", { label: operation.name })}
      </button>
      {step}
    </form>
  );
}

/** Its operation moves conveyors, and never the robot. */
const CONVEYORS = "ControlConveyor";

/** What it does, in the language of the page. */
function summaryText({ summary, german }: Operation): string {
  return inLanguage({ en: summary, de: german.summary });
}

function effectText({ name }: Operation, { effect }: Check): string {
  if (effect === null) return say("effect.notKnown");
  return say(effect === "moves" && name === CONVEYORS ? "effect.conveyors" : `effect.${effect}`);
}

/**
 * Bad input is named at its field, before a second step. `changed` ends a step: the form shows what is sent.
 */
function useCheckedSend(operation: Operation) {
  const { store, ask } = usePage();
  const { begin, end, step } = useSecondStep();
  const { problem, check, forget, isAsking } = useCheck();
  const { name } = operation;
  const checked = async (request: Readonly<Record<string, unknown>>) => {
    const found = await check({ operation: name, request });
    const fleet = store.fleet.peek();
    if (found === null || fleet === null) return;
    const robotId = robotNamed(fleet, operation, request)?.robot_id ?? found.robot_id;
    begin({
      label: name,
      effect: say("send.effectOf", {
        effect: effectText(operation, found),
        summary: summaryText(operation).replace(/\.$/, ""),
      }),
      request: JSON.stringify(request),
      robotId,
      send: () => ask(robotId ?? "", name, { operation: name, request }),
    });
  };
  const changed = () => {
    forget();
    end(say("step.formChanged"));
  };
  return { problem, begin: checked, changed, step, isAsking };
}

/** The catalogue, read once: a gateway of another version brings another page. */
function useOperations() {
  const operations = useSignal<readonly Operation[]>([]);
  const problem = useSignal("");
  useSignalEffect(() =>
    getOnce<Operations>("/operations", (answer) => {
      problem.value = "problem" in answer ? answer.problem : "";
      if ("value" in answer) operations.value = answer.value.operations;
    }),
  );
  return { operations: operations.value, problem: problem.value };
}
