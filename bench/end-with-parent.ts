// Loaded before every program of the bench: none of them outlives it, however it ends.
process.once("disconnect", () => process.exit(1));
// The channel alone must not keep a program alive, but one that waits for messages.
process.channel?.unref();
process.on("newListener", (name) => {
  if (name === "message") process.channel?.ref();
});
