import { randomUUID } from 'node:crypto';
import type { CommandInfo, Row } from '#kernel/registry/registry.ts';
import { type Attempt, attemptsOn, freshBody } from './attempts.ts';
import type { Checks } from './checks.ts';
import { giverOf } from './seen-rows.ts';
import type { Situation } from './situations.ts';
import { type Actor, type Made, requestOf, type Stage } from './stage.ts';
import { isOfEndedTarget } from './written-parts.ts';

/**
 * Versions and idempotency keys: no request overwrites a newer version, and a repeated request takes effect
 * once.
 */
export const checkPreconditions = async (
  stage: Stage,
  checks: Checks,
  situation: Situation,
): Promise<void> => {
  await checkVersions(stage, checks, situation);
  await checkRepeated(stage, checks, situation);
  await checkAbsent(stage, checks, situation);
};

const stepsIn = async (stage: Stage, situation: Situation) => {
  const made = await stage.make(situation);
  const all = await attemptsOn(stage, made);
  return { made, attempts: all.filter(({ does }) => does !== 'create') };
};

type Asked = { readonly by: Actor; readonly headers: Readonly<Record<string, string>> };

const ask = async ({ ask: send }: Stage, { method, path, type, body }: Attempt, { by, headers }: Asked) => {
  const sent = await body();
  return send(method, path, {
    token: by.token,
    headers,
    ...(sent !== undefined && { body: sent }),
    ...(type && { type }),
  });
};

const codeOf = ({ body }: { readonly body: unknown }): unknown => (body as Row | undefined)?.code;

const checkVersions = async (stage: Stage, checks: Checks, situation: Situation): Promise<void> => {
  let { made, attempts } = await stepsIn(stage, situation);
  for (const [index] of attempts.entries()) {
    const attempt = attempts[index] as Attempt;
    const { kind } = situation;
    const by = await giverOf(stage, made, attempt.command.name);
    const { reply, reader } = await shownTo(stage, made, by);
    checks.equal(reply.status, 200, `${kind.name} is there`);
    const etag = reply.headers.get('etag') ?? '';
    const version = versionIn(etag);
    const again = await stage.session.read(made.path, {
      token: reader.token,
      headers: { 'if-none-match': etag },
    });
    checks.equal(again.status, 304, `${kind.name} as it is known already`);
    // Readers without all parts see no versions.
    if (version === undefined) continue;
    const stale = await ask(stage, attempt, { by, headers: { 'if-match': `"${Number(version) + 1}-"` } });
    // A general refusal comes before that of a stale version.
    if (stale.status === 409 || stale.status === 403 || isOfEndedTarget(attempt, stale)) continue;
    checks.equal(
      [stale.status, codeOf(stale)],
      [412, 'version_mismatch'],
      `${attempt.name} of another version of ${situation.name}`,
    );
    const not = await ask(stage, attempt, { by, headers: { 'if-none-match': etag } });
    // A random item key may be in use.
    if (not.status === 409) continue;
    checks.equal(not.status, 412, `${attempt.name} of any version of ${situation.name} but this`);
    const fresh = await ask(stage, attempt, { by, headers: { 'if-match': etag } });
    if (fresh.status === 409) continue;
    checks.equal(
      fresh.status < 300,
      true,
      `${attempt.name} of the version of ${situation.name}: ${JSON.stringify(fresh.body)}`,
    );
    ({ made, attempts } = await stepsIn(stage, situation));
  }
};

const versionIn = (etag: string | null): string | undefined => /^"(\d+)-/.exec(etag ?? '')?.[1];

/** As a reader sees it who sees its version, the sender if possible. */
const shownTo = async (stage: Stage, { path }: Made, by: Actor) => {
  const [first, ...others] = [by, stage.admin, ...stage.actors];
  const shown = { reply: await stage.read(path, first), reader: first };
  for (const reader of others) {
    if (versionIn(shown.reply.headers.get('etag')) !== undefined) break;
    const reply = await stage.read(path, reader);
    if (reply.status === 200) Object.assign(shown, { reply, reader });
  }
  return shown;
};

const checkRepeated = async (
  stage: Stage,
  checks: Checks,
  { kind, steps, state, name }: Situation,
): Promise<void> => {
  const creation = steps[0]?.command as CommandInfo;
  if (kind.parent !== undefined || state === undefined) return;
  const [method, path] = requestOf(stage.domain, kind, creation, {});
  const by = stage.actors.find(({ key }) => key === steps[0]?.actor) ?? stage.admin;
  const body = await freshBody(stage, kind, creation, { by });
  const headers = { 'idempotency-key': randomUUID() };
  const send = (sent: unknown) => stage.ask(method, path, { token: by.token, body: sent, headers });
  const [first, second] = [await send(body), await send(body)];
  checks.equal(first.status, 201, `${creation.name} with a key: ${JSON.stringify(first.body)}`);
  checks.equal(
    [second.status, second.body],
    [first.status, first.body],
    `${creation.name} of ${name} once more with its key`,
  );
  const other = await send(await freshBody(stage, kind, creation, { by }));
  const isOther = JSON.stringify(await freshBody(stage, kind, creation, { by })) !== JSON.stringify(body);
  if (isOther)
    checks.equal(
      [other.status, codeOf(other)],
      [422, 'idempotency_key_reused'],
      `another ${creation.name} with the same key`,
    );
};

const ABSENT = ['999999999', 'no-id', '0'];

/** Every request for an unknown id. */
const checkAbsent = async (stage: Stage, checks: Checks, { kind }: Situation): Promise<void> => {
  const { token } = stage.admin;
  for (const id of ABSENT) {
    const read = await stage.ask('GET', `/${kind.path}/${id}`, { token });
    checks.equal(read.status, 404, `${kind.name} ${id}`);
    for (const command of Object.values(kind.commands)) {
      if (command.internal || command.kind === 'create' || command.list !== undefined) continue;
      const [method, path] = requestOf(stage.domain, kind, command, { [`${kind.name}Id`]: id });
      const body = await freshBody(stage, kind, command, { by: stage.admin });
      const reply = await stage.ask(method, path, { token, ...(body && { body }) });
      checks.equal(reply.status, 404, `${command.name} of ${kind.name} ${id}`);
    }
  }
  const wrong = await stage.ask('PURGE', `/${kind.path}/1`, { token });
  checks.equal(
    [wrong.status, wrong.headers.get('allow')?.includes('GET')],
    [405, true],
    `an unknown method on ${kind.name}`,
  );
};
