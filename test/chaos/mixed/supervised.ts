import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { startDeadline } from '../../../testing/load.ts';
import { type RoleProcess, startRole } from '../../engines/role-process.ts';
import type { ProcessEnd } from './history.ts';

export const ROLES = ['command', 'query', 'auth', 'projector', 'webhook-dispatcher'] as const;
export type Role = (typeof ROLES)[number];

/** A replica of a role that is restarted whenever it ends, as an operator's supervisor does. */
export type Supervised = AsyncDisposable & {
  readonly role: Role;
  readonly name: string;
  /** Ends it; after SIGTERM it is expected to exit with 0. It is restarted. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  pause(): void;
  resume(): void;
  ready(): Promise<void>;
  /** In bytes; undefined while it does not run. */
  memory(): Promise<number | undefined>;
  readonly ends: readonly ProcessEnd[];
  /** Its output, across all restarts. */
  printed(): string;
};

type Options = {
  readonly role: Role;
  readonly copy: number;
  readonly settings: Readonly<Record<string, string>>;
};

const READY = 'Annals is ready.';
const AGAIN_MS = 250;
const STARTS_IN_A_ROW_MAX = 100;
/** The last lines of its output in a finding. */
const LINES_MAX = 12;

export const supervise = ({ role, copy, settings }: Options): Supervised => {
  const ends: ProcessEnd[] = [];
  const former: string[] = [];
  const name = `${role} ${copy}`;
  const leaving = new AbortController();
  let [asked, isReady]: ['SIGKILL' | 'SIGTERM' | undefined, boolean] = [undefined, false];
  let process: RoleProcess;
  const note = (code: number | string | null): void => {
    const isExpected = asked === 'SIGKILL' ? code === 'SIGKILL' : asked === 'SIGTERM' && code === 0;
    const said = isExpected ? '' : process.printed().split('\n').slice(-LINES_MAX).join('\n');
    ends.push({ name, atMs: Date.now(), code: String(code), isExpected, isDuringStart: !isReady, said });
  };
  const begin = (): void => {
    [asked, isReady] = [undefined, false];
    process = startRole(`${role}/main.ts`, settings);
    process.logged(READY).then(
      () => {
        isReady = true;
      },
      () => {},
    );
  };
  const live = async (): Promise<void> => {
    for (;;) {
      const code = await process.ended;
      if (leaving.signal.aborted) return;
      note(code);
      former.push(process.printed());
      await delay(AGAIN_MS, undefined, { signal: leaving.signal }).catch(() => {});
      if (leaving.signal.aborted) return;
      begin();
    }
  };
  begin();
  const living = live();
  return {
    role,
    name,
    async end(signal) {
      asked = signal;
      const ending = process;
      await ending.kill(signal);
      await startedAfter(() => process, ending);
    },
    pause: () => process.signal('SIGSTOP'),
    resume: () => process.signal('SIGCONT'),
    ready: async () => {
      for (let starts = 1; !isReady; starts += 1) {
        const starting = process;
        const failure = await starting.logged(READY).then(
          () => undefined,
          (error: Error) => error,
        );
        if (failure === undefined || starts === STARTS_IN_A_ROW_MAX || leaving.signal.aborted) break;
        await startedAfter(() => process, starting);
      }
    },
    memory: () => residentBytes(process.pid),
    ends,
    printed: () => [...former, process.printed()].join('\n'),
    async [Symbol.asyncDispose]() {
      leaving.abort();
      await process[Symbol.asyncDispose]();
      await living;
    },
  };
};

const STARTED_WITHIN_MS = 10_000;
const LOOK_MS = 20;

const startedAfter = async (present: () => RoleProcess, former: RoleProcess): Promise<void> => {
  const deadline = startDeadline(STARTED_WITHIN_MS);
  while (present() === former && !deadline.isOver()) await delay(LOOK_MS);
};

const residentBytes = async (pid: number | undefined): Promise<number | undefined> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const found = /^VmRSS:\s+(\d+) kB$/m.exec(status);
  return found ? Number(found[1]) * 1_024 : undefined;
};
