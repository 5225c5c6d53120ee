// Over 200 lines, because it is one run: writers, kills, and the proof that no batch was skipped or repeated.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { gatewayKey } from '#edge/command-gateway/assertion.ts';
import { createHttpGateway } from '#edge/command-gateway/http-gateway.ts';
import type { UserId } from '#kernel/base/brands.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import {
  type CommandContext,
  type CommandGateway,
  CommandUnavailable,
} from '#shared/command-gateway/command-gateway.ts';
import type { Command } from '#shared/commands/command.ts';
import type { Pool } from '#shared/database/pool.ts';
import { parseMasterKey } from '#shared/keys/master-key.ts';
import { digestOf } from '#shared/projection/digest.ts';
import { scaled } from '../../testing/load.ts';
import { createRandom } from '../../testing/random.ts';
import { SEED } from '../../testing/seed.ts';
import { until } from '../../testing/until.ts';
import {
  allEvents,
  as,
  by,
  type CommandDatabase,
  type CommandSide,
  createCommandDatabase,
  system,
} from '../engines/command-side.ts';
import { replayed } from '../engines/projection.ts';
import { expectProven } from '../engines/proof.ts';
import { type RoleProcess, startRole } from '../engines/role-process.ts';
import type { ArticleId } from '../publishing-ids.ts';

const KILLS = 8;
const PROJECTORS = 2;
/** The number of commands in flight. */
const WRITERS = 8;
/** The maximum of events that the read model applies between two kills. */
const EVENTS_MAX = 300;

type Random = () => number;

test(
  `kill -9 of projectors and the command role under load, ${KILLS} times (TEST_SEED=${SEED})`,
  async () => {
    const random = createRandom(SEED);
    await using database = await createCommandDatabase();
    await using roles = await startRoles(database);
    await using side = await database.open();
    await recordMoves(side.pool);
    await using load = startLoad(random, roles.gateway);
    const killed = { projector: 0, command: 0 };
    for (let kill = 0; kill < KILLS; kill += 1) {
      const target = (await reached(side.pool, 'projector')) + 1 + random() * EVENTS_MAX;
      await until(
        () => reached(side.pool, 'projector'),
        (position) => position >= target,
        30_000,
      );
      const victim = random() < 0.7 ? 'projector' : 'command';
      killed[victim] += 1;
      await roles.kill(victim, Math.floor(random() * PROJECTORS));
    }
    const answered = await load.end();
    await untilSettled(side);

    const times = new Map<string, number>();
    for (const { type, metadata } of await allEvents(side)) {
      if (metadata.causation !== null) continue;
      const key = `${metadata.request} ${type}`;
      times.set(key, (times.get(key) ?? 0) + 1);
    }
    expect(
      answered.filter(({ command, requestId }) => times.get(`${requestId} ${LEAVES[command.type]}`) !== 1),
    ).toEqual([]);
    expect(await leaps(side.pool)).toEqual([]);
    const live = await digestOf(side.pool, 'read_model');
    expect(await replayed(side)).toEqual(live);
    expect(live.parked).toMatch(/^0 rows/);
    const { signed } = await expectProven({ database, side });
    const { projector, command } = killed;
    console.log(
      `${answered.length} commands answered; ${projector} kills of projectors, ${command} of the command role; ${live.articles?.split(' ')[0]} articles are left; heads cover ${signed} events`,
    );
  },
  scaled(120_000),
);

type Roles = AsyncDisposable & {
  readonly gateway: CommandGateway;
  kill(which: 'projector' | 'command', index: number): Promise<void>;
};

/** A command role and some projectors; what is killed is restarted. */
const startRoles = async (database: CommandDatabase): Promise<Roles> => {
  const settings: CommandDatabase['settings'] = {
    ...database.settings,
    AUDIT_HEAD_EVERY_MS: '100',
    AUDIT_WATCH_EVENTS_PER_SECOND: '2000',
  };
  const projectors = Array.from({ length: PROJECTORS }, () => startRole('projector/main.ts', settings));
  let command: RoleProcess;
  let gateway: CommandGateway;
  const startCommand = async () => {
    command = startRole('command/main.ts', settings);
    const { url } = await command.logged('Listening for commands of other roles.');
    const key = gatewayKey(parseMasterKey(settings.MASTER_KEY ?? ''));
    gateway = createHttpGateway({
      clock: REAL_TIME,
      urls: [String(url)],
      key,
      issuer: 'test',
      timeoutMs: 10_000,
    });
  };
  await startCommand();
  await Promise.all(projectors.map((role) => role.logged('Annals is ready.')));
  return {
    gateway: { send: (...args) => gateway.send(...args) },
    async kill(which, index) {
      if (which === 'command') {
        await command.kill('SIGKILL');
        return startCommand();
      }
      await projectors[index]?.kill('SIGKILL');
      projectors[index] = startRole('projector/main.ts', settings);
    },
    async [Symbol.asyncDispose]() {
      for (const role of [command, ...projectors]) await role[Symbol.asyncDispose]();
    },
  };
};

type Answered = { readonly command: Command; readonly requestId: string };

/** Writers that run until they are ended; records the acknowledged commands. */
const startLoad = (random: Random, gateway: CommandGateway) => {
  const ending = new AbortController();
  const answered: Answered[] = [];
  const send = async (command: Command, context: CommandContext): Promise<number | undefined> => {
    try {
      const { id } = await gateway.send(command, context);
      answered.push({ command, requestId: context.requestId });
      return id;
    } catch (error) {
      if (error instanceof CommandUnavailable) await delay(RETRY_MS);
      else if (!(error instanceof Rejection)) throw error;
      return undefined;
    }
  };
  const writing = Promise.all(
    Array.from({ length: WRITERS }, async () => {
      while (!ending.signal.aborted) await live(random, send);
    }),
  );
  const stop = async () => {
    ending.abort();
    await writing;
  };
  return {
    async end(): Promise<readonly Answered[]> {
      await stop();
      return answered;
    },
    [Symbol.asyncDispose]: stop,
  };
};

const RETRY_MS = 50;

type Send = (command: Command, context: CommandContext) => Promise<number | undefined>;

/** A user who registers, writes, edits and comments, and may be deleted, with or without their content. */
const live = async (random: Random, send: Send): Promise<void> => {
  const word = randomUUID();
  const userId = (await send(
    { type: 'RegisterUser', name: word, email: null, role: 'author' },
    by(system),
  )) as UserId | undefined;
  if (userId === undefined) return;
  const own = () => by(as(userId));
  const draft = {
    type: 'DraftArticle',
    title: word,
    body: word,
    tags: ['chaos'],
    cover: null,
    publish: true,
  } as const;
  const articleId = (await send(draft, own())) as ArticleId | undefined;
  if (articleId === undefined) return;
  await Promise.all(
    Array.from({ length: 3 }, () => send({ type: 'AddComment', articleId, text: word }, own())),
  );
  await send({ type: 'EditArticle', articleId, title: `${word} again` }, own());
  if (random() < 0.2) await send({ type: 'DeleteArticle', articleId }, own());
  if (random() < 0.2) await send({ type: 'DeleteUser', userId }, own());
};

/** The event of each type of command, once. */
const LEAVES: Readonly<Record<string, string>> = {
  RegisterUser: 'user.registered',
  DraftArticle: 'article.drafted',
  AddComment: 'comment.added',
  EditArticle: 'article.edited',
  DeleteArticle: 'article.deleted',
  DeleteUser: 'user.deleted',
};

const reached = async (pool: Pool, follower: string): Promise<number> => {
  const { rows } = await pool.query<{ position: number }>(
    'select position from public.follower_checkpoint where follower = $1',
    [follower],
  );
  return rows[0]?.position ?? 0;
};

/** Waits until the read model and all consequences have reached the end of the log. */
const untilSettled = ({ pool, eventLog }: CommandSide) =>
  until(
    async () =>
      [
        await reached(pool, 'projector'),
        await reached(pool, 'process-manager'),
        await eventLog.head(),
      ] as const,
    ([projector, processManager, head]) => projector === head && processManager === head,
    30_000,
  );

/** From now on, records every move of the projector's checkpoint with its transaction's data. */
const recordMoves = (pool: Pool) =>
  pool.query(`
    create table public.checkpoint_move (n bigint generated always as identity, came_from bigint, went_to bigint);
    create function public.record_move() returns trigger language plpgsql as $$
      begin insert into public.checkpoint_move (came_from, went_to) values (old.position, new.position); return null; end $$;
    create trigger record_move after update of position on public.follower_checkpoint
      for each row when (new.follower = 'projector') execute function public.record_move()`);

/** Finds batches that do not start exactly after the previous one: skipped or repeated events. */
const leaps = async (pool: Pool): Promise<readonly unknown[]> => {
  const { rows } = await pool.query(`
    select * from (select came_from, went_to, lag(went_to) over (order by n) as was_at from public.checkpoint_move) moves
    where went_to <= came_from or came_from <> was_at`);
  return rows;
};
