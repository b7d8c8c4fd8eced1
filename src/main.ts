#!/usr/bin/env -S node --no-memory-reducer
import { createProgram } from "./cli/program.ts";

// `--no-memory-reducer`, here as in the systemd unit and the image: V8 compacts the heap of a program that falls
// idle, several times over, as a browser wants of its tabs. With a thousand robots each time is a second of a core.
await createProgram().parseAsync();
