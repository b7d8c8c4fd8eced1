import { useSignal } from "@preact/signals";
import type {
  Certificate,
  CertificateRequest,
  Certificates as Facts,
} from "../../northbound/web/api/certificate.ts";
import { put } from "../api.ts";
import { Table, Time, Word } from "./parts.tsx";
import { Confirmed, usePolled } from "./polled.tsx";

/** The certificates of OPC UA clients, and decisions on them. */
export function Certificates() {
  const polled = usePolled<Facts>(() => "/certificates?limit=300");
  const facts = polled.value;
  return (
    <section aria-label="OPC UA clients">
      <h2>Certificates of OPC UA clients</h2>
      <Confirmed polled={polled}>
        {facts !== null && (
          <>
            {facts.why_not !== "" && <p>You cannot decide on them here: {facts.why_not}.</p>}
            {facts.count === 0 && <p>No client has shown a certificate.</p>}
            {facts.count > 0 && (
              <Table
                caption="Certificates of OPC UA clients, those that wait first"
                columns={["Client", "Thumbprint", "State", "Ends", "Decide"]}
              >
                {facts.certificates.map((certificate) => (
                  <Row
                    key={certificate.thumbprint}
                    certificate={certificate}
                    mayDecide={facts.why_not === "" && !certificate.configured}
                  />
                ))}
              </Table>
            )}
          </>
        )}
      </Confirmed>
    </section>
  );
}

function Row({ certificate, mayDecide }: { readonly certificate: Certificate; readonly mayDecide: boolean }) {
  const isTrusted = certificate.state === "trusted";
  return (
    <tr>
      <td>
        <span class="id">{certificate.subject}</span>
        {certificate.authority && <strong> An authority: it lets in all clients that it has signed.</strong>}
        <br />
        <small class="id">{certificate.application_uri}</small>
        {certificate.warnings.map((warning) => (
          <p key={warning}>◆ {warning}</p>
        ))}
      </td>
      <td class="id">{certificate.thumbprint}</td>
      <td>
        <Word
          word={isTrusted ? "let in" : "waits, or was rejected"}
          emphasis={isTrusted ? "normal" : "abnormal"}
        />
        {certificate.configured && <small> by the configuration</small>}
      </td>
      <td>
        <Time iso={certificate.valid_to} isDated />
      </td>
      <td>{mayDecide && <Decide certificate={certificate} />}</td>
    </tr>
  );
}

/** The second step asks for the password, which is not kept. */
function Decide({ certificate: { thumbprint, state, subject } }: { readonly certificate: Certificate }) {
  const isBegun = useSignal(false);
  const isSent = useSignal(false);
  const said = useSignal("");
  const isTrusted = state === "waiting";
  const name = isTrusted ? "Approve" : "Reject";
  const begin = (isNow: boolean) => {
    isBegun.value = isNow;
    said.value = "";
  };
  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    if (isSent.peek()) return;
    isSent.value = true;
    const password = `${new FormData(event.currentTarget as HTMLFormElement).get("password")}`;
    const body: CertificateRequest = { trusted: isTrusted, password };
    const answer = await put<Certificate>(`/certificates/${thumbprint}`, body);
    isSent.value = false;
    isBegun.value = "problem" in answer;
    said.value = "problem" in answer ? `Nothing was changed: ${answer.problem}.` : "Done.";
  };
  return (
    <>
      {!isBegun.value && (
        <button type="button" onClick={() => begin(true)}>
          {name}…<span class="unseen"> {subject}</span>
        </button>
      )}
      {isBegun.value && (
        <form class="decide" aria-label={`${name} ${subject}`} onSubmit={(event) => void send(event)}>
          <p>
            {isTrusted
              ? "Compare the thumbprint with the one that the client's tool shows. The client is let in at its next attempt."
              : "The client is kept out, and its sessions end within seconds."}
          </p>
          <label>
            Your password{" "}
            <input name="password" type="password" autocomplete="current-password" maxLength={256} required />
          </label>{" "}
          <button type="submit" disabled={isSent.value}>
            {name}
          </button>{" "}
          <button type="button" onClick={() => begin(false)}>
            Back
          </button>
        </form>
      )}
      {said.value !== "" && <p role="status">{said.value}</p>}
    </>
  );
}
