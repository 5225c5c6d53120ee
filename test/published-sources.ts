import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PUBLISHED } from './boundaries.ts';
import type { Sources } from './imports.ts';

const root = join(import.meta.dirname, '..');

/** The sources of the published folders and of the root, with their tests. */
export const readSources = (): Sources => {
  const paths = globSync([`{${PUBLISHED.join(',')}}/**/*.ts`, '*.ts'], {
    cwd: root,
    exclude: (path) => path.includes('create/template'),
  });
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
};
