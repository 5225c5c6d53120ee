import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPeople } from '../../testing/people.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { type Installation, shareInstallation } from '../engines/installation.ts';
import { patternOf, sectionsOf } from '../engines/tutorial-page.ts';

/** The requests of docs/graphql.md must give the answers on the page. */
const SECTIONS = sectionsOf(readFileSync(new URL('../../docs/graphql.md', import.meta.url), 'utf8'));
const runFile = promisify(execFile);

const open = new AsyncDisposableStack();
let installation: Installation;
let cwd: string;
let token: string;
beforeAll(async () => {
  installation = open.use(await shareInstallation());
  cwd = open.use(await temporaryDataDir()).path;
  token = (await openPeople(installation)).administrator.token;
});
afterAll(() => open.disposeAsync());

test.each(SECTIONS)('%s', async (_section, steps) => {
  for (const { text, shown } of steps) {
    const here = text.replaceAll('http://localhost:4000', installation.origin);
    const { stdout } = await runFile('bash', ['-c', here], { cwd, env: { ...process.env, TOKEN: token } });
    if (shown === undefined) throw new Error(`the page does not show what this prints:\n${text}`);
    expect(stdout).toMatch(patternOf(shown));
  }
});
