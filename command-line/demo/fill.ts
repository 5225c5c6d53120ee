import { randomBytes } from 'node:crypto';
import type { UserId } from '#kernel/base/brands.ts';
import { followingOf } from '#kernel/decide/reactions.ts';
import type { DemoWebhook, PlannedDemo, Scene, StoryTime } from '#kernel/demo/demo.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { DemoAccess } from '#process/first-minute-file.ts';
import { clientSettingsOf } from '#shared/clients/settings.ts';
import { createCredentials } from '../../auth/accounts/credentials.ts';
import { migrateAccounts } from '../../auth/persons/person-table.ts';
import { byOperator, openClients } from '../installation/client-store.ts';
import type { CommandSide } from '../installation/command-side.ts';
import type { Terminal } from '../terminal.ts';
import { type Cast, clientIdOf, createStage, type DemoStage } from './stage.ts';
import { createStoryClock, nextTimerBefore, type StoryClock, untilFollowed } from './story-clock.ts';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** The clock stands still until the story begins, so that the start of the server takes no story time. */
export const clockOf = ({ days }: PlannedDemo): StoryClock => createStoryClock(beginsAtMs(days));

/** The story ends at the last midnight, so that none of it is in the future. */
const beginsAtMs = (days: number): number => Math.floor(Date.now() / DAY_MS) * DAY_MS - days * DAY_MS;

type Filling = {
  readonly side: CommandSide;
  readonly clock: StoryClock;
  readonly terminal: Terminal;
  readonly seed: number;
  readonly planned: PlannedDemo;
  /** The address of the receiver of its webhooks; undefined if webhooks must not lead to this machine. */
  readonly receiverUrl: string | undefined;
};

/** Plays the scenes in the order of their times, and returns how the administrator signs in. */
export const fill = async ({
  side,
  clock,
  terminal,
  seed,
  planned,
  receiverUrl,
}: Filling): Promise<DemoAccess['administrator']> => {
  const cast: Cast = new Map();
  const stage = createStage({ ...side, seed, cast });
  const scenes = [
    ...scenesOfPeople(planned, stage),
    ...planned.scenes,
    ...(serves(side.domain, 'webhooks') ? scenesOfWebhooks(planned.webhooks, receiverUrl) : []),
  ];
  const played = { ...side, clock, terminal, hasTimers: followingOf(side.domain) !== undefined };
  await play(played, timedScenes(scenes, beginsAtMs(planned.days)), stage);
  clock.release();
  const password = await givePassword(side, stage);
  await makeClients(side, seed, planned);
  const { name, email } = planned.people[0];
  return { id: stage.idOf(0), name, email, password };
};

const scenesOfPeople = ({ people }: PlannedDemo, { register }: DemoStage): readonly Scene[] =>
  people.map((person, place) => ({ at: person.joins, play: () => register(place, person) }));

type Timed = { readonly atMs: number; readonly scene: Scene };

/** Scenes with the same time keep their order. */
const timedScenes = (scenes: readonly Scene[], beginMs: number): readonly Timed[] => {
  const timeOf = (at: StoryTime): number =>
    at === 'today' ? Number.POSITIVE_INFINITY : beginMs + at * MINUTE_MS;
  return scenes
    .map((scene) => ({ atMs: timeOf(scene.at), scene }))
    .toSorted((one, other) => Math.sign(one.atMs - other.atMs) || 0);
};

type Playing = Pick<CommandSide, 'pool' | 'eventLog' | 'domain'> & {
  readonly clock: StoryClock;
  readonly terminal: Terminal;
  /** Whether an event may start a timer. */
  readonly hasTimers: boolean;
};

const play = async (playing: Playing, scenes: readonly Timed[], stage: DemoStage): Promise<void> => {
  const { clock, terminal, hasTimers } = playing;
  for (const [index, { atMs, scene }] of scenes.entries()) {
    terminal.signal.throwIfAborted();
    terminal.rewrite?.(`Creating the demo: ${index} of ${scenes.length}`);
    if (hasTimers) await runTimersUntil(playing, Math.min(atMs, Date.now()));
    clock.moveTo(Math.min(atMs, Date.now()));
    await scene.play(stage);
    if (scene.at === 'today') await untilFollowed(playing);
  }
  await untilFollowed(playing);
  terminal.rewrite?.('');
};

const runTimersUntil = async (playing: Playing, atMs: number): Promise<void> => {
  await untilFollowed(playing);
  for (
    let dueMs = await nextTimerBefore(playing, atMs);
    dueMs !== undefined;
    dueMs = await nextTimerBefore(playing, atMs)
  ) {
    playing.clock.moveTo(dueMs);
    await untilFollowed(playing);
  }
};

const PASSWORD_BYTES = 12;

const givePassword = async ({ pool, rowProofs }: CommandSide, { idOf }: DemoStage): Promise<string> => {
  await migrateAccounts(pool);
  const password = randomBytes(PASSWORD_BYTES).toString('base64url');
  await (await createCredentials({ pool, rowProofs })).set(idOf(0) as UserId, password);
  return password;
};

/** Registers clients, as third parties would. */
const makeClients = async (side: CommandSide, seed: number, { clients }: PlannedDemo): Promise<void> => {
  const store = await openClients(side);
  const { ClientSettings } = clientSettingsOf(side.domain);
  for (const { clientId, ...settings } of clients)
    await store.register(
      { clientId: clientIdOf(seed, clientId), settings: ClientSettings.parse(settings) },
      byOperator(),
    );
};

const ADMINISTRATOR = 0;
/** Nothing listens at the discard port (RFC 863). */
const MOVED_TO = 'http://127.0.0.1:9/hooks';
/** For installations whose webhooks must not lead to this machine: reserved names (RFC 2606). */
const ELSEWHERE = 'https://hooks.example';
const ELSEWHERE_MOVED = 'https://moved.hooks.example/hooks';
const MOVES_AFTER_MINUTES = 55;

/** Registers the webhooks; one of them is then moved to an address where nobody listens. */
const scenesOfWebhooks = (
  webhooks: readonly DemoWebhook[],
  receiverUrl: string | undefined,
): readonly Scene[] =>
  webhooks
    .filter(({ receiver }) => receiverUrl !== undefined || receiver === 'moved')
    .flatMap((webhook) => scenesOf(webhook, receiverUrl));

const scenesOf = (webhook: DemoWebhook, receiverUrl: string | undefined): readonly Scene[] => {
  const { path, receiver, registered, ...content } = webhook;
  let webhookId = 0;
  const registering: Scene = {
    at: registered,
    async play({ send }) {
      webhookId = (
        await send(ADMINISTRATOR, {
          type: 'RegisterWebhook',
          ...content,
          url: `${receiverUrl ?? ELSEWHERE}${path}`,
        })
      ).id;
    },
  };
  if (receiver !== 'moved') return [registering];
  const url = receiverUrl === undefined ? ELSEWHERE_MOVED : MOVED_TO;
  const moving: Scene = {
    at: registered + MOVES_AFTER_MINUTES,
    play: async ({ send }) => void (await send(ADMINISTRATOR, { type: 'EditWebhook', webhookId, url })),
  };
  return [registering, moving];
};
