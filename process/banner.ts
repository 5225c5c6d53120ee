import { relative, resolve } from 'node:path';
import type { Link } from '#edge/http/root-page.ts';
import type { DemoAccess, FirstMinute } from './first-minute-file.ts';
import { SETTINGS } from './settings.ts';

type Shown = {
  /** The address in every link. */
  readonly url: string;
  readonly dataDir: string;
  /** To what it serves. */
  readonly links: readonly Link[];
  readonly firstMinute: FirstMinute;
  readonly demo: DemoAccess | undefined;
  readonly scopes: string;
  readonly offersDemo: boolean;
};

const PAGES = [
  ['/console', 'your data, who changed it and when, and how it runs'],
  ['/docs', 'the documentation, with every request to try'],
  ['/graphql', 'GraphQL, in a browser'],
] as const;

/** The text that a start in development prints for its user. */
export const banner = ({ url, dataDir, links, firstMinute, demo, scopes, offersDemo }: Shown): string => {
  const { author } = firstMinute;
  return `
  Annals is at ${url}

  Try next:
${[
  ...PAGES.filter(([path]) => links.some(({ href }) => href === path)).map(([path, says]) =>
    line(`${url}${path}`, says),
  ),
  line(`${url}/account`, 'your own account'),
  line(
    inSecondTerminal(dataDir, `npm run -s token -- --scope '${scopes}'`),
    'an access token, as an administrator',
  ),
  line(inSecondTerminal(dataDir, 'npm run annals -- help'), 'the command line'),
  ...(offersDemo
    ? [
        line(
          'npm run demo',
          'four weeks of a magazine to look at, in a folder of its own (stop this one first)',
        ),
      ]
    : []),
].join('\n')}
${
  demo === undefined
    ? ''
    : `
  Look first at ${url}${demo.lookAt.path}: ${demo.lookAt.says}.
  Sign in as ${demo.administrator.email} (${demo.administrator.name}), an administrator, with the password ${demo.administrator.password}`
}
  Sign in as ${author.email} with the password ${author.password}

  Ctrl+C stops it; the data stays.

`;
};

const COLUMN = 34;

const line = (command: string, says: string): string =>
  `    ${command.length < COLUMN ? command.padEnd(COLUMN) : `${command}\n${' '.repeat(COLUMN + 4)}`}${says}`;

/**
 * A command for another terminal, where DATA_DIR has its default: it must reach this installation, such as the
 * demo beside another one.
 */
export const inSecondTerminal = (dataDir: string, command: string): string =>
  dataDir === resolve(SETTINGS.DATA_DIR.fallback)
    ? command
    : `DATA_DIR=${quoted(shortened(dataDir))} ${command}`;

/** From the folder in which the commands work. */
const shortened = (dataDir: string): string => {
  const path = relative('', dataDir);
  return path === '' || path.startsWith('..') ? dataDir : path;
};

const quoted = (path: string): string =>
  /^[\w./@%+=:,-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
