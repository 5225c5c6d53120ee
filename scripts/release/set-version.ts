import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { release } from './changelog.ts';

// `npm version 0.2.0` calls it after writing package.json and before the commit: these files contain the
// version, too.

const ROOT = join(import.meta.dirname, '../..');
const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
const day = new Date().toISOString().slice(0, 10);

const ofTarballs = (text: string): string =>
  text.replaceAll(/\bannals-\d+\.\d+\.\d+[\w.-]*\.tgz/g, `annals-${version}.tgz`);

const EDITS: Readonly<Record<string, (text: string) => string>> = {
  'CHANGELOG.md': (text) => release(text, version, day),
  'deploy/helm/annals/Chart.yaml': (text) =>
    text.replaceAll(/^(version|appVersion): .*$/gm, `$1: ${version}`),
  'docker-bake.hcl': (text) => text.replace(/^(variable "VERSION" \{ default = )"[^"]*"/m, `$1"${version}"`),
  'docs/browser.md': ofTarballs,
  'docs/project.md': ofTarballs,
  'docs/tanstack.md': ofTarballs,
};

for (const [path, edit] of Object.entries(EDITS)) {
  const file = join(ROOT, path);
  await writeFile(file, edit(await readFile(file, 'utf8')));
}
execFileSync('git', ['add', '--', ...Object.keys(EDITS)], { cwd: ROOT });
