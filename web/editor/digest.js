// Prints a digest of everything that the bundle is made of: a test compares it with the sources.

import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";

const hash = createHash("sha256");
for (const path of ["package-lock.json", ...readdirSync("src").sort().map((name) => `src/${name}`)]) {
  hash.update(readFileSync(path));
}
console.log(hash.digest("hex"));
