import { randomUUID } from 'node:crypto';
import { wire } from '#kernel/base/names.ts';
import type { Domain, Kind, Row } from '#kernel/registry/registry.ts';
import { graphqlClientOf } from '../graphql/graphql-client.ts';
import { until } from '../until.ts';
import type { Checks } from './checks.ts';
import { mayAs, UnknownCondition } from './declared.ts';
import { askingAs, openSeenRows } from './seen-rows.ts';
import type { Situation } from './situations.ts';
import type { Actor, Made, Stage } from './stage.ts';

/** The names under which its checks are counted. */
const readersOf = ({ name }: Kind): string => `who has read ${name}`;
export const readLogsOf = ({ kinds }: Domain): readonly string[] =>
  Object.values(kinds).flatMap((kind) => (kind.reads === undefined ? [] : [readersOf(kind)]));

/** Each reader of an item whose reads are logged has an entry, which those with the right to its readers see. */
export const checkReadLog = async (stage: Stage, checks: Checks, situation: Situation): Promise<void> => {
  const { kind } = situation;
  if (kind.reads === undefined) return;
  const made = await stage.make(situation);
  const reading = { stage, checks: checks.of(readersOf(kind)), made };
  for (const actor of stage.actors) {
    await checkByRest(reading, actor);
    if (kind.reads.only === undefined) await checkByGraphql(reading, actor);
    await checkRight(reading, actor);
  }
  await stage.unmake(made);
};

type Reading = { readonly stage: Stage; readonly checks: Checks; readonly made: Made };

const checkByRest = async ({ stage, checks, made }: Reading, actor: Actor): Promise<void> => {
  const request = randomUUID();
  const { status, body } = await stage.session.read<Row>(made.path, {
    token: actor.token,
    headers: { 'x-request-id': request },
  });
  const isShown = status === 200 ? showsLogged(made.situation.kind, body) : false;
  if (isShown === undefined) return;
  const found = await entryOf(stage, made, { request, isWanted: isShown });
  checks.equal(
    found && [found.actor, found.via],
    isShown ? [actorOf(actor), 'rest'] : undefined,
    `the entry of ${actor.key} who reads ${made.situation.name}`,
  );
};

const checkByGraphql = async ({ stage, checks, made }: Reading, actor: Actor): Promise<void> => {
  const request = randomUUID();
  const { kind, name } = made.situation;
  const { data } = await graphqlClientOf(stage.installation)<{ readonly tried: unknown } | null>(
    `{ tried: ${kind.field}(id: "${made.id}") { id } }`,
    { token: actor.token, headers: { 'x-request-id': request } },
  );
  const isShown = (data?.tried ?? null) !== null;
  const found = await entryOf(stage, made, { request, isWanted: isShown });
  checks.equal(
    found && [found.actor, found.via],
    isShown ? [actorOf(actor), 'graphql'] : undefined,
    `the entry of ${actor.key} who reads ${name} by GraphQL`,
  );
};

const checkRight = async ({ stage, checks, made }: Reading, actor: Actor): Promise<void> => {
  if (actor.token === undefined) return;
  const { kind, name } = made.situation;
  const seenRows = openSeenRows(stage);
  const state = (await seenRows.look(kind, made.id)) ?? {};
  try {
    const wanted = mayAs(askingAs(stage, seenRows, actor), kind, 'readers', state) ? 200 : 404;
    const { status } = await stage.read(`${made.path}/readers`, actor);
    checks.equal(status, wanted, `the readers of ${name} for ${actor.key}`);
  } catch (error) {
    if (!(error instanceof UnknownCondition)) throw error;
  }
};

const actorOf = ({ userId }: Actor): string => (userId === null ? 'anonymous' : `user:${userId}`);

/** Undefined if it depends on why a field is null. */
const showsLogged = ({ reads, fields }: Kind, body: Row): boolean | undefined => {
  const { only } = reads ?? {};
  if (only === undefined) return true;
  const shown = only.flatMap((name) =>
    [name, wire(name, fields[name])].flatMap((key) => (key in body ? [body[key]] : [])),
  );
  if (shown.some((value) => value !== null)) return true;
  return shown.length === 0 ? false : undefined;
};

type Entry = { readonly request: string; readonly actor: string; readonly via: string };
type Wanted = { readonly request: string; readonly isWanted: boolean };

/** Some answers do not wait for their entry. */
const entryOf = async (
  { readAny }: Stage,
  { path }: Made,
  { request, isWanted }: Wanted,
): Promise<Entry | undefined> => {
  const look = async () => {
    const { body } = await readAny<readonly Entry[]>(`${path}/readers?limit=100`);
    return Array.isArray(body)
      ? (body as readonly Entry[]).find((each) => each.request === request)
      : undefined;
  };
  return isWanted ? until(look, (entry) => entry !== undefined).catch(look) : look();
};
