import { posix } from 'node:path';
import { CHANGELOG } from './library.ts';

/** Where a link of a text leads on the site; undefined where what it leads to is in the repository alone. */
export const addressOnSite = (href: string, folder: string): string | undefined => {
  const [path = '', anchor] = href.split('#', 2);
  const page = pageOf(posix.join(folder, path));
  return page === undefined || anchor === undefined || page.includes('#') ? page : `${page}#${anchor}`;
};

export const guidePath = (name: string): string => `/docs/guides/${name}`;
export const examplePath = (name: string): string => `/docs/examples/${name}`;
export const SETTINGS_PATH = '/docs/settings';

/** By the path of a file in the repository. */
const pageOf = (file: string): string | undefined => {
  if (file === 'CHANGELOG.md') return guidePath(CHANGELOG);
  // Of the README, the table of settings is here; the rest of it is for whoever has the repository.
  if (file === 'README.md') return `${SETTINGS_PATH}#settings`;
  const [, guide] = /^docs\/([\w-]+)\.md$/.exec(file) ?? [];
  if (guide !== undefined) return guidePath(guide);
  const [, example] = /^docs\/examples\/([\w./-]+)$/.exec(file) ?? [];
  return example === undefined ? undefined : examplePath(example);
};
