// Prints the licence of every package that the bundle holds.

import { existsSync, readFileSync } from "node:fs";

const { inputs } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const packages = new Set(
  Object.keys(inputs).flatMap((path) => path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1] ?? []),
);
console.log("editor.js holds the following packages.\n");
for (const name of [...packages].sort()) {
  const folder = `node_modules/${name}`;
  const { version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  const file = ["LICENSE", "LICENSE.md", "LICENCE"].find((each) => existsSync(`${folder}/${each}`));
  if (!file) throw new Error(`${name} has no licence file`);
  console.log(`${"=".repeat(80)}\n${name} ${version} (${license})\n`);
  console.log(`${readFileSync(`${folder}/${file}`, "utf8").trim()}\n`);
}
