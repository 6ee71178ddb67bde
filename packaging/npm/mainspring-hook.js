#!/usr/bin/env node
// The program's second name, which plugins call. After `mainspring install` hooks start the native
// program instead, without Node.
"use strict";

process.argv.splice(2, 0, "hook");
require("./mainspring.js");
