import type { Installation, Settings } from '../installation.ts';

/** What the suite needs of a runner of tests; Node's and vitest have it. */
export type Runner = {
  describe(name: string, body: () => void | Promise<void>): void;
  test(name: string, body: () => void | Promise<void>): void;
  beforeAll(work: () => Promise<void>): void;
  afterAll(work: () => Promise<void>): void;
};

/** What surrounds the suite: who runs its tests, and where a domain is served. */
export type Host = {
  readonly runner: Runner;
  /** An empty one, which is dropped at the end. */
  createDatabase(): Promise<AsyncDisposable & { readonly url: string }>;
  /** An empty one, which is removed at the end. */
  createFolder(): Promise<AsyncDisposable & { readonly path: string }>;
  /** All roles, on a database and a folder of their own. */
  start(settings: Settings): Promise<Installation>;
  /** The projector alone, where the settings say. */
  startProjector(settings: Settings): Promise<AsyncDisposable>;
  /** Another replica of the query role, beside an installation that runs with these settings. */
  startQuery(settings: Settings): Promise<AsyncDisposable & { readonly url: string }>;
};
