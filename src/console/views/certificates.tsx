import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type {
  Certificate,
  CertificateRequest,
  Certificates as Facts,
} from "../../northbound/web/api/gateway.ts";
import { put } from "../api.ts";
import { inWords, say } from "../texts/texts.ts";
import type { Moment } from "../trust/time-text.ts";
import { Address } from "./address.tsx";
import { usePage } from "./context.ts";
import { Password, Says, Table, type TableRow, Time, Word } from "./parts.tsx";
import { Confirmed, usePolled } from "./polled.tsx";

/** A certificate that is to be decided on. */
interface Chosen {
  readonly certificate: Certificate;
  /** Gets the focus back afterwards. */
  readonly button: HTMLButtonElement;
}

/** A decision that a list may not have yet. */
interface Decided {
  readonly certificate: Certificate;
  readonly at: Moment;
}

/** The certificates of OPC UA clients, and decisions on them. */
export function Certificates() {
  const { now } = usePage();
  const polled = usePolled<Facts>(() => "/certificates?limit=300");
  const chosen = useSignal<Chosen | null>(null);
  const decided = useSignal<Decided | null>(null);
  const facts = polled.value;
  const close = (certificate: Certificate | null) => {
    chosen.value?.button.focus();
    chosen.value = null;
    if (certificate !== null) decided.value = { certificate, at: now() };
  };
  return (
    <section class="stack" aria-label={say("certificates")}>
      <h2>{say("certificates.title")}</h2>
      <Confirmed polled={polled}>
        {facts !== null && (
          <>
            {facts.why_not !== "" && <p>{say("certificates.whyNot", { reason: inWords(facts.why_not) })}</p>}
            {facts.count === 0 && <p>{say("certificates.none")}</p>}
            {facts.count > 0 && (
              <Table
                caption={say("certificates.list")}
                columns={[
                  { name: say("certificates.client"), class: "title wide" },
                  say("connections.state"),
                  say("certificates.decide"),
                  say("connections.ends"),
                  say("certificates.thumbprint"),
                ]}
                rows={asDecided(facts.certificates, decided.value, polled.askedAt).map((certificate) => ({
                  key: certificate.thumbprint,
                  cells: cellsOf(certificate, facts.why_not === "" && !certificate.configured, (button) => {
                    chosen.value = { certificate, button };
                  }),
                }))}
              />
            )}
          </>
        )}
      </Confirmed>
      {chosen.value !== null && (
        <Decision
          key={chosen.value.certificate.thumbprint}
          certificate={chosen.value.certificate}
          close={close}
        />
      )}
      {decided.value !== null && (
        <p role="status">
          {say(
            decided.value.certificate.state === "trusted" ? "certificates.approved" : "certificates.rejected",
            { subject: decided.value.certificate.subject },
          )}
        </p>
      )}
    </section>
  );
}

/** A list that was requested before the decision shows the earlier state. */
function asDecided(
  listed: readonly Certificate[],
  decided: Decided | null,
  askedAt: Moment | null,
): readonly Certificate[] {
  if (decided === null || askedAt === null || askedAt.monotonicMs > decided.at.monotonicMs) return listed;
  const { certificate } = decided;
  return listed.map((each) => (each.thumbprint === certificate.thumbprint ? certificate : each));
}

function cellsOf(
  certificate: Certificate,
  mayDecide: boolean,
  choose: (button: HTMLButtonElement) => void,
): TableRow["cells"] {
  const isTrusted = certificate.state === "trusted";
  return [
    <>
      <span class="id">{certificate.subject}</span>
      {certificate.ca && <strong> {say("certificates.ca")}</strong>}
      <br />
      <small class="id">
        {certificate.application_uri !== null && <Address text={certificate.application_uri} />}
      </small>
      {certificate.warnings.map((warning) => (
        <p key={warning}>{say("certificates.warning", { text: warning })}</p>
      ))}
    </>,
    <>
      <Word
        word={say(isTrusted ? "certificates.trusted" : "certificates.waits")}
        emphasis={isTrusted ? "normal" : "abnormal"}
      />
      {certificate.configured && <small> {say("certificates.configured")}</small>}
    </>,
    mayDecide && (
      <button type="button" onClick={({ currentTarget }) => choose(currentTarget)}>
        {say("commanding.first", {
          label: say(isTrusted ? "certificates.reject" : "certificates.approve"),
        })}
        <span class="unseen"> {certificate.subject}</span>
      </button>
    ),
    <Time iso={certificate.valid_to} isDated />,
    <span class="id">{certificate.thumbprint}</span>,
  ];
}

/** The second step, with all that must be compared. It asks for the password, which is not kept. */
function Decision(props: {
  readonly certificate: Certificate;
  /** Called with the certificate after the decision; null: nothing was changed. */
  readonly close: (decided: Certificate | null) => void;
}) {
  const { certificate, close } = props;
  const { thumbprint, state, subject } = certificate;
  const isSent = useSignal(false);
  const problem = useSignal("");
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => field.current?.focus(), []);
  const isTrusted = state === "waiting";
  const name = say(isTrusted ? "certificates.approve" : "certificates.reject");
  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    if (isSent.peek()) return;
    isSent.value = true;
    problem.value = "";
    const password = `${new FormData(event.currentTarget as HTMLFormElement).get("password")}`;
    const body: CertificateRequest = { trusted: isTrusted, password };
    const answer = await put<Certificate>(`/certificates/${thumbprint}`, body);
    isSent.value = false;
    if ("value" in answer) close(answer.value);
    else {
      const key = answer.mayBeDone ? "certificates.mayBeDone" : "certificates.unchanged";
      problem.value = say(key, { problem: answer.problem });
    }
  };
  return (
    <form
      class="second"
      aria-label={say("certificates.decisionLabel", { decision: name, subject })}
      onSubmit={(event) => void send(event)}
    >
      <p>
        <strong>
          <Says of="certificates.decision" decision={name} subject={<span class="id">{subject}</span>} />
        </strong>
      </p>
      <p>
        <Says of="certificates.print" thumbprint={<span class="id">{thumbprint}</span>} />
      </p>
      <p>{say(isTrusted ? "certificates.compare" : "certificates.keptOut")}</p>
      <Password label={say("certificates.password")} class="field" field={field} />
      <div class="line-up">
        <button type="submit" class="primary" disabled={isSent.value}>
          {name}
        </button>
        <button type="button" onClick={() => close(null)}>
          {say("certificates.back")}
        </button>
      </div>
      {problem.value !== "" && (
        <p class="wrong" role="status">
          {problem.value}
        </p>
      )}
    </form>
  );
}
