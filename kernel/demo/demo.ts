import type { Random } from './random.ts';

/**
 * A domain’s data for `annals demo`, in its folder `demo/`, which may do I/O. The same seed and count give
 * the same plan.
 */
export type Demo = (seed: number, count: number) => PlannedDemo;

/** Loaded only by the command that needs it. */
export type LoadDemo = () => Promise<{ readonly demo: Demo }>;

export type PlannedDemo = {
  /** The length of the story in days. It ends at the last midnight (UTC). */
  readonly days: number;
  /** The first person is the administrator who can sign in. Scenes refer to people by index. */
  readonly people: readonly [DemoPerson, ...DemoPerson[]];
  /** In any order: each happens at its time. */
  readonly scenes: readonly Scene[];
  readonly webhooks: readonly DemoWebhook[];
  /** Registered in this order after everything else: if the last one exists, the demo is complete. */
  readonly clients: readonly [DemoClient, ...DemoClient[]];
  /** A readable summary of the created data, line by line. */
  readonly summary: readonly string[];
  /** The first page to look at after the scenes. */
  lookAt(): { readonly path: string; readonly says: string };
  /** One action of somebody while the demo runs. */
  act(acting: Acting): Promise<void>;
};

export type DemoPerson = {
  readonly name: string;
  readonly email: string;
  readonly role: string;
  /** The time at which they get their account. */
  readonly joins: StoryTime;
};

/** Minutes since the start of the story, or the day on which the demo is created. */
export type StoryTime = number | 'today';

export type Scene = { readonly at: StoryTime; play(stage: Stage): Promise<void> };

/** The running command side, at the time of the scene. */
export type Stage = {
  /** Sends a command as a person, with that person’s rights at the time. */
  send(by: number, command: DemoCommand, through?: Through): Promise<Made>;
  /** Stores a picture (PNG) for an item, and returns its path. */
  keep(id: number, picture: Buffer): Promise<string>;
  idOf(person: number): number;
};

export type DemoCommand = { readonly type: string } & Readonly<Record<string, unknown>>;

type Made = { readonly id: number; readonly version: number };

/** A client of the demo; otherwise the console. */
type Through = { readonly client?: string };

export type DemoWebhook = {
  readonly description: string;
  readonly path: string;
  readonly eventTypes: readonly string[];
  readonly payload: 'thin' | 'full';
  /** A receiver that `moved` has an address where nobody listens. */
  readonly receiver: 'well' | 'moved';
  readonly registered: number;
};

/** The form of `POST /clients`; the id gets the demo’s prefix. */
type DemoClient = { readonly clientId: string } & Readonly<Record<string, unknown>>;

export type Acting = Pick<Stage, 'send'> & {
  readonly random: Random;
  /** The people who still have an account, by index. */
  readonly people: readonly { readonly place: number; readonly id: number; readonly role: string }[];
  /** Reads public JSON. */
  read(path: string): Promise<unknown>;
};
