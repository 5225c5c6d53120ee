import { join, relative } from 'node:path';
import { StartRefused } from '#kernel/base/start-refused.ts';
import packageJson from '../package.json' with { type: 'json' };

/** `EX_USAGE` of sysexits.h. */
const EX_USAGE = 64;
const ROOT = new URL('..', import.meta.url).pathname;

/** The output of the version option of every command. */
export const VERSION_LINE = `annals ${packageJson.version} (Node ${process.versions.node})`;

export type StartArguments = {
  /** The path of the started file. */
  readonly program: string;
  /** The only role to start. */
  readonly role?: string;
  /** The roles that can be started alone. */
  readonly roles?: readonly string[];
  readonly args: readonly string[];
};

/**
 * The text that the arguments of a start request, or undefined to start: settings are environment variables,
 * and there are no others.
 */
export const answerStartArguments = (given: StartArguments): string | undefined => {
  const { args } = given;
  const command = commandOf(given);
  if (args.some((each) => each === '--help' || each === '-h')) return helpOn(command, given);
  const [first] = args;
  if (first === '--version' || first === '-v') return VERSION_LINE;
  if (first === undefined) return undefined;
  throw new StartRefused(
    `There is no ${first.startsWith('-') ? 'option' : 'argument'} ${first}: Annals is configured by environment variables (more: ${
      command === 'npm start' ? 'npm start --' : command
    } --help).`,
    {
      exitCode: EX_USAGE,
    },
  );
};

/** As it was started. */
const commandOf = ({ program, role }: StartArguments): string => {
  const file = relative(ROOT, program);
  if (file === 'main.ts' && role === undefined) return 'npm start';
  const started = `node ${file.startsWith('..') ? relative('.', program) : file}`;
  return role === undefined || file === join(role, 'main.ts') ? started : `${started} ${role}`;
};

const helpOn = (command: string, { program, roles = [] }: StartArguments): string => {
  const alone =
    roles.length === 0
      ? ''
      : `\nA single role: node ${relative('.', program)} <role>, of ${roles.join(', ')}\n`;
  return `Starts Annals, until Ctrl+C.

Usage: ${command}
${alone}
Options:
  --help      Shows this help.
  --version   Shows the version.

Environment variables configure it, for example: PORT=4001 DATA_DIR=/var/lib/annals ${command}
  npm run annals -- settings   lists them with their defaults
  npm run annals -- help       the command line, for operators`;
};
