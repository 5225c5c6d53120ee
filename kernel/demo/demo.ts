import type { Random } from './random.ts';

/** What a domain brings for `annals demo`, in its folder `demo/`, which may do I/O. The same seed and count plan the same. */
export type Demo = (seed: number, count: number) => PlannedDemo;

/** Loaded where it is asked for alone. */
export type LoadDemo = () => Promise<{ readonly demo: Demo }>;

export type PlannedDemo = {
  /** The first is the administrator who can sign in. */
  readonly people: readonly DemoPerson[];
  /** Each makes one of the first aggregate of the domain, with what belongs to it; several run at the same time. */
  readonly items: readonly ((making: Making) => Promise<void>)[];
  readonly webhooks: readonly DemoWebhook[];
  /** They are registered in this order after everything else: if the last one is there, the whole demo is. */
  readonly clients: readonly [DemoClient, ...DemoClient[]];
  /** What was made, in lines for people. */
  readonly summary: readonly string[];
  /** One thing that somebody reads or writes while the demo goes on. */
  act(acting: Acting): Promise<void>;
};

export type DemoPerson = {
  readonly name: string;
  readonly email: string;
  readonly role: string;
  /** What becomes of them when everything else is made. */
  readonly later?: { readonly name: string } | { readonly role: string } | 'deleted';
};

export type DemoWebhook = {
  readonly description: string;
  readonly path: string;
  readonly eventTypes: readonly string[];
  readonly payload: 'thin' | 'full';
  /** A flaky one fails at times and takes the retry; one that is gone answers 410. */
  readonly receiver: 'reliable' | 'flaky' | 'gone';
};

/** As `POST /clients` takes it; its id is prefixed with that of the demo. */
export type DemoClient = { readonly clientId: string } & Readonly<Record<string, unknown>>;

export type Making = {
  readonly send: Send;
  /** Prefix of idempotency keys, which no other item has: a run that was cut off is resumed by them. */
  readonly key: string;
  /** The ids of the people, in their order. */
  readonly people: readonly number[];
};

export type Acting = {
  readonly send: Send;
  readonly random: Random;
  /** Those of the demo who are still there. */
  readonly people: readonly { readonly id: number; readonly role?: string | undefined }[];
};

/** Returns the response if it is a success or of an expected status; otherwise the command ends with what was refused. */
export type Send = (method: string, path: string, request?: Sent) => Promise<Answer>;

export type Sent = {
  readonly body?: object;
  /** A picture, instead of a body. */
  readonly picture?: Buffer;
  /** Makes a POST safe to retry. */
  readonly key?: string;
  /** Changes this version alone. */
  readonly ifVersion?: number;
  /** Statuses of refusals that are as good as a success. */
  readonly expected?: readonly number[];
};

type Answer = {
  readonly status: number;
  readonly body: unknown;
  /** The next page of a list. */
  readonly next: string | undefined;
};

/** Statuses of a change that an earlier run has made: the version is another one by now, or the item is gone. */
export const DONE_BEFORE = [404, 412];
