/** Packages that the built program loads from node_modules: each has files besides its code. */
export const unbundled = [
  // Its binary.
  "lmdb",
  // Its nodesets.
  "node-opcua-nodesets",
];

/** What a package asks for if it is installed, and we do not install. */
export const absent = ["proper-lockfile"];
