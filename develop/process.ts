import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Report, Request } from './protocol.ts';

const LOAD_MAX_MS = 60_000;

type Starting = {
  readonly program: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Lines for the user, after the start. */
  readonly onNote: (line: string) => void;
};

type Reported<Says extends Report['says']> = Extract<Report, { says: Says }>;
type Ended = { readonly says: 'ended'; readonly code: number | NodeJS.Signals };

/** A process with all code but the domain. */
export class DevelopedProcess {
  readonly ready: Promise<Reported<'ready'> | Ended>;
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcess;

  constructor({ program, environment, onNote }: Starting) {
    this.#child = fork(program, [], {
      env: { ...environment },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child.on('error', () => {});
    this.#child.on('message', (message: Report) => {
      if (message.says === 'note') onNote(message.line);
    });
    this.ended = once(this.#child, 'exit').then(([code, signal]) => ({
      says: 'ended',
      code: code ?? signal,
    }));
    this.ready = this.#until('ready');
  }

  /** A declaration that does not end would keep all later ones from being loaded. */
  async load(): Promise<Reported<'accepted' | 'refused'> | Ended> {
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), LOAD_MAX_MS);
    const answer = await this.#ask({ does: 'load' }, 'accepted', 'refused');
    clearTimeout(timer);
    return answer;
  }

  /** Opens all roles, beside a process that still serves. */
  open(isFirst: boolean): Promise<Reported<'opened'> | Ended> {
    return this.#ask({ does: 'serve', isFirst }, 'opened');
  }

  /** Takes the ports. */
  listen(): Promise<Reported<'serving'> | Ended> {
    return this.#ask({ does: 'listen' }, 'serving');
  }

  /** In order, or by force once that has taken too long. */
  async stop(withinMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, withinMs);
    this.#child.kill('SIGTERM');
    await Promise.race([this.ended, promise]);
    clearTimeout(timer);
    this.#child.kill('SIGKILL');
    await this.ended;
  }

  #ask<Says extends Report['says']>(
    request: Request,
    ...wanted: readonly Says[]
  ): Promise<Reported<Says> | Ended> {
    const answer = this.#until(...wanted);
    if (this.#child.connected) this.#child.send(request, () => {});
    return answer;
  }

  async #until<Says extends Report['says']>(...wanted: readonly Says[]): Promise<Reported<Says> | Ended> {
    const { promise, resolve } = Promise.withResolvers<Reported<Says>>();
    const onMessage = (message: Report): void => {
      if ((wanted as readonly string[]).includes(message.says)) resolve(message as Reported<Says>);
    };
    this.#child.on('message', onMessage);
    const answer = await Promise.race([promise, this.ended]);
    this.#child.off('message', onMessage);
    return answer;
  }
}
