import { useSignal } from "@preact/signals";
import type { AlarmView } from "../../models/alarm.ts";
import { alarmCounts, endsAny, groupCount } from "../fleet/alarms.ts";
import { say, word } from "../texts/texts.ts";
import { acknowledged, useWhyNot } from "./alarm-handling.tsx";
import { AlarmList } from "./alarm-list.tsx";
import { usePage } from "./context.ts";
import { Empty, Icon, TimeZone } from "./parts.tsx";
import { useSecondStep } from "./second-step.tsx";

/** All alarms: what nobody has acknowledged comes first. */
export function Alarms() {
  const { store } = usePage();
  const listed = store.fleet.value?.alarms ?? { count: 0, alarms: [] };
  const { count, alarms } = listed;
  const open = alarms.filter(({ acknowledged_by: by }) => by === null);
  const seen = alarms.filter(({ acknowledged_by: by }) => by !== null);
  return (
    <>
      <div class="heading">
        <div>
          <h1>{say("rail.alarms")}</h1>
          <TimeZone />
        </div>
        {/* Of those that are not listed nothing is known but their number. */}
        {count > 0 && count === alarms.length && (
          <p>{say("alarms.summary", { counts: alarmCounts(alarms) })}</p>
        )}
      </div>
      {count === 0 && (
        <Empty icon="check" title={say("alarms.none")}>
          <p>{say("alarms.noneText")}</p>
        </Empty>
      )}
      {count > alarms.length && (
        <p class="warning">{say("alarms.many", { all: count, listed: alarms.length })}</p>
      )}
      {open.length > 0 && <OpenAlarms alarms={open} />}
      {seen.length > 0 && <AlarmList title={say("alarms.seen")} alarms={seen} />}
    </>
  );
}

/** Alarms that nobody has acknowledged: one by one, or several at once by a second step. */
function OpenAlarms({ alarms }: { readonly alarms: readonly AlarmView[] }) {
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const problem = useSignal("");
  const { begin, step } = useSecondStep();
  const { whyNot } = useWhyNot();
  const mine = alarms.filter((alarm) => whyNot(alarm) === null);
  const marked = mine.filter(({ id }) => chosen.value.has(id));
  const choose = (ids: readonly string[], isChosen: boolean) => {
    const next = new Set(chosen.peek());
    for (const id of ids) {
      if (isChosen) next.add(id);
      else next.delete(id);
    }
    chosen.value = next;
  };
  const send = async (concerned: readonly AlarmView[]) => {
    const answers = await Promise.all(concerned.map(({ id }) => acknowledged(id)));
    problem.value = answers.find((answer) => answer !== "") ?? "";
    chosen.value = new Set();
  };
  const acknowledge = (concerned: readonly AlarmView[], concerns: string) =>
    begin({
      label: say("alarms.acknowledge"),
      concerns,
      effect: say(endsAny(concerned) ? "alarms.effectEnds" : "alarms.effect"),
      robotId: null,
      send: () => void send(concerned),
    });
  const isAll = marked.length === mine.length;
  return (
    <>
      {mine.length > 1 && (
        <div class="line-up">
          <button
            type="button"
            onClick={() => {
              chosen.value = new Set(isAll ? [] : mine.map(({ id }) => id));
            }}
          >
            {isAll ? say("alarms.chooseNone") : say("alarms.chooseAll", { count: mine.length })}
          </button>
          <button
            type="button"
            disabled={marked.length === 0}
            onClick={() => acknowledge(marked, say("alarms.number", { count: marked.length }))}
          >
            <Icon name="check" />
            {marked.length === 0
              ? say("commanding.first", { label: say("alarms.acknowledge") })
              : say("alarms.acknowledgeMany", { count: marked.length })}
          </button>
          {problem.value !== "" && (
            <span class="wrong" role="status">
              {problem.value}
            </span>
          )}
        </div>
      )}
      {step}
      <AlarmList
        title={say("alarms.open")}
        alarms={alarms}
        {...(mine.length > 1 ? { choice: { chosen: chosen.value, choose } } : {})}
        acknowledgeGroup={(group) =>
          acknowledge(group, say("alarms.groupOf", { alarm: word(group[0].code), things: groupCount(group) }))
        }
      />
    </>
  );
}
