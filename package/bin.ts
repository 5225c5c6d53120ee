#!/usr/bin/env node
import { existsSync } from 'node:fs';
import './testing/dispose.ts';

// `npx annals` begins a project in an empty folder. In a project it starts it, or the domain in DOMAIN_FILE; `npx
// annals audit verify` is the command line.

const OF_PROJECTS = 'domain/domain.ts';
/** Commands for witnesses and auditors, who have no installation. */
const OF_ANYBODY = /^(?:audit check|witness)(?: |$)/;

const args = process.argv.slice(2);

const beginProject = async (): Promise<void> => {
  const [{ runCreate }, { fetchBinaries }] = await Promise.all([
    import('../create/create.ts'),
    import('#adapters/embedded-postgres/binaries.ts'),
  ]);
  const log = (line: string) => void process.stdout.write(`${line}\n`);
  const meanwhile = (signal: AbortSignal) => fetchBinaries({ signal, log });
  await runCreate({ args, isHere: true, ...(process.env.DATABASE_URL ? {} : { meanwhile }) });
};

const serveAnybody = async (): Promise<void> => {
  const [{ operate }, { servedBy }, { proof }] = await Promise.all([
    import('../start.ts'),
    import('../served.ts'),
    import('../parts.ts'),
  ]);
  await operate({ ...servedBy(''), parts: [proof()] }, args);
};

if (process.env.DOMAIN_FILE || existsSync(OF_PROJECTS)) {
  process.env.DOMAIN_FILE ||= OF_PROJECTS;
  await import('../main.ts');
} else if (OF_ANYBODY.test(args.join(' '))) await serveAnybody();
else if (args[0] === undefined || args[0].startsWith('-')) await beginProject();
else {
  process.stderr.write(
    `There is no ${OF_PROJECTS} here: begin a project with npx annals in an empty folder, or set DOMAIN_FILE to the file of a domain.\n`,
  );
  process.exitCode = 1;
}
