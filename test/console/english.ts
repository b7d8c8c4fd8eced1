import { english } from "../../src/console/texts/en.ts";
import { speak, speakMore } from "../../src/console/texts/texts.ts";

// The page says this before it shows anything.
speak(english, []);
await speakMore();
