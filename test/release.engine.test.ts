import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { notesOf, release } from '../scripts/release/changelog.ts';
import { temporaryDataDir } from './engines/data-dir.ts';

const run = promisify(execFile);
const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter);
const AUTHOR = {
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'A',
  GIT_COMMITTER_EMAIL: 'a@example.com',
};

test('npm version writes the version everywhere, commits and tags; npm run release requires that tag', async () => {
  await using place = await temporaryDataDir();
  const clone = join(place.path, 'clone');
  const inClone = { cwd: clone, env: { ...process.env, ...AUTHOR, PATH } };
  await run('git', ['clone', '--quiet', join(import.meta.dirname, '..'), clone]);
  const makeRelease = () => run(process.execPath, ['scripts/release/main.ts'], inClone);
  await expect(makeRelease()).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^This commit has no tag v\d/),
  });
  const read = (path: string) => readFile(join(clone, path), 'utf8');
  // There may be nothing since the last release.
  await writeFile(
    join(clone, 'CHANGELOG.md'),
    (await read('CHANGELOG.md')).replace('## Unreleased\n', '## Unreleased\n\n- A new thing.\n'),
  );
  await run('git', ['commit', '--quiet', '--all', '--message', 'Change something'], inClone);
  await run('npm', ['version', '9.8.7', '--message', 'Release %s'], inClone);
  expect((await run('git', ['show', '--no-patch', '--format=%s %D'], inClone)).stdout).toMatch(
    /^Release 9\.8\.7 .*tag: v9\.8\.7/,
  );
  expect((await run('git', ['status', '--porcelain'], inClone)).stdout).toBe('');
  expect(await read('CHANGELOG.md')).toMatch(
    /^# Changes\n\n## Unreleased\n\n## 9\.8\.7 \(\d{4}-\d\d-\d\d\)\n\n- /,
  );
  expect(await read('deploy/helm/annals/Chart.yaml')).toMatch(/^version: 9\.8\.7\nappVersion: 9\.8\.7$/m);
  expect(await read('docker-bake.hcl')).toContain('variable "VERSION" { default = "9.8.7" }');
  expect(await read('docs/project.md')).toContain(
    '/create-annals-9.8.7.tgz -- create-annals my-app --aggregate invoice --annals $ANNALS/annals-9.8.7.tgz\n',
  );
  expect(await read('docs/browser.md')).toContain('npm install $CLONE/dist/annals-9.8.7.tgz\n');
  await run('git', ['commit', '--quiet', '--allow-empty', '--message', 'After it'], inClone);
  await expect(makeRelease()).rejects.toMatchObject({
    stderr: expect.stringMatching(/^This commit has no tag v9\.8\.7: /),
  });
});

const changelog =
  '# Changes\n\n## Unreleased\n\n- A new thing.\n- Another.\n\n## 0.1.0 (2026-01-02)\n\n- The first.\n';

test('the unreleased changes become the section of a version', () => {
  const released = release(changelog, '0.2.0', '2026-11-23');
  expect(released).toBe(
    '# Changes\n\n## Unreleased\n\n## 0.2.0 (2026-11-23)\n\n- A new thing.\n- Another.\n\n## 0.1.0 (2026-01-02)\n\n- The first.\n',
  );
  expect(notesOf(released, '0.2.0')).toBe('- A new thing.\n- Another.\n');
  expect(notesOf(released, '0.1.0')).toBe('- The first.\n');
});

test('a version is released once, and only with changes', () => {
  expect(() => release(changelog, '0.1.0', '2026-11-23')).toThrow('already has a section for 0.1.0');
  const released = release(changelog, '0.2.0', '2026-11-23');
  expect(() => release(released, '0.3.0', '2026-11-24')).toThrow('there is nothing to release');
  expect(() => notesOf(changelog, '0.2.0')).toThrow('has no section for 0.2.0');
});
