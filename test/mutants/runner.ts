import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startDeadline } from '../../testing/load.ts';
import type { Order, Outcome } from './warm-vitest.ts';

const PROGRAM = fileURLToPath(new URL('./warm-vitest.ts', import.meta.url));

const END_MAX_MS = 30_000;
const LOOK_EVERY_MS = 200;
const CLOSE_MAX_MS = 1_000;
const STDERR_MAX = 2_000;

/** The end of the process, which came instead of an answer. */
export type NoOutcome = { readonly without: 'time limit' | 'crash'; readonly why: string };

type Options = {
  readonly projects: string;
  readonly maxWorkers: number;
  readonly bail: 0 | 1;
  readonly env?: Readonly<Record<string, string>>;
};

/** Runs tests in a copy of the checkout. A process that hangs is killed, and a new one continues after it. */
export class Runner implements AsyncDisposable {
  readonly #root: string;
  readonly #options: Options;
  readonly #program: string;
  #process: ChildProcess | undefined;
  #stderr = '';

  constructor(root: string, options: Options, program = PROGRAM) {
    this.#root = root;
    this.#options = options;
    this.#program = program;
    // Before its copy is removed.
    process.prependOnceListener('exit', () => this.#kill());
  }

  /** The limit is one of a quiet machine. */
  async run(order: Order, limitMs: number): Promise<Outcome | NoOutcome> {
    const started = this.#alive() ?? (await this.#start());
    const deadline = startDeadline(limitMs);
    const over = new AbortController();
    const looking = setInterval(() => deadline.isOver() && over.abort(), LOOK_EVERY_MS);
    try {
      const answered = this.#answer<Outcome>(started, over.signal);
      started.send(order, () => undefined);
      return await answered;
    } catch (error) {
      this.#kill();
      if (over.signal.aborted) return { without: 'time limit', why: `no answer within ${deadline}` };
      return { without: 'crash', why: String(error) };
    } finally {
      clearInterval(looking);
    }
  }

  #alive(): ChildProcess | undefined {
    return this.#process?.exitCode === null && this.#process.signalCode === null ? this.#process : undefined;
  }

  async #start(): Promise<ChildProcess> {
    const { maxWorkers, bail, projects, env } = this.#options;
    const started = fork(this.#program, [this.#root, String(maxWorkers), String(bail), projects], {
      cwd: this.#root,
      detached: true,
      env: { ...process.env, NO_COLOR: '1', ...env },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#process = started;
    this.#stderr = '';
    started.stderr?.on('data', (chunk) => {
      this.#stderr = `${this.#stderr}${chunk}`.slice(-STDERR_MAX);
    });
    await this.#answer(started);
    return started;
  }

  /** Its next message; rejected if it ends before. */
  async #answer<Message>(started: ChildProcess, signal?: AbortSignal): Promise<Message> {
    const settled = new AbortController();
    const either = AbortSignal.any([settled.signal, ...(signal === undefined ? [] : [signal])]);
    const ended = once(started, 'exit', { signal: either }).then(async ([code, by]) => {
      // Its last words; what it has started may keep them open.
      await once(started, 'close', { signal: AbortSignal.timeout(CLOSE_MAX_MS) }).catch(() => undefined);
      throw new Error(`vitest ended with ${by ?? code}: ${this.#stderr.trim() || 'it printed no reason'}`);
    });
    try {
      const [message]: Message[] = await Promise.race([once(started, 'message', { signal: either }), ended]);
      return message as Message;
    } finally {
      settled.abort();
      ended.catch(() => undefined);
    }
  }

  /** With the workers and the processes that they have started. */
  #kill(): void {
    const pid = this.#process?.pid;
    this.#process = undefined;
    try {
      if (pid !== undefined) process.kill(-pid, 'SIGKILL');
    } catch {
      // The process has ended by itself.
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ending = this.#alive();
    if (ending === undefined) return;
    ending.disconnect();
    await once(ending, 'exit', { signal: AbortSignal.timeout(END_MAX_MS) }).catch(() => this.#kill());
    this.#process = undefined;
  }
}
