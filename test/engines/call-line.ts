import { publishing } from '#domain/publishing.ts';
import { runCommandLine } from '../../command-line/program.ts';

export type Called = { readonly exit: number; readonly lines: readonly string[]; readonly complaint: string };

/** Calls the operator's command line in this process. */
export const callLine = async (
  settings: Readonly<Record<string, string | undefined>>,
  args: readonly string[],
  signal = new AbortController().signal,
): Promise<Called> => {
  const lines: string[] = [];
  const complaints: string[] = [];
  const exit = await runCommandLine(args, {
    domain: publishing,
    demo: () => import('#domain/demo/demo.ts'),
    environment: { NODE_ENV: 'test', ...settings },
    signal,
    write: async (line) => void lines.push(line),
    complain: (line) => void complaints.push(line),
  });
  return { exit, lines, complaint: complaints.join('\n') };
};
