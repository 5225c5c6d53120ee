import { publishing } from '#domain/publishing.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { runCommandLine } from '../../command-line/program.ts';
import type { Terminal } from '../../command-line/terminal.ts';
import { ALL_PARTS } from '../../parts.ts';

type Called = {
  readonly exit: number;
  readonly lines: readonly string[];
  readonly output: string;
  readonly complaint: string;
};

/** Calls the operator's command line in this process. */
export const callLine = (
  settings: Readonly<Record<string, string | undefined>>,
  args: readonly string[],
  more: Partial<Pick<Terminal, 'signal' | 'clock'>> = {},
): Promise<Called> =>
  callAt(
    {
      demo: () => import('#domain/demo/demo.ts'),
      environment: { NODE_ENV: 'test', ...settings },
      ...more,
    },
    args,
  );

/** The same at a terminal that differs in some way, by default with no setting at all. */
export const callAt = async (
  terminal: Partial<Omit<Terminal, 'write' | 'complain'>> & { readonly hear?: (line: string) => void },
  args: readonly string[],
): Promise<Called> => {
  const lines: string[] = [];
  const complaints: string[] = [];
  const exit = await runCommandLine(args, {
    domain: publishing,
    parts: ALL_PARTS,
    environment: {},
    clock: REAL_TIME,
    signal: new AbortController().signal,
    ...terminal,
    write: async (line) => {
      lines.push(line);
      terminal.hear?.(line);
    },
    complain: (line) => void complaints.push(line),
  });
  return { exit, lines, output: lines.join('\n'), complaint: complaints.join('\n') };
};
