// Over 200 lines, because it is one matrix: who asks, who decides, and what has happened in between.
import { expect } from 'vitest';
import type { Command } from '#kernel/decide/decide.ts';
import { realTimeAhead } from '#shared/clock/real-time.ts';
import { policyOf, senderCaller } from '#shared/policy.ts';
import { allEvents, by, type CommandSide, registerUser, system } from '../../test/engines/command-side.ts';
import { callerIn } from '../../test/engines/policy.ts';
import { test as processes } from '../../test/engines/processes.ts';
import { letters } from '../../test/toy/letters.ts';
import { until } from '../../testing/until.ts';

const policy = policyOf(letters);
const BOT = 'web>bot';

type Person = { readonly userId: number; readonly role: string };

let aheadMs = 0;
/** A clock that the last test moves. */
const clock = realTimeAhead(() => aheadMs);

const test = processes
  .extend('sideOptions', { scope: 'file' }, { domain: letters, clock })
  .extend('desk', { scope: 'file' }, async ({ side }) => {
    const person = async (name: string, role: string): Promise<Person> => ({
      userId: await registerUser(side, { name, role: role as never }),
      role,
    });
    const [ada, head, other, admin] = [
      await person('Ada', 'writer'),
      await person('Head', 'clerk'),
      await person('Other', 'clerk'),
      await person('Admin', 'admin'),
    ];
    const send = async (
      command: Command,
      as: Person | undefined,
      { client = 'web', to = side, ...more }: More = {},
    ) =>
      to.send(
        command as never,
        by(as === undefined ? system : { ...callerIn(policy, as), client }, more as never),
      );
    const officeId = (await send({ type: 'OpenOffice', name: 'North', headId: head.userId }, undefined)).id;
    const letterOf = async (author: Person) =>
      (await send({ type: 'CreateLetter', officeId, text: 'Dear all' }, author)).id;
    /** The id of the request that an agent makes. */
    const ask = async (command: Command, as: Person, more: More = {}): Promise<number> => {
      const refusal = await send(command, as, { client: BOT, ...more }).then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(refusal).toMatchObject({ code: 'confirmation_required' });
      return (refusal as { readonly details: { readonly request: number } }).details.request;
    };
    const approve = (
      agentRequestId: number,
      as: Person,
      more: More & { readonly targetVersion?: number } = {},
    ) => {
      const { targetVersion, ...rest } = more;
      return send(
        {
          type: 'ApproveAgentRequest',
          agentRequestId,
          ...(targetVersion !== undefined && { targetVersion }),
        },
        as,
        rest,
      );
    };
    const decline = (agentRequestId: number, as: Person, more: More = {}) =>
      send({ type: 'DeclineAgentRequest', agentRequestId }, as, more);
    const dossierOf = async (author: Person) =>
      (await send({ type: 'OpenDossier', grade: 'A', salary: null }, author)).id;
    const revise = async (dossierId: Promise<number>, form: object) => ({
      ...form,
      type: 'ReviseDossier',
      dossierId: await dossierId,
    });
    return {
      ...{ person, ada, head, other, admin, officeId, dossierOf, revise },
      ...{ send, letterOf, ask, approve, decline },
    };
  });

type More = {
  readonly client?: string;
  readonly to?: CommandSide;
  readonly idempotencyKey?: string;
  readonly ifVersion?: number;
  readonly reason?: string;
};

const eventsOf = async (side: CommandSide, stream: string) =>
  (await allEvents(side)).filter((event) => event.stream === stream);
const dataOf = <Data>(event: { readonly data: unknown } | undefined): Data => event?.data as Data;
const typesOf = async (side: CommandSide, stream: string) =>
  (await eventsOf(side, stream)).map(({ type }) => type);

test('the call of an agent becomes a request, and nothing else happens', async ({ side, desk }) => {
  const { ada, letterOf, ask } = desk;
  const letterId = await letterOf(ada);
  const id = await ask({ type: 'EditLetter', letterId, text: 'Dear Bea' }, ada);
  expect(await typesOf(side, `letter-${letterId}`)).toEqual(['letter.written']);
  const [asked] = await eventsOf(side, `agentRequest-${id}`);
  expect(asked).toMatchObject({
    type: 'agentRequest.asked',
    metadata: { actor: `user:${ada.userId}`, client: BOT },
    data: {
      ...{ askedById: ada.userId, agent: BOT, command: 'EditLetter', letterId, targetVersion: 1 },
      target: `/letters/${letterId}`,
      input: JSON.stringify({ type: 'EditLetter', letterId, text: 'Dear Bea' }),
    },
  });
});

test('a client for which nobody vouches asks too, and decides nothing', async ({ side, desk }) => {
  const { ada, letterOf } = desk;
  const letterId = await letterOf(ada);
  const stranger = { ...callerIn(policy, ada), client: 'a-client', by: 'agent' } as const;
  const asked = side.send({ type: 'EditLetter', letterId, text: 'Dear Bea' } as never, by(stranger));
  const refusal = await asked.then(undefined, (error: unknown) => error);
  expect(refusal).toMatchObject({ code: 'confirmation_required' });
  const { request } = (refusal as { readonly details: { readonly request: number } }).details;
  const approval = { type: 'ApproveAgentRequest', agentRequestId: request };
  await expect(side.send(approval as never, by(stranger))).rejects.toMatchObject({ code: 'person_required' });
  expect(await typesOf(side, `letter-${letterId}`)).toEqual(['letter.written']);
});

test('a person approves it: both are in the log, in one append, and each names its author', async ({
  side,
  desk,
}) => {
  const { ada, head, letterOf, ask, approve } = desk;
  const letterId = await letterOf(ada);
  const id = await ask({ type: 'EditLetter', letterId, text: 'Dear Bea' }, ada);
  await approve(id, head);
  const approved = (await eventsOf(side, `agentRequest-${id}`)).at(-1);
  expect(approved).toMatchObject({
    type: 'agentRequest.approved',
    metadata: { actor: `user:${head.userId}`, client: 'web' },
    data: { result: `/letters/${letterId}` },
  });
  expect((await eventsOf(side, `letter-${letterId}`)).at(-1)).toMatchObject({
    type: 'letter.edited',
    metadata: { actor: `user:${ada.userId}`, client: BOT, causation: approved?.id },
    data: { text: 'Dear Bea' },
  });
});

test('a creation is approved by its user, who owns the item', async ({ side, desk }) => {
  const { ada, head, officeId, ask, approve } = desk;
  const id = await ask({ type: 'CreateLetter', officeId, text: 'New' }, ada);
  await expect(approve(id, head)).rejects.toMatchObject({
    code: expect.stringMatching(/forbidden|not_found/),
  });
  await approve(id, ada);
  const { result } = dataOf<{ result: string }>((await eventsOf(side, `agentRequest-${id}`)).at(-1));
  const created = (await eventsOf(side, `letter-${result.split('/').at(-1)}`))[0];
  expect(created).toMatchObject({ type: 'letter.written', data: { authorId: ada.userId, text: 'New' } });
});

test('neither agents, nor tokens, services, tools or people without the right decide', async ({
  side,
  desk,
}) => {
  const { ada, head, other, letterOf, ask, approve, decline } = desk;
  const letterId = await letterOf(ada);
  const id = await ask({ type: 'EditLetter', letterId, text: 'No' }, ada);
  for (const client of [BOT, 'web>other-bot', 'annals-token:t1', 'https://agent.example/annals.json'])
    for (const by of [ada, head])
      for (const decide of [approve, decline])
        await expect(decide(id, by, { client })).rejects.toMatchObject({ code: 'person_required' });
  for (const decide of [approve, decline])
    await expect(decide(id, other)).rejects.toMatchObject({ code: 'agent_request_not_found' });
  expect(await typesOf(side, `letter-${letterId}`)).toEqual(['letter.written']);
  expect(await typesOf(side, `agentRequest-${id}`)).toEqual(['agentRequest.asked']);
});

test('what is refused now is refused to the agent, and is no request', async ({ side, desk }) => {
  const { ada, head, letterOf, send } = desk;
  const letterId = await letterOf(ada);
  const before = (await allEvents(side)).length;
  const client = BOT;
  await expect(send({ type: 'SendLetter', letterId }, ada, { client })).rejects.toMatchObject({
    code: 'forbidden',
  });
  await expect(
    send({ type: 'EditLetter', letterId, text: 'x' }, ada, { client, ifVersion: 7 }),
  ).rejects.toMatchObject({ code: 'version_mismatch' });
  expect((await allEvents(side)).length).toBe(before);
  await send({ type: 'SendLetter', letterId }, head);
  await expect(send({ type: 'EditLetter', letterId, text: 'x' }, ada, { client })).rejects.toMatchObject({
    code: 'letter_not_draft',
  });
});

test('is decided once, also by two processes at the same time, and by a repeated approval', async ({
  side,
  other: process,
  desk,
}) => {
  const { ada, head, letterOf, ask, approve, decline } = desk;
  const letterId = await letterOf(ada);
  const id = await ask({ type: 'EditLetter', letterId, text: 'Once' }, ada);
  const all = await Promise.allSettled([
    ...[ada, head, ada, head].map((by, index) => approve(id, by, { to: index % 2 === 0 ? side : process })),
    decline(id, ada, { to: process }),
  ]);
  expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(await typesOf(side, `agentRequest-${id}`)).toHaveLength(2);
  await expect(approve(id, head)).rejects.toMatchObject({ code: 'agent_request_not_open' });
});

test('a key repeats a request, and an approval', async ({ side, desk }) => {
  const { ada, letterOf, ask, approve, send } = desk;
  const letterId = await letterOf(ada);
  const command = { type: 'EditLetter', letterId, text: 'Key' };
  const key = { idempotencyKey: 'one-key' };
  const [first, second] = [await ask(command, ada, key), await ask(command, ada, key)];
  expect(second).toBe(first);
  await expect(send({ ...command, text: 'Other' }, ada, { client: BOT, ...key })).rejects.toMatchObject({
    code: 'idempotency_key_reused',
  });
  const approval = { idempotencyKey: 'approval' };
  expect(await approve(first, ada, approval)).toEqual(await approve(first, ada, approval));
  expect(await typesOf(side, `letter-${letterId}`)).toEqual(['letter.written', 'letter.edited']);
});

test('after a change of the item, the person approves the present version by naming it', async ({
  side,
  desk,
}) => {
  const { ada, letterOf, ask, approve, send } = desk;
  const letterId = await letterOf(ada);
  const id = await ask({ type: 'EditLetter', letterId, text: 'Bot' }, ada);
  await send({ type: 'EditLetter', letterId, text: 'Ada' }, ada);
  await expect(approve(id, ada)).rejects.toMatchObject({ code: 'version_mismatch', details: { version: 2 } });
  await approve(id, ada, { targetVersion: 2 });
  expect((await eventsOf(side, `letter-${letterId}`)).at(-1)?.data).toMatchObject({ text: 'Bot' });
});

test('counts the rights of both at the time of the approval', async ({ desk }) => {
  const { person, head, officeId, ask, approve, send, admin } = desk;
  const clerk = await person('Clerk', 'clerk');
  const office = (await send({ type: 'OpenOffice', name: 'South', headId: clerk.userId }, undefined)).id;
  expect(office).not.toBe(officeId);
  const letterId = (
    await send({ type: 'CreateLetter', officeId: office, text: 'x' }, await person('W', 'writer'))
  ).id;
  const id = await ask({ type: 'SendLetter', letterId }, clerk);
  await expect(approve(id, head)).rejects.toMatchObject({ code: 'agent_request_not_found' });
  await send({ type: 'UpdateUser', userId: clerk.userId, role: 'writer' }, undefined);
  await expect(approve(id, admin)).rejects.toMatchObject({ code: 'asker_not_allowed' });
  await send({ type: 'UpdateUser', userId: clerk.userId, role: 'clerk' }, undefined);
  await approve(id, admin);
});

test('is refused at the approval as its command is, and stays open', async ({ desk }) => {
  const { ada, head, letterOf, ask, approve, decline, send } = desk;
  const letterId = await letterOf(ada);
  const id = await ask({ type: 'EditLetter', letterId, text: 'Late' }, ada);
  await send({ type: 'SendLetter', letterId }, head);
  await expect(approve(id, ada, { targetVersion: 2 })).rejects.toMatchObject({ code: 'letter_not_draft' });
  await decline(id, ada);
});

test('an agent has at most twenty open requests', async ({ desk }) => {
  const { person, letterOf, ask, decline, send } = desk;
  const writer = await person('Many', 'writer');
  const letterId = await letterOf(writer);
  const edit = (text: string) => ({ type: 'EditLetter', letterId, text });
  const ids: number[] = [];
  for (let count = 0; count < 20; count += 1) ids.push(await ask(edit(`Text ${count}`), writer));
  await expect(send(edit('One more'), writer, { client: BOT })).rejects.toMatchObject({
    code: 'agent_request_open_full',
  });
  await ask(edit('Of another'), writer, { client: 'web>other-bot' });
  await decline(ids[0] as number, writer);
  await ask(edit('One more'), writer);
});

test('the personal data of a request is erased with its person, and the request ends', async ({
  side,
  desk,
}) => {
  const { person, head, letterOf, ask, approve, send } = desk;
  const author = await person('Gone', 'writer');
  const letterId = await letterOf(author);
  const id = await ask({ type: 'EditLetter', letterId, text: 'About me' }, head);
  expect((await eventsOf(side, `agentRequest-${id}`))[0]?.data).toMatchObject({ personId: author.userId });
  await send({ type: 'DeleteUser', userId: author.userId }, undefined);
  await until(
    () => typesOf(side, `agentRequest-${id}`),
    (types) => (types.at(-1) as string) === 'agentRequest.ended',
  );
  const isErased = async () => {
    const [asked] = await eventsOf(side, `agentRequest-${id}`);
    return dataOf<{ input: unknown }>(asked).input;
  };
  await until(isErased, (input) => input === null);
  await expect(approve(id, head)).rejects.toMatchObject({ code: 'forbidden' });
});

test('the form of another command is no way around a person', async ({ side, desk }) => {
  const { head, send } = desk;
  const note = { type: 'NoteMemo', title: 'Sent at once', send: true };
  await expect(send(note, head, { client: BOT })).rejects.toMatchObject({
    code: 'invalid_command',
    details: { errors: [{ pointer: '/command/send' }] },
  });
  const id = (await send(note, head)).id;
  expect(await typesOf(side, `memo-${id}`)).toEqual(['memo.noted', 'memo.sent']);
});

test('a JSON patch waits as well', async ({ side, desk }) => {
  const { ada, letterOf, ask, approve } = desk;
  const letterId = await letterOf(ada);
  const patch = [{ op: 'replace', path: '/text', value: 'Patched' }];
  const id = await ask({ type: 'PatchLetter', letterId, patch }, ada);
  await approve(id, ada);
  expect(dataOf((await eventsOf(side, `letter-${letterId}`)).at(-1))).toMatchObject({ text: 'Patched' });
});

test('an approver needs the scope of the command', async ({ side, desk }) => {
  const { ada, head, letterOf, ask } = desk;
  const letterId = await letterOf(ada);
  const agentRequestId = await ask({ type: 'EditLetter', letterId, text: 'Scope' }, ada);
  const scopes = policy.scopes.filter((scope) => scope !== 'write:letters');
  await expect(
    side.send(
      { type: 'ApproveAgentRequest', agentRequestId } as never,
      by({ ...callerIn(policy, head, scopes), client: 'web' }),
    ),
  ).rejects.toMatchObject({ code: 'insufficient_scope' });
});

test('a request is hidden from those who may not read what it would write, administrators included', async ({
  desk,
}) => {
  const { ada, head, admin, ask, approve, dossierOf, revise } = desk;
  const id = await ask(await revise(dossierOf(ada), { salary: '4,000' }), ada, { reason: 'Promoted' });
  for (const by of [head, admin])
    await expect(approve(id, by)).rejects.toMatchObject({ code: 'agent_request_not_found' });
  await approve(id, ada);
});

test('the reason of the agent is asked for, shown to the person, and kept with the change', async ({
  side,
  desk,
}) => {
  const { ada, ask, approve, dossierOf, revise, send } = desk;
  const command = await revise(dossierOf(ada), { grade: 'B' });
  await expect(send(command, ada, { client: BOT })).rejects.toMatchObject({ code: 'reason_required' });
  const id = await ask(command, ada, { reason: 'Exam passed' });
  const [asked] = await eventsOf(side, `agentRequest-${id}`);
  expect(asked).toMatchObject({ data: { reason: 'Exam passed' }, metadata: { reason: 'Exam passed' } });
  await approve(id, ada);
  const stream = `dossier-${command.dossierId}`;
  expect((await eventsOf(side, stream)).at(-1)).toMatchObject({
    type: 'dossier.revised',
    metadata: { client: BOT, reason: 'Exam passed' },
  });
  const approved = (await eventsOf(side, `agentRequest-${id}`)).at(-1);
  expect(approved?.metadata.reason).toBeUndefined();
});

test('neither messages of services nor the system decide', async ({ desk, side }) => {
  const { ada, letterOf, ask } = desk;
  const letterId = await letterOf(ada);
  const agentRequestId = await ask({ type: 'EditLetter', letterId, text: 'Machine' }, ada);
  const sender = senderCaller(policy, { name: 'bank', role: 'admin' as never });
  for (const machine of [sender, system])
    for (const type of ['ApproveAgentRequest', 'DeclineAgentRequest'])
      await expect(side.send({ type, agentRequestId } as never, by(machine))).rejects.toMatchObject({
        code: 'person_required',
      });
});

test('a message of a service needs no reason', async ({ desk, side }) => {
  const { ada, dossierOf, revise } = desk;
  const command = await revise(dossierOf(ada), { grade: 'C' });
  await side.send(command as never, by(senderCaller(policy, { name: 'bank', role: 'clerk' as never })));
  expect((await eventsOf(side, `dossier-${command.dossierId}`)).at(-1)).toMatchObject({
    metadata: { actor: 'system:inbox-bank' },
  });
});

test('expires by itself', async ({ side, desk }) => {
  const { ada, letterOf, ask, approve } = desk;
  const letterId = await letterOf(ada);
  const id = await ask({ type: 'EditLetter', letterId, text: 'Too late' }, ada);
  aheadMs = 8 * 24 * 60 * 60 * 1_000;
  await expect(approve(id, ada)).rejects.toMatchObject({ code: 'agent_request_not_open' });
  await until(
    () => typesOf(side, `agentRequest-${id}`),
    (types) => (types.at(-1) as string) === 'agentRequest.expired',
  );
});
