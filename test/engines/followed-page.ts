import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '#adapters/embedded-postgres/free-port.ts';
import { until } from '../../testing/until.ts';
import { changed, patternOf, type Step } from './tutorial-page.ts';
import { openTutorialTerminal, type TutorialTerminal } from './tutorial-terminal.ts';

/** The clone that the tests run in. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A page of instructions, followed as a newcomer does, in the folder of a clone and in two terminals. */
export type FollowedPage = AsyncDisposable & {
  readonly shell: TutorialTerminal;
  /** With the ports of this run, and other differences from the page. */
  here(text: string): string;
  /**
   * Runs a block, and returns the output, which matches the page unless the time was up; `beside` acts
   * meanwhile.
   */
  follow(step: Step, beside?: () => Promise<void>): Promise<string>;
  /** The output of the server since its last start. */
  banner(): string;
  /** Ctrl+C in the terminal of the server. */
  stop(): Promise<void>;
};

const STARTS_MS = 100_000;

type Texts = Readonly<Record<string, string>>;

export const openFollowedPage = async (place: {
  folder: string;
  environment?: Texts;
  others?: Texts;
}): Promise<FollowedPage> => {
  const { folder, environment = {}, others = {} } = place;
  const ports = new Map<string, string>();
  for (const port of ['4000', '8080', '3000']) ports.set(port, String(await freePort()));
  const here = (text: string): string =>
    Object.entries(others)
      .reduce((changed, [one, other]) => changed.replaceAll(one, other), text)
      .replaceAll(/\b(?<=:|PORT=)(4000|8080|3000)\b/g, (port) => ports.get(port) ?? port);
  const shell = openTutorialTerminal(folder, environment);
  const ofServer = { ...environment, PORT: ports.get('4000') ?? '', METRICS_PORT: '0', INTERNAL_PORT: '0' };
  let server: TutorialTerminal | undefined;
  let banner = '';
  const fits = (shown: string | undefined) => (printed: string) =>
    shown === undefined || patternOf(here(shown)).test(printed);
  const start = async ({ text, shown }: Step): Promise<string> => {
    await server?.interrupt();
    server = openTutorialTerminal(folder, ofServer);
    // The server runs on, so nobody waits for its end.
    server.type(here(text)).catch(() => {});
    banner = await until(server.printed, fits(shown), STARTS_MS);
    return banner;
  };
  return {
    shell,
    here,
    async follow(step, beside) {
      const { where, path, text, shown } = step;
      if (where === 'server') return start(step);
      if (where === 'shell') return (await Promise.all([shell.type(here(text), fits(shown)), beside?.()]))[0];
      const file = join(folder, path);
      await writeFile(file, where === 'written file' ? text : changed(await readFile(file, 'utf8'), text));
      return '';
    },
    banner: () => banner,
    stop: async () => server?.interrupt(),
    async [Symbol.asyncDispose]() {
      await Promise.all([shell, server].map((each) => each?.[Symbol.asyncDispose]()));
    },
  };
};
