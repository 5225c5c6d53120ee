import { relative } from 'node:path';
import packageJson from '../package.json' with { type: 'json' };
import { StartRefused } from './start-refused.ts';

/** `EX_USAGE` of sysexits.h. */
const EX_USAGE = 64;
const ROOT = new URL('..', import.meta.url).pathname;

/** What the version option prints, wherever it is given. */
export const VERSION_LINE = `annals ${packageJson.version} (Node ${process.versions.node})`;

/** The text that the arguments of a start ask for, or undefined to start: settings are environment variables, and there is nothing else. */
export const answerStartArguments = ([program = '', ...args]: readonly string[]): string | undefined => {
  const file = relative(ROOT, program);
  const isWhole = file === 'main.ts';
  if (args.some((each) => each === '--help' || each === '-h')) return helpOn(isWhole ? 'npm start' : `node ${file}`);
  const [first] = args;
  if (first === '--version' || first === '-v') return VERSION_LINE;
  if (first === undefined) return undefined;
  const help = isWhole ? 'npm start -- --help' : `node ${file} --help`;
  throw new StartRefused(
    `There is no ${first.startsWith('-') ? 'option' : 'argument'} ${first}: Annals is set up by environment variables (more: ${help}).`,
    {
      exitCode: EX_USAGE,
    },
  );
};

const helpOn = (command: string): string => `Starts Annals, until Ctrl+C.

Usage: ${command}

Options:
  --help      Shows this.
  --version   Shows the version.

Environment variables set it up, such as: PORT=4001 DATA_DIR=/var/lib/annals ${command}
  npm run annals -- settings   lists them with their defaults
  npm run annals -- help       the command line, for operators`;
