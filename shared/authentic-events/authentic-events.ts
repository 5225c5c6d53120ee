import { NotReady } from '#shared/not-ready.ts';
import type { AuthenticLog, KeptLog } from './authentic-log.ts';
import { Authenticity, type Dependencies } from './authenticity.ts';
import type { OpenedLog } from './opened-log.ts';

/** Opens the MACs of logs, as the events of each need them. */
export type AuthenticEvents = AsyncDisposable & {
  ofLog(opened: OpenedLog): Promise<AuthenticLog>;
  /** For `/readyz`: resolves unless this process has met an event that no command wrote, and that still is so. */
  check(): Promise<void>;
};

export const openAuthenticEvents = (dependencies: Dependencies): AuthenticEvents => {
  const ended = new AbortController();
  const looking: Promise<void>[] = [];
  const kept: KeptLog[] = [];
  return {
    async ofLog(opened) {
      const authenticity = new Authenticity(dependencies, opened);
      const log = await authenticity.open();
      kept.push(log);
      looking.push(authenticity.lookNowAndThen(log, ended.signal));
      return log;
    },
    async check() {
      const [first, ...others] = kept.flatMap(({ refused }) => refused);
      if (first)
        throw new NotReady(
          `The log has ${others.length === 0 ? 'an event' : `${others.length + 1} events`} that no command wrote, first version ${first.version} of ${first.stream} at position ${first.position}: docs/runbooks.md, “Events that no command wrote”.`,
        );
      if (kept.some(({ unnamed }) => unnamed !== undefined))
        throw new NotReady(
          'The log had more events that no command wrote than are kept, and is being read again: docs/runbooks.md, “Events that no command wrote”.',
        );
    },
    async [Symbol.asyncDispose]() {
      ended.abort();
      await Promise.all(looking);
    },
  };
};
