import { createContext } from 'preact';
import { useCallback, useContext, useEffect, useState } from 'preact/hooks';
import type { Api } from './api.ts';
import { factsOf, type ProblemFacts } from './problem.ts';

const ApiContext = createContext<Api | undefined>(undefined);
export const ApiProvider = ApiContext.Provider;

export const useApi = (): Api => {
  const api = useContext(ApiContext);
  if (api === undefined) throw new Error('the component is outside of a session');
  return api;
};

export type Asked<Body> = {
  readonly body: Body | undefined;
  /** The reason why the body is missing or stale. */
  readonly problem: ProblemFacts | undefined;
  /** The entity tag of the body, for a change of it. */
  readonly etag?: string | undefined;
  readonly reload: () => void;
};

type State<Body> = {
  readonly path: string;
  readonly body?: Body;
  readonly etag?: string | undefined;
  readonly problem?: ProblemFacts;
};

/**
 * The resource at a path of the interface, refreshed at an interval while the tab is visible. The last body
 * stays until the next one arrives.
 */
export const useAsked = <Body>(path: string, everyMs?: number, accept?: string): Asked<Body> => {
  const api = useApi();
  const [state, setState] = useState<State<Body>>({ path });
  const [turn, setTurn] = useState(0);
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  // A new turn requests again.
  useEffect(() => {
    const leaving = new AbortController();
    api.get<Body>(path, leaving.signal, accept).then(
      ({ body, etag }) => leaving.signal.aborted || setState({ path, body, etag }),
      (error: unknown) =>
        leaving.signal.aborted ||
        setState((before) => ({ ...(before.path === path ? before : { path }), problem: factsOf(error) })),
    );
    return () => leaving.abort();
  }, [api, path, accept, turn]);
  useEvery(everyMs, reload);
  const { body, problem, etag } = state.path === path ? state : ({} as Partial<State<Body>>);
  return { body, problem, etag, reload };
};

/** Pauses while the tab is hidden, and acts at once when it becomes visible. */
export const useEvery = (everyMs: number | undefined, act: () => void): void => {
  useEffect(() => {
    if (everyMs === undefined) return undefined;
    const look = () => document.visibilityState === 'visible' && act();
    const timer = setInterval(look, everyMs);
    document.addEventListener('visibilitychange', look);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [everyMs, act]);
};

export type Pages<Item> = Asked<readonly Item[]> & {
  readonly more: (() => void) | undefined;
  /** Requests again if only one page is open, so that users keep the pages they have opened. */
  readonly refresh: () => void;
};

type PagesState<Item> = {
  readonly path: string;
  readonly items?: readonly Item[];
  readonly next?: string | undefined;
  readonly problem?: ProblemFacts;
};

/** A list of the interface, page by page on demand. It is refreshed only while one page is open. */
export const usePages = <Item>(path: string, everyMs?: number): Pages<Item> => {
  const api = useApi();
  const [state, setState] = useState<PagesState<Item>>({ path });
  const [turn, setTurn] = useState(0);
  const [pages, setPages] = useState(1);
  const failed = useCallback(
    (error: unknown) =>
      setState((before) => ({ ...(before.path === path ? before : { path }), problem: factsOf(error) })),
    [path],
  );
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  // A new turn requests again.
  useEffect(() => {
    const leaving = new AbortController();
    api.get<readonly Item[]>(path, leaving.signal).then(
      ({ body, next }) => {
        if (leaving.signal.aborted) return;
        setPages(1);
        setState({ path, items: body, next });
      },
      (error: unknown) => leaving.signal.aborted || failed(error),
    );
    return () => leaving.abort();
  }, [api, path, turn, failed]);
  useEvery(pages === 1 ? everyMs : undefined, reload);
  const isHere = state.path === path;
  const { next } = state;
  const more = () => {
    setPages((before) => before + 1);
    api
      .get<readonly Item[]>(next ?? '')
      .then(
        ({ body, next: following }) =>
          setState((before) =>
            before.path === path
              ? { path, items: [...(before.items ?? []), ...body], next: following }
              : before,
          ),
        failed,
      );
  };
  return {
    body: isHere ? state.items : undefined,
    problem: isHere ? state.problem : undefined,
    reload,
    refresh: () => pages === 1 && reload(),
    more: isHere && next !== undefined ? more : undefined,
  };
};
