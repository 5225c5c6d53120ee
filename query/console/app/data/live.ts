import { useEffect, useRef } from 'preact/hooks';
import { useApi } from '../asking.ts';
import { type Event, follow } from '../feed/follow.ts';

/** Whatever comes within it is one change. */
const GATHERED_MS = 400;

/** Calls back when something has happened that the query finds, and whenever something may have been missed. */
export const useChanges = (query: string | undefined, onChange: (event?: Event) => void): void => {
  const api = useApi();
  const latest = useRef(onChange);
  latest.current = onChange;
  useEffect(() => {
    if (query === undefined) return;
    const leaving = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let last: Event | undefined;
    let isLive = false;
    const tell = (event?: Event) => {
      last = event ?? last;
      timer ??= setTimeout(() => {
        timer = undefined;
        latest.current(last);
      }, GATHERED_MS);
    };
    const onState = (state: unknown) => {
      if (state === 'live' && !isLive) tell();
      isLive = state === 'live';
    };
    void follow(api, { path: `/events?${query}`, signal: leaving.signal, onEvent: tell, onState, startsLive: true });
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [api, query]);
};
