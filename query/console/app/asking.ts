import { createContext } from 'preact';
import { useCallback, useContext, useEffect, useState } from 'preact/hooks';
import type { Api } from './api.ts';
import { factsOf, type ProblemFacts } from './problem.ts';

const ApiContext = createContext<Api | undefined>(undefined);
export const ApiProvider = ApiContext.Provider;

export const useApi = (): Api => {
  const api = useContext(ApiContext);
  if (api === undefined) throw new Error('there is no session here');
  return api;
};

export type Asked<Body> = {
  readonly body: Body | undefined;
  /** Why it is not there, or why it is not fresh. */
  readonly problem: ProblemFacts | undefined;
  /** Of the body, for a change of it. */
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
 * What is at a path of the interface, asked again every so often while somebody looks. What was there stays
 * until there is more.
 */
export const useAsked = <Body>(path: string, everyMs?: number, accept?: string): Asked<Body> => {
  const api = useApi();
  const [state, setState] = useState<State<Body>>({ path });
  const [turn, setTurn] = useState(0);
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  // A turn is what asks again.
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

/** Not while nobody looks; and at once when somebody does again. */
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
  /** Asks again, as long as there is one page: nobody loses those that they have opened. */
  readonly refresh: () => void;
};

type PagesState<Item> = {
  readonly path: string;
  readonly items?: readonly Item[];
  readonly next?: string | undefined;
  readonly problem?: ProblemFacts;
};

/**
 * A list, a page after the other as somebody wants more; it is asked again only as long as there is one page.
 */
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
  // A turn is what asks again.
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
