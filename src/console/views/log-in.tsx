import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { usePage } from "./context.ts";
import { Password } from "./parts.tsx";

/** The page of a gateway with users until somebody has logged in. */
export function LogIn({ reason }: { readonly reason: string }) {
  const { logIn } = usePage();
  const isBegun = useSignal(false);
  const problem = useSignal("");
  const user = useRef<HTMLInputElement>(null);
  const password = useRef<HTMLInputElement>(null);
  useEffect(() => user.current?.focus(), []);
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
    <form class="log-in" aria-label="Log in" onSubmit={(event) => void send(event)}>
      <h1>Log in</h1>
      {reason !== "" && (
        <p class="says" role="status">
          {reason}
        </p>
      )}
      <label>
        User <input ref={user} name="user" autocomplete="username" maxLength={64} required />
      </label>
      <Password label="Password" field={password} />
      {problem.value !== "" && (
        <p class="alert alarm" role="alert">
          Not logged in: {problem.value}.
        </p>
      )}
      <button type="submit" class="primary" disabled={isBegun.value}>
        Log in
      </button>
    </form>
  );
}
