import { publishing } from '#domain/publishing.ts';
import { runCommandLine } from './command-line/program.ts';
import { openTerminal } from './command-line/terminal.ts';

/** The operator's command line: `npm run annals -- help`. */
using terminal = openTerminal(publishing);
process.exitCode = await runCommandLine(process.argv.slice(2), terminal);
