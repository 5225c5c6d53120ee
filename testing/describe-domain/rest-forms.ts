import { kebab, wire } from '#kernel/base/names.ts';
import type { CommandInfo, Kind, Row } from '#kernel/registry/registry.ts';
import { parentOf } from '#kernel/rest/operation.ts';
import { freshBody } from './attempts.ts';
import type { Checks } from './checks.ts';
import { fieldsOfForm } from './forms.ts';
import { giverOf, isWholeToAdministrators, stateOf, wholeOf } from './seen-rows.ts';
import type { Situation, Step } from './situations.ts';
import { type Actor, type Made, MERGE, requestOf, type Stage } from './stage.ts';
import { wrongValuesOf } from './values.ts';
import { checkWrittenItem } from './written-items.ts';

/**
 * Forms: a missing, mistyped, too long or unknown field is refused at that field, and a valid form is stored
 * as sent.
 */
export const checkForms = async (stage: Stage, checks: Checks, situation: Situation): Promise<void> => {
  const { kind, steps } = situation;
  const known = stage.found.situations.filter((each) => each.kind === kind).flatMap((each) => each.steps);
  const made = await stage.make(situation);
  for (const command of Object.values(kind.commands)) {
    if (command.internal) continue;
    const giver = giverIn(steps, command) ?? giverIn(known, command) ?? steps[0]?.actor;
    const by = stage.actors.find(({ key }) => key === giver) ?? stage.admin;
    await checkWrittenItem({ stage, checks, made, by }, command);
    const request = await requestFor(stage, made, command);
    if (request === undefined || fieldsOfForm(kind, command).length === 0) continue;
    await checkRefusals({ stage, checks, by, kind, command, request });
    if (command.kind === 'create') await checkRoundTrip({ stage, checks, by, kind, command, request });
  }
  if (Object.values(kind.commands).some((command) => command.kind === 'edit' && !command.internal))
    await checkReplacing(stage, checks, situation);
};

/** The actor who sends a command in the search. */
const giverIn = (steps: readonly Step[], command: CommandInfo): string | undefined =>
  steps.find((step) => step.command === command)?.actor;

type Request = readonly [method: string, path: string];
type Sending = {
  readonly stage: Stage;
  readonly checks: Checks;
  readonly by: Actor;
  readonly kind: Kind;
  readonly command: CommandInfo;
  readonly request: Request;
};

export const requestFor = async (
  { domain, readAny }: Stage,
  { situation: { kind, state }, path, id, ids }: Made,
  command: CommandInfo,
): Promise<Request | undefined> => {
  const { list } = command;
  const params: Record<string, unknown> = { [`${kind.name}Id`]: id };
  const above = command.kind === 'create' ? parentOf(domain, kind) : undefined;
  if (above !== undefined) params[`${above.name}Id`] = ids.get(Number(state.fields[kind.parent ?? '']));
  if (list !== undefined && command.kind !== 'addItem') {
    const { body } = await readAny<
      readonly { readonly _links: { readonly self: { readonly href: string } } }[]
    >(`${path}/${kebab(list.name)}`);
    const href = Array.isArray(body) ? body[0]?._links.self.href : undefined;
    if (href === undefined) return undefined;
    params[list.id.name] = decodeURIComponent(href.split('/').at(-1) ?? '');
  }
  return requestOf(domain, kind, command, params);
};

export const typeFor = (command: CommandInfo): { readonly type?: string } =>
  command.kind === 'edit' || command.kind === 'changeItem' ? { type: MERGE } : {};

const checkRefusals = async ({
  stage,
  checks,
  by,
  kind,
  command,
  request: [method, path],
}: Sending): Promise<void> => {
  const whole = (await freshBody(stage, kind, command, { by })) ?? {};
  const isPartial = command.kind === 'changeItem' || (command.kind === 'edit' && command.form.length > 1);
  const refused = async (body: unknown, pointer: string, what: string): Promise<void> => {
    const reply = await stage.ask(method, path, { token: by.token, body, ...typeFor(command) });
    const { errors = [] } = reply.body as { readonly errors?: readonly { readonly pointer: string }[] };
    const isThere = errors.some(
      (error) => error.pointer === pointer || error.pointer.startsWith(`${pointer}/`),
    );
    const wanted = { status: 422, isThere: true };
    checks.equal(
      { status: reply.status, isThere },
      wanted,
      `${command.name} of ${kind.name} with ${what}: ${JSON.stringify(reply.body)}`,
    );
  };
  for (const [name, def] of fieldsOfForm(kind, command)) {
    const key = wire(name, def);
    for (const wrong of wrongValuesOf(def, stage.serial())) {
      const shown = JSON.stringify(wrong).slice(0, 40);
      await refused({ ...whole, [key]: wrong }, `/${key}`, `${key} ${shown}`);
    }
    const isNeeded =
      !isPartial &&
      !def.optional &&
      (command.kind !== 'create' && command.kind !== 'addItem' ? true : def.initial === undefined);
    const { [key]: _, ...without } = whole;
    if (isNeeded) await refused(without, `/${key}`, `no ${key}`);
  }
  await refused({ ...whole, unheardOf: 1 }, '/unheardOf', 'an unknown field');
  const text = await stage.ask(method, path, { token: by.token, body: 'text', type: 'text/plain' });
  checks.equal(text.status, 415, `${command.name} of ${kind.name} as text`);
};

/** The form as it is read afterwards; sets are compared in the order in which they were sent. */
const checkRoundTrip = async ({
  stage,
  checks,
  by,
  kind,
  command,
  request: [method, path],
}: Sending): Promise<void> => {
  const body = (await freshBody(stage, kind, command, { by })) ?? {};
  const { written, headers } = await stage.session.write(method, path, { token: by.token, body });
  const self = `/${kind.path}/${written.id}`;
  checks.equal(
    new URL(headers.get('location') ?? '', stage.installation.url).pathname,
    self,
    `the location of a new ${kind.name}`,
  );
  const state = stateOf(kind, (await wholeOf(stage, kind, written.id)) ?? {});
  for (const [name, def] of fieldsOfForm(kind, command))
    if (state[name] !== null || isWholeToAdministrators(kind))
      checks.equal(state[name], body[wire(name, def)] ?? null, `${kind.name}.${name} as it was sent`);
  if (kind.owner !== undefined)
    checks.equal(state[kind.owner], by.userId, `the ${kind.owner} of ${kind.name}`);
};

/** PUT and both kinds of PATCH store exactly what they send. */
const checkReplacing = async (stage: Stage, checks: Checks, situation: Situation): Promise<void> => {
  const { kind } = situation;
  const made = await stage.make(situation);
  const { path } = made;
  const edit = Object.values(kind.commands).find(
    (command) => command.kind === 'edit' && !command.internal,
  ) as CommandInfo;
  const by = await giverOf(stage, made, edit.name);
  const { token } = by;
  const isGuarded = edit.when !== undefined || Object.keys(kind.invariants).length > 0;
  const put = (await freshBody(stage, kind, edit, { by })) ?? {};
  const replaced = await stage.ask('PUT', path, { token, body: put });
  // Conflicts with the present state are compared in the checks of links.
  if (isGuarded && replaced.status === 409) return;
  // Nobody may read all that it writes.
  if (replaced.status === 403 && !isWholeToAdministrators(kind)) return;
  checks.equal(replaced.status, 200, `PUT of ${kind.name}: ${JSON.stringify(replaced.body)}`);
  const read = async (after: Headers): Promise<Row> => {
    const { body } = await stage.session.read<Row>(path, {
      token,
      headers: { 'consistency-token': after.get('consistency-token') ?? '' },
    });
    return stateOf(
      kind,
      isWholeToAdministrators(kind) ? body : ((await wholeOf(stage, kind, made.id)) ?? {}),
    );
  };
  const isShown = (state: Row, name: string): boolean =>
    state[name] !== null || isWholeToAdministrators(kind);
  let state = await read(replaced.headers);
  for (const name of edit.form)
    if (isShown(state, name))
      checks.equal(
        state[name],
        put[wire(name, kind.fields[name])] ?? null,
        `${kind.name}.${name} as it was put`,
      );
  for (const [index, name] of edit.form.entries()) {
    const key = wire(name, kind.fields[name]);
    const value = (await freshBody(stage, kind, edit, { by }))?.[key] ?? null;
    const body = index % 2 === 0 ? { [key]: value } : [{ op: 'replace', path: `/${key}`, value }];
    const type = index % 2 === 0 ? MERGE : 'application/json-patch+json';
    const patched = await stage.ask('PATCH', path, { token, body, type });
    if (patched.status === 403 && !isWholeToAdministrators(kind)) return;
    checks.equal(patched.status, 200, `PATCH of ${kind.name}.${name}: ${JSON.stringify(patched.body)}`);
    const after = await read(patched.headers);
    const shown = edit.form.filter((each) => isShown(after, each) && (each === name || isShown(state, each)));
    const others = Object.fromEntries(shown.map((each) => [each, each === name ? value : state[each]]));
    checks.equal(
      Object.fromEntries(shown.map((each) => [each, after[each]])),
      others,
      `${kind.name} after PATCH of ${name}`,
    );
    state = after;
  }
};
