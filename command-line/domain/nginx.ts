import { readFileSync } from 'node:fs';
import { largestFileOf } from '#kernel/decide/upload-fields.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { ofAggregates, resourcesOf } from '#shared/rest/operations.ts';
import type { Command } from '../arguments/command.ts';

/** The configuration that ships, with the paths of the domain that ships. */
const TEMPLATE = new URL('../../deploy/nginx.conf', import.meta.url);

export const domainNginx: Command = {
  name: 'domain nginx',
  summary: 'Prints an nginx configuration (deploy/nginx.conf) with the paths of the domain.',
  positionals: [],
  options: {},
  examples: ['domain nginx > nginx.conf.template'],
  run: (_, terminal) => terminal.write(nginxFor(terminal.domain).trimEnd()),
};

/** Only two locations depend on the domain; all others are the kernel’s. */
export const nginxFor = (domain: Domain): string => {
  const files = ofAggregates(domain).flatMap(([, { path, use }]) =>
    use.does === 'putFile' ? [patternOf(path)] : [],
  );
  const written = new Set(
    resourcesOf(domain).flatMap(({ path, role }) =>
      role === 'command' ? [path.split('/', 2)[1] ?? ''] : [],
    ),
  );
  const conf = readFileSync(TEMPLATE, 'utf8');
  const mib = Math.ceil(largestFileOf(domain) / MIB);
  const ofResources = withLocation(conf, 'Resources', `^(?:/api)?/${anyOf([...written])}(?:/|$)`);
  const all = withLocation(
    ofResources,
    'Uploads',
    files.length === 0 ? NOWHERE : `^(?:/api)?/${anyOf(files)}/?$`,
  );
  // One upload, and a request of GraphQL with ten; the file that ships is for pictures.
  return all
    .replace('client_max_body_size 16m;', `client_max_body_size ${mib + 6}m;`)
    .replace('client_max_body_size 110m;', `client_max_body_size ${10 * mib + 10}m;`);
};

const MIB = 1_048_576;

/** Matches nothing. */
const NOWHERE = '(?!)';

const patternOf = (path: string): string => path.slice(1).replaceAll(/\{\w+\}/g, '[^/]+');
const anyOf = (patterns: readonly string[]): string =>
  patterns.length === 1 ? (patterns[0] ?? '') : `(?:${patterns.join('|')})`;

/** Replaces the paths of the location that these words introduce. */
const withLocation = (conf: string, words: string, pattern: string): string => {
  const location = new RegExp(`(?<=\\n *# ${words}\\b.*\\n *location ~\\* )\\S+(?= \\{)`);
  if (!location.test(conf))
    throw new Error(`deploy/nginx.conf has no location that is introduced by “${words}”`);
  return conf.replace(location, () => pattern);
};
