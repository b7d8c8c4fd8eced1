import { useSignal } from "@preact/signals";
import { usePage } from "./context.ts";

/** The page of a gateway with users until somebody has logged in. */
export function LogIn({ reason }: { readonly reason: string }) {
  const { logIn } = usePage();
  const isBegun = useSignal(false);
  const problem = useSignal("");
  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    if (isBegun.peek()) return;
    isBegun.value = true;
    const form = new FormData(event.currentTarget as HTMLFormElement);
    problem.value = (await logIn(`${form.get("user")}`, `${form.get("password")}`)) ?? "";
    isBegun.value = false;
  };
  return (
    <form class="log-in" aria-label="Log in" onSubmit={(event) => void send(event)}>
      <h1>Log in</h1>
      {reason !== "" && <p role="status">{reason}</p>}
      <label>
        User <input name="user" autocomplete="username" maxLength={64} required />
      </label>
      <label>
        Password{" "}
        <input name="password" type="password" autocomplete="current-password" maxLength={256} required />
      </label>
      <button type="submit" disabled={isBegun.value}>
        Log in
      </button>
      {problem.value !== "" && <p role="alert">Not logged in: {problem.value}.</p>}
    </form>
  );
}

/** The logged-in user, and the way to log out. */
export function LoggedIn() {
  const { session, logOut } = usePage();
  const problem = useSignal("");
  const now = session.value;
  if (now.state !== "user") return null;
  const leave = async () => {
    problem.value = (await logOut()) ?? "";
  };
  return (
    <p class="user">
      {now.name} ({now.role}){" "}
      <button type="button" onClick={() => void leave()}>
        Log out
      </button>
      {problem.value !== "" && <span role="alert"> Not logged out: {problem.value}.</span>}
    </p>
  );
}
