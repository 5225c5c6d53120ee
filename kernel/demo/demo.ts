import type { Random } from './random.ts';

/**
 * What a domain brings for `annals demo`, in its folder `demo/`, which may do I/O. The same seed and count
 * plan the same.
 */
export type Demo = (seed: number, count: number) => PlannedDemo;

/** Loaded where it is asked for alone. */
export type LoadDemo = () => Promise<{ readonly demo: Demo }>;

export type PlannedDemo = {
  /** How many days the story lasts. It ends at the last midnight (UTC). */
  readonly days: number;
  /** The first is the administrator who can sign in. Scenes name people by their place in this list. */
  readonly people: readonly [DemoPerson, ...DemoPerson[]];
  /** In any order: each happens at its time. */
  readonly scenes: readonly Scene[];
  readonly webhooks: readonly DemoWebhook[];
  /** They are registered in this order after everything else: if the last one is there, the whole demo is. */
  readonly clients: readonly [DemoClient, ...DemoClient[]];
  /** What was made, in lines for people. */
  readonly summary: readonly string[];
  /** What to look at first, once the scenes have been played. */
  lookAt(): { readonly path: string; readonly says: string };
  /** One thing that somebody does while the demo goes on. */
  act(acting: Acting): Promise<void>;
};

export type DemoPerson = {
  readonly name: string;
  readonly email: string;
  readonly role: string;
  /** When they get their account. */
  readonly joins: StoryTime;
};

/** Minutes since the story began, or what happens on the day on which the demo is made. */
export type StoryTime = number | 'today';

export type Scene = { readonly at: StoryTime; play(stage: Stage): Promise<void> };

/** The running command side, at the time of the scene. */
export type Stage = {
  /** Sends a command as a person, with the rights that the person has at that time. */
  send(by: number, command: DemoCommand, through?: Through): Promise<Made>;
  /** Keeps a picture (PNG) for an item, and returns its path. */
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
  /** One that was moved is led to an address where nobody listens. */
  readonly receiver: 'well' | 'moved';
  readonly registered: number;
};

/** As `POST /clients` takes it; its id is prefixed with that of the demo. */
type DemoClient = { readonly clientId: string } & Readonly<Record<string, unknown>>;

export type Acting = Pick<Stage, 'send'> & {
  readonly random: Random;
  /** Those who are still there, by their places. */
  readonly people: readonly { readonly place: number; readonly id: number; readonly role: string }[];
  /** What everybody can read, as JSON. */
  read(path: string): Promise<unknown>;
};
