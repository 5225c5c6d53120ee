import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { sharedTest as base } from '../engines/installation-fixture.ts';
import { patternOf, sectionsOf } from '../engines/tutorial-page.ts';

/** The requests of docs/graphql.md must give the answers on the page. */
const SECTIONS = sectionsOf(readFileSync(new URL('../../docs/graphql.md', import.meta.url), 'utf8'));
const runFile = promisify(execFile);

const test = base.extend('cwd', { scope: 'file' }, async ({ installation: _asked }, { onCleanup }) => {
  const folder = await temporaryDataDir();
  onCleanup(() => folder[Symbol.asyncDispose]());
  return folder.path;
});

test.for(SECTIONS)('%s', async ([_section, steps], { cwd, installation, people }) => {
  for (const { text, shown } of steps) {
    const here = text.replaceAll('http://localhost:4000', installation.origin);
    const { stdout } = await runFile('bash', ['-c', here], {
      cwd,
      env: { ...process.env, TOKEN: people.administrator.token },
    });
    if (shown === undefined) throw new Error(`the page does not show what this prints:\n${text}`);
    expect(stdout).toMatch(patternOf(shown));
  }
});
