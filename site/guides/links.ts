import { posix } from 'node:path';
import { CHANGELOG } from './library.ts';

/** The address of a link’s target on the site; undefined if the target is only in the repository. */
export const addressOnSite = (href: string, folder: string): string | undefined => {
  const [path = '', anchor] = href.split('#', 2);
  const page = pageOf(posix.join(folder, path));
  return page === undefined || anchor === undefined || page.includes('#') ? page : `${page}#${anchor}`;
};

/** The address of the settings is older than the guides. */
export const guidePath = (name: string): string =>
  name === 'settings' ? '/docs/settings' : `/docs/guides/${name}`;
export const examplePath = (name: string): string => `/docs/examples/${name}`;

/** By the path of a file in the repository. */
const pageOf = (file: string): string | undefined => {
  if (file === 'CHANGELOG.md') return guidePath(CHANGELOG);
  const [, guide] = /^docs\/([\w-]+)\.md$/.exec(file) ?? [];
  if (guide !== undefined) return guidePath(guide);
  const [, example] = /^docs\/examples\/([\w./-]+)$/.exec(file) ?? [];
  return example === undefined ? undefined : examplePath(example);
};
