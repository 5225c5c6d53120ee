import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Order, Outcome } from './warm-vitest.ts';

const PROGRAM = fileURLToPath(new URL('./warm-vitest.ts', import.meta.url));

const END_MAX_MS = 30_000;

type Options = {
  readonly projects: string;
  readonly maxWorkers: number;
  readonly bail: 0 | 1;
  readonly env?: Readonly<Record<string, string>>;
};

/** Runs tests in a copy of the checkout. A process that hangs is killed, and a new one continues. */
export class Runner implements AsyncDisposable {
  readonly #root: string;
  readonly #options: Options;
  #process: ChildProcess | undefined;

  constructor(root: string, options: Options) {
    this.#root = root;
    this.#options = options;
    // Before its copy is removed.
    process.prependOnceListener('exit', () => this.#kill());
  }

  /** Undefined if the time is over. */
  async run(order: Order, limitMs: number): Promise<Outcome | undefined> {
    const started = this.#process ?? (await this.#start());
    this.#process = started;
    const timeout = AbortSignal.timeout(limitMs);
    try {
      const answered = once(started, 'message', { signal: timeout });
      started.send(order);
      const [outcome]: Outcome[] = await answered;
      return outcome;
    } catch (error) {
      if (!timeout.aborted) throw error;
      this.#kill();
      return undefined;
    }
  }

  async #start(): Promise<ChildProcess> {
    const { maxWorkers, bail, projects, env } = this.#options;
    const started = fork(PROGRAM, [this.#root, String(maxWorkers), String(bail), projects], {
      cwd: this.#root,
      detached: true,
      env: { ...process.env, NO_COLOR: '1', ...env },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    await once(started, 'message');
    return started;
  }

  /** With the workers and the processes that they have started. */
  #kill(): void {
    const pid = this.#process?.pid;
    this.#process = undefined;
    try {
      if (pid !== undefined) process.kill(-pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ending = this.#process;
    if (ending === undefined || ending.exitCode !== null) return;
    ending.disconnect();
    await once(ending, 'exit', { signal: AbortSignal.timeout(END_MAX_MS) }).catch(() => this.#kill());
    this.#process = undefined;
  }
}
