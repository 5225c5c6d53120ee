#!/usr/bin/env node
import { existsSync } from 'node:fs';
import './testing/dispose.ts';

// `npx annals` starts a project that `npm create annals` has made, or the domain in DOMAIN_FILE; `npx annals
// audit verify` is the command line.
const OF_PROJECTS = 'domain/domain.ts';
if (!process.env.DOMAIN_FILE) {
  if (!existsSync(OF_PROJECTS)) {
    process.stderr.write(
      `There is no ${OF_PROJECTS} here: create a project with npm create annals, or set DOMAIN_FILE to the file of a domain.\n`,
    );
    process.exit(1);
  }
  process.env.DOMAIN_FILE = OF_PROJECTS;
}
await import('../main.ts');
