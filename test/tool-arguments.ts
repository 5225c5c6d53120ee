import type { Command, Given } from '../command-line/arguments/command.ts';
import { helpOn, readArguments } from '../command-line/arguments/parser.ts';
import { UsageError } from '../command-line/arguments/usage-error.ts';

/** A script of `package.json` for developers, explained like a command of the command line. */
export type Tool = Pick<Command, 'summary' | 'positionals' | 'options' | 'examples'> & {
  readonly script: string;
};

/** The arguments of this process. For `--help` and for wrong arguments, prints the answer and exits. */
export const toolArguments = <T>(tool: Tool, read: (given: Given) => T): T => {
  const args = process.argv.slice(2);
  const program = `npm run ${tool.script} --`;
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(`${helpOn(tool, { program })}\n`);
    process.exit(0);
  }
  try {
    return read(readArguments(tool, args));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${tool.script}: ${error.message} (more: ${program} --help).\n`);
    process.exit(EX_USAGE);
  }
};
const EX_USAGE = 64;
