#!/usr/bin/env node
import { runCreate } from './create.ts';

await runCreate({ args: process.argv.slice(2), isHere: false });
