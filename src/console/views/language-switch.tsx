import { say } from "../texts/texts.ts";
import { usePage } from "./context.ts";

/** Loads the page again in the other language. */
export function LanguageSwitch() {
  const { changeLanguage } = usePage();
  return (
    <button type="button" class="quiet language" lang={say("language.code")} onClick={changeLanguage}>
      <span aria-hidden="true">{say("language")}</span>
      <span class="unseen">{say("language.label")}</span>
    </button>
  );
}
