import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Event } from '#shared/rest/events.ts';
import { useApi } from '../base/asking.ts';
import { factsOf, type ProblemFacts } from '../base/problem.ts';
import { follow } from '../feed/follow.ts';

const LIMIT = 50;
/** The number of events on the page. Beyond it, the oldest are dropped, and loaded again when scrolled to. */
const SHOWN_MAX = 1_000;

export type LogState = 'connecting' | 'live' | ProblemFacts;

type Shown = {
  readonly path: string;
  /** The latest first. */
  readonly events: readonly Event[];
  readonly older: string | undefined;
  /** The link to newer events, and whether there are some already. */
  readonly newer: { readonly path: string; readonly isThere: boolean } | undefined;
  /** The last event examined by a search that found too few. */
  readonly searchedTo: string | undefined;
};

export type EventLog = {
  readonly shown: Shown | undefined;
  readonly problem: ProblemFacts | undefined;
  readonly state: LogState | undefined;
  /** The number of events that arrived while the list was paused. */
  readonly held: number;
  readonly showHeld: () => void;
  readonly loadOlder: (() => void) | undefined;
  readonly loadNewer: (() => void) | undefined;
  readonly isLoading: boolean;
  readonly reload: () => void;
};

/** The log, the latest first, from a position or live from its end. */
export const useLog = (query: string, before: string | null, isHeld: boolean): EventLog => {
  const path = `/events?${new URLSearchParams({ sort: '-cursor', limit: String(LIMIT), ...(before && { before }) })}${query && `&${query}`}`;
  const [turn, setTurn] = useState(0);
  const pages = usePagesOf(path, turn);
  const { shown, change } = pages;
  const liveAfter =
    shown?.newer !== undefined && !shown.newer.isThere ? afterIn(shown.newer.path) : undefined;
  const live = useLive({ query, after: liveAfter, of: `${path} ${turn}`, isHeld, show: change });
  // Assumed from the beginning, so that nothing moves once it is known.
  const isLive = shown === undefined || liveAfter !== undefined;
  const state = isLive ? (live.state ?? 'connecting') : undefined;
  return { ...pages, ...live, state, reload: () => setTurn((count) => count + 1) };
};

type Change = (change: (shown: Shown) => Shown) => void;
type PagesOfLog = Pick<EventLog, 'shown' | 'problem' | 'loadOlder' | 'loadNewer' | 'isLoading'> & {
  readonly change: Change;
};

/** The events around a position, as far as loaded. A new turn loads again. */
const usePagesOf = (path: string, turn: number): PagesOfLog => {
  const api = useApi();
  const [shown, setShown] = useState<Shown>();
  const [problem, setProblem] = useState<ProblemFacts>();
  const [isLoading, setLoading] = useState(false);
  const change = useCallback<Change>((how) => setShown((before) => before && how(before)), []);
  const read = async (from: string, signal?: AbortSignal): Promise<Shown> => {
    const { body, next, newer, searchedTo } = await api.get<readonly Event[]>(from, signal);
    return { path, events: body, older: next, newer, searchedTo: searchedTo ?? undefined };
  };
  useEffect(() => {
    const leaving = new AbortController();
    setProblem(undefined);
    read(path, leaving.signal).then(
      (page) => leaving.signal.aborted || setShown(page),
      (error: unknown) => leaving.signal.aborted || setProblem(factsOf(error)),
    );
    return () => leaving.abort();
  }, [api, path, turn]);
  const here = shown?.path === path ? shown : undefined;
  const load = (
    from: string | undefined,
    put: (before: Shown, page: Shown) => Shown,
  ): (() => void) | undefined => {
    if (from === undefined) return undefined;
    return () => {
      if (isLoading) return;
      setLoading(true);
      read(from)
        .then(
          (page) => change((before) => (before.path === path ? put(before, page) : before)),
          (error: unknown) => setProblem(factsOf(error)),
        )
        .finally(() => setLoading(false));
    };
  };
  return {
    shown: here,
    problem,
    isLoading,
    change,
    loadOlder: load(here?.older, (before, { events, older, searchedTo }) => ({
      ...before,
      events: [...before.events, ...events],
      older,
      searchedTo,
    })),
    loadNewer: load(here?.newer?.isThere ? here.newer.path : undefined, (before, { events, newer }) => ({
      ...before,
      events: [...events, ...before.events],
      newer,
    })),
  };
};

type LiveOptions = {
  readonly query: string;
  /** Undefined while the newest events are not shown. */
  readonly after: string | undefined;
  /** Identifies the list; another one starts over. */
  readonly of: string;
  readonly isHeld: boolean;
  readonly show: Change;
};

/** Shows new events at once, or holds them back while the list is paused. */
const useLive = ({
  query,
  after,
  of,
  isHeld,
  show,
}: LiveOptions): Pick<EventLog, 'state' | 'held' | 'showHeld'> => {
  const api = useApi();
  const [state, setState] = useState<LogState>();
  const [held, setHeld] = useState<readonly Event[]>([]);
  const holding = useRef(isHeld);
  holding.current = isHeld;
  const isLive = after !== undefined;
  useEffect(() => {
    setHeld([]);
    setState(undefined);
    if (after === undefined) return;
    const leaving = new AbortController();
    const onEvent = (event: Event) => {
      if (holding.current) setHeld((before) => [event, ...before].slice(0, SHOWN_MAX));
      else show((shown) => withNewest(shown, [event]));
    };
    void follow(api, { path: `/events?${query}`, after, signal: leaving.signal, onEvent, onState: setState });
    return () => leaving.abort();
  }, [api, query, of, isLive, show]);
  const showHeld = useCallback(() => {
    show((shown) => withNewest(shown, held));
    setHeld([]);
  }, [held, show]);
  useEffect(() => {
    if (!isHeld && held.length > 0) showHeld();
  }, [isHeld, held, showHeld]);
  return { state, held: held.length, showHeld };
};

const afterIn = (path: string): string | undefined =>
  new URLSearchParams(path.split('?')[1]).get('after') ?? undefined;

const withNewest = (shown: Shown, newest: readonly Event[]): Shown => {
  const events = [...newest, ...shown.events];
  if (events.length <= SHOWN_MAX) return { ...shown, events };
  const kept = events.slice(0, SHOWN_MAX);
  const query = new URLSearchParams(shown.path.split('?')[1]);
  query.set('before', kept.at(-1)?.cursor ?? '');
  return { ...shown, events: kept, older: `/events?${query}` };
};
