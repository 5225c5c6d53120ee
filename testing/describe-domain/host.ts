import type { Installation, Settings } from '../installation.ts';

/** The parts of a test runner that the suite needs; `node:test` and vitest have them. */
export type Runner = {
  describe(name: string, body: () => void | Promise<void>): void;
  test(name: string, body: () => void | Promise<void>): void;
  beforeAll(work: () => Promise<void>): void;
  afterAll(work: () => Promise<void>): void;
};

/** The environment of the suite: the runner of its tests, and the means to serve a domain. */
export type Host = {
  readonly runner: Runner;
  /** An empty one, which is dropped at the end. */
  createDatabase(): Promise<AsyncDisposable & { readonly url: string }>;
  /** An empty one, which is removed at the end. */
  createFolder(): Promise<AsyncDisposable & { readonly path: string }>;
  /** All roles, on a database and a folder of their own. */
  start(settings: Settings): Promise<Installation>;
  /** The projector alone, with these settings. */
  startProjector(settings: Settings): Promise<AsyncDisposable>;
  /** Another replica of the query role, beside an installation that runs with these settings. */
  startQuery(settings: Settings): Promise<AsyncDisposable & { readonly url: string }>;
};
