// Loaded before every program of the bench: none of them outlives it, however it ends.
process.once("disconnect", () => process.exit(1));
// The channel alone must not keep a program alive.
process.channel?.unref();
