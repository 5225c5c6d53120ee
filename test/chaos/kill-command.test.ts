import { randomBytes, randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { ArticleId, UserId } from '#shared/brands.ts';
import { gatewayKey } from '#shared/command-gateway/assertion.ts';
import {
  type CommandContext,
  type CommandGateway,
  type CommandResult,
  CommandUnavailable,
} from '#shared/command-gateway/command-gateway.ts';
import { createHttpGateway } from '#shared/command-gateway/http-gateway.ts';
import type { Command } from '#shared/commands/command.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import { openEventLog } from '#shared/event-log/open.ts';
import { parseMasterKey } from '#shared/keys/master-key.ts';
import { Rejection } from '#shared/rejection.ts';
import { as, by, draftArticle, registerUser } from '../engines/command-side.ts';
import { createDatabase } from '../engines/database.ts';
import { startRole } from '../engines/role-process.ts';
import { until } from '../engines/until.ts';
import { createRandom } from './random.ts';

const SEED = Number(process.env.CHAOS_SEED ?? Math.floor(Math.random() * 2 ** 31));
const ROUNDS = 10;
const COMMANDS = 2_000;
/** The role is killed once this share of a round's commands, at most, is answered. */
const ANSWERED_MAX = 0.9;

type Sent = { readonly command: Command; readonly context: CommandContext; answer?: CommandResult };

test(`kill -9 of the command role during ${COMMANDS} concurrent commands, ${ROUNDS} times (CHAOS_SEED=${SEED})`, async () => {
  const random = createRandom(SEED);
  await using database = await createDatabase();
  const masterKey = randomBytes(32).toString('base64');
  const key = gatewayKey(parseMasterKey(masterKey));
  const settings = { DATABASE_URL: database.url, MASTER_KEY: masterKey, LOG_LEVEL: 'info' };
  const start = async () => {
    const role = startRole('command/main.ts', settings);
    const { url } = await role.logged('Commands of the other roles are taken.');
    return { role, gateway: createHttpGateway({ url: String(url), key, issuer: 'test', timeoutMs: 60_000 }) };
  };
  const sent: Sent[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const { role, gateway } = await start();
    await using _ = role;
    const author = await registerUser(gateway);
    const articles = await Promise.all(Array.from({ length: 10 }, () => draftArticle(gateway, author)));
    const batch = Array.from({ length: COMMANDS }, () => someCommand(random, { author, articles }));
    sent.push(...batch);
    const sending = Promise.all(batch.map((each) => send(gateway, each)));
    const target = random() * ANSWERED_MAX * COMMANDS;
    await until(
      () => batch.filter(({ answer }) => answer).length,
      (answers) => answers >= target,
      30_000,
    );
    await role.kill('SIGKILL');
    await sending;
  }

  // Whoever had no answer and a key asks again, until there is one.
  const { role, gateway } = await start();
  await using _ = role;
  const unanswered = sent.filter(({ answer, context }) => !answer && context.idempotencyKey);
  await until(
    async () => {
      await Promise.all(unanswered.filter(({ answer }) => !answer).map((each) => send(gateway, each)));
      return unanswered.filter(({ answer }) => !answer).length;
    },
    (left) => left === 0,
    60_000,
  );

  await using log = await openEventLog({ url: database.url });
  const carriedOut = await timesCarriedOut(log);
  const answered = sent.filter(({ answer }) => answer);
  const wrong = answered.filter(({ context }) => carriedOut.get(context.requestId) !== 1);
  expect(wrong.map(({ command, context }) => ({ type: command.type, times: carriedOut.get(context.requestId) ?? 0 }))).toEqual([]);
  expect([...carriedOut.values()].every((times) => times === 1)).toBe(true);
  console.log(
    `${sent.length} commands, ${answered.length} answered, ${unanswered.length} of them only after a restart, none lost, none twice`,
  );
  expect(answered.length).toBeGreaterThan(COMMANDS);
  expect(unanswered.length).toBeGreaterThan(COMMANDS);
}, 170_000);

const someCommand = (random: () => number, { author, articles }: { author: UserId; articles: readonly ArticleId[] }): Sent => {
  const context = by(as(author), random() < 0.5 ? { idempotencyKey: randomUUID() } : {});
  const articleId = articles[Math.floor(random() * articles.length)] as ArticleId;
  const text = randomUUID();
  const kind = random();
  if (kind < 0.2) {
    const command = { type: 'RegisterUser', name: text, email: `${text}@example.com`, role: 'reader' } as const;
    return { command, context: { ...context, caller: { kind: 'system', name: 'test' } } };
  }
  if (kind < 0.6) return { command: { type: 'DraftArticle', title: text, body: text, tags: [], cover: null, publish: true }, context };
  if (kind < 0.9) return { command: { type: 'AddComment', articleId, text }, context };
  return { command: { type: 'EditArticle', articleId, title: text }, context };
};

/** Keeps the answer, if one comes; a refusal may only be that of the moment. */
const send = async (gateway: CommandGateway, each: Sent): Promise<void> => {
  try {
    each.answer = await gateway.send(each.command, each.context);
  } catch (error) {
    const isPassing = error instanceof Rejection && (error.code === 'idempotency_key_in_use' || error.code === 'conflict');
    if (!isPassing && !(error instanceof CommandUnavailable)) throw error;
  }
};

/** How often each request has made its change: every type of command begins its change with one of these. */
const timesCarriedOut = async (log: EventLog): Promise<ReadonlyMap<string, number>> => {
  const changes = new Set(['user.registered', 'article.drafted', 'comment.added', 'article.edited']);
  const head = await log.head();
  const times = new Map<string, number>();
  for await (const page of log.follow(START, new AbortController().signal)) {
    for (const { type, metadata } of page) {
      const request = String(metadata.request);
      if (changes.has(type)) times.set(request, (times.get(request) ?? 0) + 1);
    }
    if ((page.at(-1)?.position ?? 0) >= head) break;
  }
  return times;
};
