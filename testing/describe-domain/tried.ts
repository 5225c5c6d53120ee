import { wire } from '#kernel/base/names.ts';
import type { Row } from '#kernel/registry/registry.ts';
import type { Attempt } from './attempts.ts';
import { stateOf } from './seen-rows.ts';
import { type Actor, type Made, type Stage, versionAfter } from './stage.ts';
import { isOfEndedTarget, isUnnamed } from './written-parts.ts';

/** The result of an attempt. */
type Tried = {
  readonly isDone: boolean;
  readonly isChanged: boolean;
  readonly status: number;
  readonly code: unknown;
  readonly sent: Row;
  readonly isUnnamed: boolean;
  readonly isOfEndedTarget: boolean;
};
export const tried = async (
  stage: Stage,
  made: Made,
  { actor, attempt }: { readonly actor: Actor; readonly attempt: Attempt },
): Promise<Tried> => {
  const body = await attempt.body(actor);
  const { token } = actor;
  const asked = { token, ...(body !== undefined && { body }), ...(attempt.type && { type: attempt.type }) };
  const reply = await stage.ask(attempt.method, attempt.path, asked);
  const { status } = reply;
  const isDone = status < 300;
  const all = {
    ...{ isDone, status, sent: isForm(body) ? body : {}, isUnnamed: isUnnamed(attempt, reply) },
    isOfEndedTarget: isOfEndedTarget(attempt, reply),
    code: isDone ? undefined : (reply.body as Row | undefined)?.code,
  };
  if (!isDone) return { ...all, isChanged: false };
  if (attempt.does === 'create') return { ...all, isChanged: status === 201 };
  const version = await versionAfter(stage, made.path, reply);
  return { ...all, isChanged: version !== made.version };
};

/** Whether the form contains the present values: no other one may be possible for the sender. */
export const isPresent = async (
  stage: Stage,
  { on, kind, command }: Attempt,
  sent: Row,
): Promise<boolean> => {
  const fields = command.list?.fields ?? kind.fields;
  const { status, body } = await stage.readAny(on);
  if (status !== 200 || Object.keys(sent).length === 0) return false;
  const state = stateOf({ ...kind, fields }, body);
  const present = new Map(Object.entries(fields).map(([name, def]) => [wire(name, def), state[name]]));
  return Object.entries(sent).every(
    ([key, value]) => JSON.stringify(present.get(key)) === JSON.stringify(value),
  );
};

const isForm = (body: unknown): body is Row =>
  typeof body === 'object' && body !== null && !(body instanceof Uint8Array);
