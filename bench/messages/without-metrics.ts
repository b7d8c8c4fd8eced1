// Loaded before a gateway: what counts as messages and commands come is another module then, which does not.
import { register } from "node:module";

register("./meter-hooks.js", import.meta.url);
