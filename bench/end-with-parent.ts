// Loaded before every program of the bench: none of them outlives it, however it ends.
process.once("disconnect", () => process.exit(1));
// The channel alone keeps no program alive, except one that waits for messages.
process.channel?.unref();
process.on("newListener", (name) => {
  if (name === "message") process.channel?.ref();
});
