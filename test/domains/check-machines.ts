import { operationsOf } from '#shared/rest/operations.ts';
import type { Checks } from '../../testing/describe-domain/checks.ts';
import type { Stage } from '../../testing/describe-domain/stage.ts';
import { operate } from '../../testing/installation.ts';
import { until } from '../../testing/until.ts';
import { signed } from './signed.ts';

type Answered = { readonly status: number; readonly body: Readonly<Record<string, unknown>> };

const send = async (stage: Stage, sender: string, sent: ReturnType<typeof signed>): Promise<Answered> => {
  const response = await fetch(`${stage.installation.url}/inbox/${sender}`, { method: 'POST', ...sent });
  return { status: response.status, body: (await response.json()) as Answered['body'] };
};

const ABSENT = 999_999;
/** The refusals that a mapping of a generated domain can lead to. */
const REFUSED = [403, 404, 409, 422];

/** Each message is carried out once, or refused in a sentence that operators find again. */
export const checkMessages = async (stage: Stage, checks: Checks): Promise<void> => {
  const { served, found, session, admin } = stage;
  for (const { name, on, acknowledgesRefusals } of served.senders ?? []) {
    const refused: string[] = [];
    for (const [type, { kind }] of Object.entries(on)) {
      const situations = found.situations.filter((situation) => situation.kind.name === kind).slice(0, 2);
      const items = await Promise.all(situations.map((situation) => stage.make(situation)));
      for (const id of [...items.map((item) => item.id), ABSENT]) {
        const message = `msg-${stage.serial()}`;
        const sent = () => send(stage, name, signed({ type, id }, message));
        const [first, again] = [await sent(), await sent()];
        const says = `${type} of ${name} about ${kind} ${id}: ${JSON.stringify(first)}`;
        const isFine = first.status === 200 || REFUSED.includes(first.status);
        checks.equal(isFine, true, says);
        if (first.body.outcome === 'done')
          checks.equal(again, { status: 200, body: { ...first.body, outcome: 'repeated' } }, says);
        else checks.equal(again.status, first.status, says);
        if (first.status !== 200 || first.body.outcome === 'refused') refused.push(message);
        if (first.body.outcome === 'refused') checks.equal(acknowledgesRefusals, true, says);
      }
    }
    const listed = async (): Promise<ReadonlySet<unknown>> => {
      const { body } = await session.read<readonly { messageId: string }[]>(
        `/operations/inbox?sender=${name}&limit=100`,
        { token: admin.token },
      );
      return new Set(body.map(({ messageId }) => messageId));
    };
    await until(listed, (ids) => refused.every((id) => ids.has(id)));
    const { body } = await session.read<readonly { actor: string }[]>(
      `/events?actor=system:inbox-${name}&limit=100`,
      { token: admin.token },
    );
    checks.equal(
      body.every(({ actor }) => actor === `system:inbox-${name}`),
      true,
      `the events of ${name} have it as their author`,
    );
  }
  for (const { operationId } of served.senders ?? [])
    checks.equal(Object.hasOwn(operationsOf(served), operationId), true, `${operationId} is an operation`);
};

type ListedSchedule = { readonly name: string; readonly state: string | null };

/** Each schedule runs when an operator says so, and its commands end: executed, or parked with a reason. */
export const checkSchedules = async (stage: Stage, checks: Checks): Promise<void> => {
  const { served, session, admin, installation } = stage;
  const names = Object.values(served.kinds).flatMap((kind) => Object.keys(kind.schedules));
  if (names.length === 0) return;
  const listed = async (): Promise<readonly ListedSchedule[]> =>
    (await session.read<readonly ListedSchedule[]>('/operations/schedules?limit=100', { token: admin.token }))
      .body;
  const before = await until(listed, (found) => found.length === names.length);
  checks.equal(before.map(({ name }) => name).toSorted(), names.toSorted(), 'the schedules that are listed');
  for (const name of names) await operate(['schedules', 'run', name], installation.settings, served);
  const states = async () => (await listed()).map(({ state }) => state);
  const ended = await until(states, (all) => all.every((state) => state !== null && state !== 'running'));
  checks.equal(ended.length, names.length, 'the runs that ended');
};
