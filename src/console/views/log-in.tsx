import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { say } from "../texts/texts.ts";
import { usePage } from "./context.ts";
import { LanguageSwitch } from "./language-switch.tsx";
import { Password } from "./parts.tsx";

/** The page of a gateway with users until somebody has logged in. */
export function LogIn({ reason }: { readonly reason: string }) {
  const { logIn } = usePage();
  const isBegun = useSignal(false);
  const problem = useSignal("");
  const user = useRef<HTMLInputElement>(null);
  const password = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => user.current?.focus(), []);
  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    if (isBegun.peek()) return;
    isBegun.value = true;
    problem.value = "";
    const form = new FormData(event.currentTarget as HTMLFormElement);
    problem.value = (await logIn(`${form.get("user")}`, `${form.get("password")}`)) ?? "";
    isBegun.value = false;
    if (problem.peek() !== "") password.current?.select();
  };
  return (
    <form class="log-in" aria-label={say("logIn.title")} onSubmit={(event) => void send(event)}>
      <h1>{say("logIn.title")}</h1>
      {reason !== "" && (
        <p class="says" role="status">
          {reason}
        </p>
      )}
      <label>
        {say("logIn.user")} <input ref={user} name="user" autocomplete="username" maxLength={64} required />
      </label>
      <Password label={say("logIn.password")} field={password} />
      {problem.value !== "" && (
        <p class="alert alarm" role="alert">
          {say("logIn.failed", { problem: problem.value })}
        </p>
      )}
      <button type="submit" class="primary" disabled={isBegun.value}>
        {say("logIn.title")}
      </button>
      <LanguageSwitch />
    </form>
  );
}
