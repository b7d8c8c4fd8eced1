// Notes each file that the program loads, as a line of the file that LOADED_LIST names.
import { register } from "node:module";

register("./loaded-hooks.js", import.meta.url);
