import { kebab, wire } from '#kernel/base/names.ts';
import type { CommandInfo, Kind, Row } from '#kernel/registry/registry.ts';
import { freshBody } from './attempts.ts';
import { type Before, beforeCommand } from './before.ts';
import type { Checks } from './checks.ts';
import { edgesOf } from './edges.ts';
import { fieldsOfForm } from './forms.ts';
import { requestFor, typeFor } from './rest-forms.ts';
import { giverOf, isWholeToAdministrators, stateOf, wholeOf } from './seen-rows.ts';
import { type Situation, statesIn } from './situations.ts';
import type { Made, Stage } from './stage.ts';

/** The name under which its checks are counted. */
const limitsOfField = (kind: Kind, { list }: Pick<CommandInfo, 'list'>, name: string): string =>
  `the limits of ${[kind.name, ...(list === undefined ? [] : [list.name]), name].join('.')}`;

/** The fields of forms that have limits. */
export const limitedFields = (kind: Kind): readonly string[] => [
  ...new Set(
    Object.values(kind.commands).flatMap((command) =>
      command.internal
        ? []
        : fieldsOfForm(kind, command).flatMap(([name, def]) =>
            edgesOf(def, 0).taken.length > 0 ? [limitsOfField(kind, command, name)] : [],
          ),
    ),
  ),
];

/** Every command that writes a field accepts values at the edge of its limit, and they are stored as sent. */
export const checkLimits = async (stage: Stage, checks: Checks, situation: Situation): Promise<void> => {
  const { kind, steps } = situation;
  for (const command of Object.values(kind.commands)) {
    if (
      command.internal ||
      fieldsOfForm(kind, command).every(([, def]) => edgesOf(def, 0).taken.length === 0)
    )
      continue;
    const creator = stage.actors.find(({ key }) => key === steps[0]?.actor) ?? stage.admin;
    const [found] =
      command.kind === 'create' ? [{ situation, by: creator }] : beforeCommand(stage, kind, command);
    const sending = { stage, checks, kind, command };
    if (found !== undefined) await checkCommand({ ...sending, before: found });
    else await checkSomewhere(sending, situation);
  }
};

/** The search keeps no path with a command that leads to no new state, and only some states may allow it. */
const checkSomewhere = async (sending: Omit<Sending, 'before'>, first: Situation): Promise<void> => {
  const { stage, kind, command } = sending;
  const others = stage.found.situations.filter((each) => each.kind === kind && each.later.length === 0);
  const byState = new Map([...others, first].map((situation) => [statesIn(situation), situation]));
  for (const situation of new Set([first, ...byState.values()])) {
    const made = await stage.make(situation);
    const by = await giverOf(stage, made, command.name);
    await stage.unmake(made);
    if (await checkCommand({ ...sending, before: { situation, by } })) return;
  }
};

type Sending = {
  readonly stage: Stage;
  readonly checks: Checks;
  readonly kind: Kind;
  readonly command: CommandInfo;
  readonly before: Before;
};

/** Returns whether any of them was carried out. */
const checkCommand = async (sending: Sending): Promise<boolean> => {
  const { stage, kind, command, before } = sending;
  let isDone = false;
  // One parent serves all of its children.
  let made: Made | undefined;
  for (const [name, def] of fieldsOfForm(kind, command))
    for (const value of edgesOf(def, stage.serial()).taken) {
      if (command.kind === 'create' || command.kind === 'edit') made ??= await stage.make(before.situation);
      else made = await stage.make(before.situation);
      if (await checkTaken(sending, made, { name, key: wire(name, def), value })) isDone = true;
      if (made !== undefined && command.kind !== 'create' && command.kind !== 'edit')
        await stage.unmake(made);
    }
  if (made !== undefined) await stage.unmake(made);
  return isDone;
};

type Value = { readonly name: string; readonly key: string; readonly value: unknown };

const checkTaken = async (
  { stage, checks, kind, command, before: { by } }: Sending,
  made: Made,
  { name, key, value }: Value,
): Promise<boolean> => {
  const request = await requestFor(stage, made, command);
  if (request === undefined) return false;
  const [method, path] = request;
  const whole = (await freshBody(stage, kind, command, { by })) ?? {};
  const reply = await stage.ask(method, path, {
    token: by.token,
    body: { ...whole, [key]: value },
    ...typeFor(command),
  });
  const { errors = [] } = reply.body as { readonly errors?: readonly { readonly pointer?: string }[] };
  const isRefused =
    reply.status === 422 &&
    errors.some(({ pointer = '' }) => pointer === `/${key}` || pointer.startsWith(`/${key}/`));
  const what = `${command.name} of ${kind.name} with ${key} ${JSON.stringify(value).slice(0, 40)}`;
  checks.equal({ isRefused, body: reply.body }, { isRefused: false, body: reply.body }, what);
  if (reply.status >= 300) return false;
  const headers = { 'consistency-token': reply.headers.get('consistency-token') ?? '' };
  const self = command.kind === 'create' ? `/${kind.path}/${String((reply.body as Row).id)}` : made.path;
  const { list } = command;
  await stage.session.read(self, { token: by.token, headers });
  // An actor who may write it may be unable to read it.
  const isThereIn = (states: readonly Row[]): boolean =>
    states.some((state) => JSON.stringify(state[name]) === JSON.stringify(value)) || name === list?.key;
  const states = await statesAt(stage, { kind, list, self });
  const isHidden =
    states.length === 0 || (states.every((state) => state[name] === null) && !isWholeToAdministrators(kind));
  if (isHidden) return true;
  const { version } = reply.body as { readonly version: number };
  const isThere =
    isThereIn(states) ||
    ((await isFollowed(stage, self, version))
      ? isThereIn(await statesAt(stage, { kind, list, self }, `?at=v${version}`))
      : false);
  checks.of(limitsOfField(kind, command, name)).equal(isThere, true, `${what} is there`);
  return true;
};

/** The aggregate, or the items of one of its lists, as those see it who may read most. */
const statesAt = async (
  stage: Stage,
  { kind, list, self }: Pick<CommandInfo, 'list'> & { readonly kind: Kind; readonly self: string },
  at = '',
): Promise<readonly Row[]> => {
  if (list === undefined) {
    const shown = await wholeOf(stage, kind, Number(self.split('/').at(-1)), at);
    return shown === undefined ? [] : [stateOf(kind, shown)];
  }
  const path = `${self}/${kebab(list.name)}${at === '' ? '?' : `${at}&`}limit=100`;
  const { body } = await stage.readAny<readonly Row[]>(path);
  return (Array.isArray(body) ? body : []).map((item) => stateOf({ ...kind, fields: list.fields }, item));
};

/** A timer at a value in the past acts at once, and so does a reaction: both may change the value again. */
const isFollowed = async (stage: Stage, self: string, version: number): Promise<boolean> =>
  (await stage.readAny(`${self}?at=v${version + 1}`)).status === 200;
