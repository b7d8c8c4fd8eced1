import { useSignal, useSignalEffect } from "@preact/signals";
import { say, word } from "../texts/texts.ts";
import { timeOfDay } from "../trust/time-text.ts";
import { usePage } from "./context.ts";
import { Icon } from "./parts.tsx";

/** The line above all views: which gateway, whether its values are live, and who is logged in. */
export function Bar() {
  const { store } = usePage();
  return (
    <header class="bar">
      <p class="gateway">{store.fleet.value?.gatewayId ?? "Fleetgate"}</p>
      <LiveState />
      <LoggedIn />
      <LanguageSwitch />
      <ThemeSwitch />
    </header>
  );
}

function ThemeSwitch() {
  const { themes } = usePage();
  const isDark = themes.shown.value === "dark";
  return (
    <button type="button" class="quiet icon-only" onClick={themes.toggle}>
      <Icon name={isDark ? "day" : "night"} />
      <span class="unseen">{say(isDark ? "theme.light" : "theme.dark")}</span>
    </button>
  );
}

/** Whether the values are live, in words: the veil alone would not reach every reader. */
function LiveState() {
  const { store, reconnect } = usePage();
  const stream = store.stream.value;
  if (stream.state === "ended") {
    return (
      <p class="live lost" role="status">
        <span>{say("live.ended", { reason: stream.reason })}</span>{" "}
        <button type="button" onClick={reconnect}>
          {say("live.again")}
        </button>
      </p>
    );
  }
  if (store.isLive.value) {
    return (
      <p class="live ticking" role="status">
        <span class="while-live">
          <span>{say("live")}</span>
          <Clock />
        </span>
      </p>
    );
  }
  const text =
    stream.state === "waiting" ? say("live.notBecause", { reason: stream.reason }) : say("live.not");
  return (
    <p class="live lost" role="status" title={text}>
      <span>{text}</span>
    </p>
  );
}

/** Separate from the state, whose text a screen reader would otherwise repeat each second. */
function Clock() {
  const { store } = usePage();
  return (
    <span class="clock" aria-hidden="true">
      {timeOfDay(store.now.value.wallMs)}
    </span>
  );
}

/** The logged-in user, and the way to log out. */
function LoggedIn() {
  const { session, logOut } = usePage();
  const problem = useProblem();
  const now = session.value;
  if (now.state !== "user") return null;
  const leave = async () => {
    problem.value = (await logOut()) ?? "";
  };
  return (
    <p class="user">
      <span class="name">{say("user.role", { name: now.name, role: word(now.role ?? "") })}</span>
      <button type="button" class="quiet" onClick={() => void leave()}>
        {say("logOut")}
      </button>
      {problem.value !== "" && <span role="alert"> {say("logOut.failed", { problem: problem.value })}</span>}
    </p>
  );
}

/** Loads the page again in the other language. */
export function LanguageSwitch() {
  const { changeLanguage } = usePage();
  const problem = useProblem();
  const change = async () => {
    problem.value = (await changeLanguage()) ?? "";
  };
  return (
    <>
      <button type="button" class="quiet language" lang={say("language.code")} onClick={() => void change()}>
        <span aria-hidden="true">{say("language")}</span>
        <span class="unseen">{say("language.label")}</span>
      </button>
      {problem.value !== "" && <p role="alert">{say("language.failed", { problem: problem.value })}</p>}
    </>
  );
}

/** Why the gateway did not do something; empty: it did. It is over when the page is live again. */
function useProblem() {
  const { store } = usePage();
  const problem = useSignal("");
  useSignalEffect(() => {
    if (store.isLive.value) problem.value = "";
  });
  return problem;
}
