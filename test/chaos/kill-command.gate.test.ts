// Takes minutes, so it starts first.
// Over 200 lines, because it is one run: commands, kills, and the comparison of all answers with the log.
import { randomBytes, randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { gatewayKey } from '#edge/command-gateway/assertion.ts';
import { createHttpGateway } from '#edge/command-gateway/http-gateway.ts';
import type { UserId } from '#kernel/base/brands.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { openEventLog } from '#process/engines/open-event-log.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import {
  type CommandContext,
  type CommandGateway,
  type CommandResult,
  CommandUnavailable,
} from '#shared/command-gateway/command-gateway.ts';
import type { Command } from '#shared/commands/command.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import { parseMasterKey } from '#shared/keys/master-key.ts';
import { scaled } from '../../testing/load.ts';
import { createRandom } from '../../testing/random.ts';
import { SEED } from '../../testing/seed.ts';
import { until } from '../../testing/until.ts';
import { as, by, draftArticle, registerUser } from '../engines/command-side.ts';
import { createDatabase } from '../engines/database.ts';
import { startRole } from '../engines/role-process.ts';
import type { ArticleId } from '../publishing-ids.ts';

/** More by hand: CHAOS_ROUNDS=10. */
const ROUNDS = Number(process.env.CHAOS_ROUNDS ?? 2);
const COMMANDS = 2_000;
/**
 * The role is killed once at most this share of a round's commands is answered, or after a deadline on a busy
 * machine.
 */
const ANSWERED_MAX = 0.7;
/** The commands of a round run in parallel, so that on a busy machine the first answers come late. */
const PATIENCE_MS = 120_000;

type Sent = {
  readonly command: Command;
  readonly context: CommandContext;
  answer?: CommandResult;
  refused?: string;
};

test(
  `kill -9 of the command role during ${COMMANDS} concurrent commands, ${ROUNDS} times (TEST_SEED=${SEED})`,
  async () => {
    const random = createRandom(SEED);
    await using database = await createDatabase();
    const masterKey = randomBytes(32).toString('base64');
    const key = gatewayKey(parseMasterKey(masterKey));
    // No command is refused for overload.
    const settings = {
      DATABASE_URL: database.url,
      MASTER_KEY: masterKey,
      LOG_LEVEL: 'info',
      REQUESTS_MAX: String(2 * COMMANDS),
    };
    const start = async () => {
      const role = startRole('command/main.ts', settings);
      const { url } = await role.logged('Listening for commands of other roles.');
      return {
        role,
        gateway: createHttpGateway({
          clock: REAL_TIME,
          urls: [String(url)],
          key,
          issuer: 'test',
          timeoutMs: 60_000,
        }),
      };
    };
    const sent: Sent[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const { role, gateway } = await start();
      await using _ = role;
      const author = await registerUser(gateway);
      const articles = await Promise.all(Array.from({ length: 10 }, () => draftArticle(gateway, author)));
      const batch = Array.from({ length: COMMANDS }, () => someCommand(random, { author, articles }));
      // One article is deleted while others comment on it. The deletion has a key, so it must happen whenever
      // the role is killed.
      batch[Math.floor(random() * COMMANDS)] = deletion(author, articles[0] as ArticleId);
      sent.push(...batch);
      let ended = 0;
      const sending = Promise.all(batch.map((each) => send(gateway, each).finally(() => (ended += 1))));
      const target = random() * ANSWERED_MAX * COMMANDS;
      await until(
        () => ended,
        (count) => count >= target,
        PATIENCE_MS,
      );
      await role.kill('SIGKILL');
      await sending;
    }

    // A client without an answer but with a key retries until there is one.
    const { role, gateway } = await start();
    await using _ = role;
    const unanswered = sent.filter(
      ({ answer, refused, context }) => !answer && !refused && context.idempotencyKey,
    );
    await until(
      async () => {
        const open = unanswered.filter(({ answer, refused }) => !answer && !refused);
        await Promise.all(open.map((each) => send(gateway, each)));
        return open.length;
      },
      (left) => left === 0,
      PATIENCE_MS,
    );

    await using log = await openEventLog({ url: database.url, clock: REAL_TIME });
    const answered = sent.filter(({ answer }) => answer);
    const recorded = await readAll(log);
    expect(
      answered
        .filter((each) => !isExecutedOnce(each, recorded))
        .map(({ command, context }) => ({ command, context })),
    ).toEqual([]);
    expect([...recorded.times].filter(([, times]) => times > 1)).toEqual([]);
    await until(
      async () => leftBehind(await readAll(log)),
      (left) => left.length === 0,
    );
    console.log(
      `${sent.length} commands, ${answered.length} answered, ${unanswered.length} of them only after a restart, none lost, none twice; ` +
        `${recorded.deletedArticles.size} articles deleted, and every comment on them`,
    );
    // Half of them have a key, and no round runs to its end.
    expect(answered.length).toBeGreaterThan(sent.length / 3);
    expect(unanswered.length).toBeGreaterThan((sent.length * (1 - ANSWERED_MAX)) / 3);
    expect(recorded.deletedArticles.size).toBe(ROUNDS);
  },
  scaled(600_000),
);

type Writers = { readonly author: UserId; readonly articles: readonly ArticleId[] };

const someCommand = (random: () => number, { author, articles }: Writers): Sent => {
  const context = by(as(author), random() < 0.5 ? { idempotencyKey: randomUUID() } : {});
  const articleId = articles[Math.floor(random() * articles.length)] as ArticleId;
  const text = randomUUID();
  const kind = random();
  if (kind < 0.2) {
    const command = {
      type: 'RegisterUser',
      name: text,
      email: `${text}@example.com`,
      role: 'reader',
    } as const;
    return { command, context: { ...context, caller: { kind: 'system', name: 'test' } } };
  }
  if (kind < 0.5)
    return {
      command: { type: 'DraftArticle', title: text, body: text, tags: [], cover: null, publish: true },
      context,
    };
  if (kind < 0.9) return { command: { type: 'AddComment', articleId, text }, context };
  if (kind < 0.94)
    return {
      command: { type: 'UpdateUser', userId: author, email: `${text}@example.com` },
      context: { ...context, caller: { kind: 'system', name: 'test' } },
    };
  return { command: { type: 'EditArticle', articleId, title: text }, context };
};

const deletion = (author: UserId, articleId: ArticleId): Sent => ({
  command: { type: 'DeleteArticle', articleId },
  context: by(as(author), { idempotencyKey: randomUUID() }),
});

/** Records the answer, if one comes; a permanent refusal counts as one. */
const send = async (gateway: CommandGateway, each: Sent): Promise<void> => {
  try {
    each.answer = await gateway.send(each.command, each.context);
  } catch (error) {
    if (error instanceof Rejection && !PASSING.has(error.code)) each.refused = error.code;
    else if (!(error instanceof Rejection || error instanceof CommandUnavailable)) throw error;
  }
};

const PASSING: ReadonlySet<string> = new Set(['idempotency_key_in_use', 'conflict']);

/** The events of each type of command, once each. */
const LEAVES: Readonly<Record<string, readonly string[]>> = {
  RegisterUser: ['user.registered'],
  DraftArticle: ['article.drafted', 'article.published'],
  AddComment: ['comment.added'],
  UpdateUser: ['user.updated'],
  EditArticle: ['article.edited'],
};

type Recorded = {
  /** The number of events by request and type, without consequences of other events. */
  readonly times: ReadonlyMap<string, number>;
  readonly deletedArticles: ReadonlySet<unknown>;
  readonly articleOfComment: ReadonlyMap<string, unknown>;
  readonly deletedComments: ReadonlySet<string>;
};

const isExecutedOnce = ({ command, context }: Sent, { times }: Recorded): boolean =>
  (LEAVES[command.type] ?? []).every((type) => times.get(`${context.requestId} ${type}`) === 1);

const leftBehind = ({ deletedArticles, articleOfComment, deletedComments }: Recorded): readonly string[] =>
  [...articleOfComment]
    .filter(([stream, articleId]) => deletedArticles.has(articleId) && !deletedComments.has(stream))
    .map(([stream]) => stream);

const readAll = async (log: EventLog): Promise<Recorded> => {
  const head = await log.head();
  const times = new Map<string, number>();
  const deletedArticles = new Set<unknown>();
  const articleOfComment = new Map<string, unknown>();
  const deletedComments = new Set<string>();
  for await (const page of log.follow(START, new AbortController().signal)) {
    for (const { type, stream, data, metadata } of page) {
      if (type === 'article.deleted') deletedArticles.add(data.articleId);
      if (type === 'comment.added') articleOfComment.set(stream, data.articleId);
      if (type === 'comment.deleted') deletedComments.add(stream);
      if (metadata.$causationId !== null || type.startsWith('email.') || type.startsWith('command.'))
        continue;
      const key = `${metadata.request} ${type}`;
      times.set(key, (times.get(key) ?? 0) + 1);
    }
    if ((page.at(-1)?.position ?? 0) >= head) break;
  }
  return { times, deletedArticles, articleOfComment, deletedComments };
};
