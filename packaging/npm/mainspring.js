#!/usr/bin/env node
// Runs the native program of this computer's package. `install` first copies it to a place that
// stays, and registers that one: a hook starts no Node, and does not depend on npm's cache.
"use strict";

const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

const ending = process.platform === "win32" ? ".exe" : "";
const wanted = `${require("../package.json").name}-${process.platform}-${process.arch}`;

function fail(message) {
  console.error(`mainspring: ${message}`);
  process.exit(1);
}

function native() {
  try {
    return require.resolve(`${wanted}/bin/mainspring${ending}`);
  } catch {
    return fail(
      `there is no program for ${process.platform} on ${process.arch}: ${wanted} is not installed. ` +
        "If npm was told to omit optional dependencies, install again with --include=optional",
    );
  }
}

function settled(program) {
  const base =
    process.platform === "win32"
      ? process.env.LOCALAPPDATA || path.join(os.homedir(), "AppData", "Local")
      : process.env.XDG_DATA_HOME || path.join(os.homedir(), ".local", "share");
  const folder = path.join(base, "mainspring", "bin");
  fs.mkdirSync(folder, { recursive: true });
  const place = path.join(folder, `mainspring${ending}`);
  const copy = `${place}.${process.pid}`;
  fs.copyFileSync(program, copy);
  fs.chmodSync(copy, 0o755);
  try {
    fs.renameSync(copy, place);
  } catch {
    // Windows replaces no program that runs, but lets it be renamed.
    const before = `${place}.before`;
    fs.rmSync(before, { force: true });
    fs.renameSync(place, before);
    fs.renameSync(copy, place);
  }
  return place;
}

const args = process.argv.slice(2);
const registers = args[0] === "install" && !args.includes("--dry-run") && !args.includes("--print");
const program = registers ? settled(native()) : native();
const ran = spawnSync(program, args, { stdio: "inherit" });
if (ran.error) {
  fail(ran.error.message);
}
process.exit(ran.status === null ? 1 : ran.status);
