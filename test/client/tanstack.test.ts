// Over 200 lines, because everything is done on the one installation that is started here.
import { createCollection, createOptimisticAction } from '@tanstack/db';
import fc from 'fast-check';
import { expect, vi } from 'vitest';
import { createClient } from '../../client/client.ts';
import { expenses } from '../../examples/expenses/domain/domain.ts';
import { annalsCollection, annalsCommand } from '../../package/tanstack.ts';
import type { TokenHolder } from '../../testing/http/people.ts';
import { until } from '../../testing/until.ts';
import { openCuttable } from '../engines/cuttable.ts';
import { startInThisProcess } from '../engines/in-this-process.ts';
import { test as base } from '../engines/installation-fixture.ts';

/** Collections of TanStack DB against a whole installation, whose connections break, and which restarts. */
type ClaimsOptions = Partial<Parameters<typeof claimsOf>[0]>;

const clientAt = (url: string, { token }: TokenHolder) => createClient<typeof expenses>({ url, token });
type Client = ReturnType<typeof clientAt>;

const claimsOf = (options: {
  readonly client: Client;
  readonly query?: { readonly status?: 'draft' | 'submitted'; readonly sort?: '-submittedAt' };
  readonly limit?: number;
  readonly settleMs?: number;
}) =>
  createCollection(
    annalsCollection({
      list: options.client.claims,
      ...options,
      startSync: true,
      onInsert: ({ item, options: once }) =>
        options.client.claims.create({ teamId: item.team.id, purpose: String(item.purpose) }, once),
      onUpdate: async ({ unchanged, changes, options: once }) =>
        options.client.claims.edit(await unchanged(), { purpose: String(changes.purpose) }, once),
      onDelete: ({ original, options: once }) => options.client.claims.delete(original.id, once),
    }),
  );

const test = base
  .extend('installationOptions', { scope: 'file' }, { of: { domain: expenses } })
  .extend('network', { scope: 'file' }, async ({ installation }, { onCleanup }) => {
    const network = await openCuttable(installation.origin);
    onCleanup(() => network[Symbol.asyncDispose]());
    return network;
  })
  .extend('eve', { scope: 'file' }, ({ people }) => people.signUp('Eve'))
  .extend('administrator', { scope: 'file' }, ({ installation, people }) =>
    clientAt(installation.origin, people.administrator),
  )
  /** Writes past the network of the collections. */
  .extend('elsewhere', { scope: 'file' }, ({ eve, installation }) => clientAt(installation.origin, eve))
  .extend('team', { scope: 'file' }, async ({ administrator, eve }) => {
    const { id } = await administrator.teams.create({
      name: 'Field work',
      approverId: eve.userId,
      budget: 500_000,
    });
    return id;
  })
  .extend('client', ({ eve, network }) => clientAt(network.url, eve))
  .extend('open', ({ client, team: _there }, { onCleanup }) => {
    const open = new AsyncDisposableStack();
    onCleanup(() => open.disposeAsync());
    return async (options: ClaimsOptions = {}) => {
      const claims = claimsOf({ client, ...options });
      open.defer(() => claims.cleanup());
      await claims.preload();
      return claims;
    };
  })
  .extend('add', ({ elsewhere, team }) => async (purpose: string) => {
    const { id } = await elsewhere.claims.create({ teamId: team, purpose });
    return id;
  });

type Claims = Awaited<ReturnType<typeof claimsOf>>;
const purposeOf = (claims: Claims, id: number) => claims.get(id)?.purpose;
/** Without what TanStack DB adds. */
const plain = (row: object | undefined) =>
  row && Object.fromEntries(Object.entries(row).filter(([name]) => !name.startsWith('$')));
const byId = (one: { readonly id: number }, other: { readonly id: number }) => one.id - other.id;
const rowsIn = (claims: Claims) => claims.toArray.map((row) => plain(row) as typeof row).toSorted(byId);

test('a collection has the list, and follows what others write', async ({ add, elsewhere, open }) => {
  const id = await add('Before');
  const claims = await open();
  expect(claims.utils.connection()).toMatchObject({ state: 'live', isComplete: true });
  // Another client has written it: the list may be from before.
  await until(
    () => claims.has(id),
    (has) => has,
  );
  expect(plain(claims.get(id))).toEqual(await elsewhere.claims.get(id));
  const later = await add('Later');
  await until(
    () => purposeOf(claims, later),
    (purpose) => purpose === 'Later',
  );
  await elsewhere.claims.edit(id, { purpose: 'After' });
  await until(
    () => purposeOf(claims, id),
    (purpose) => purpose === 'After',
  );
  await elsewhere.claims.delete(later);
  await until(
    () => claims.has(later),
    (has) => !has,
  );
});

test('it follows names of other items, and what leaves its filter', async ({
  add,
  administrator,
  elsewhere,
  open,
  team,
}) => {
  const id = await add('Filtered');
  const drafts = await open({ query: { status: 'draft' } });
  expect(drafts.get(id)?.team.name).toBe('Field work');
  await administrator.teams.edit(team, { name: 'Outdoors' });
  await until(
    () => drafts.get(id)?.team.name,
    (name) => name === 'Outdoors',
  );
  await administrator.teams.edit(team, { name: 'Field work' });
  await elsewhere.claims.of(id).items.add({ spentOn: '2026-11-20', category: 'travel', amount: 7 });
  await until(
    () => drafts.get(id)?.total,
    (total) => total === 7,
  );
  await elsewhere.claims.submit(id);
  await until(
    () => drafts.has(id),
    (has) => !has,
  );
});

test('an optimistic change is shown until the written one is, and nothing in between', async ({
  add,
  open,
}) => {
  const id = await add('Old');
  const claims = await open();
  const shown: unknown[] = [];
  claims.subscribeChanges((changes) => {
    for (const { key, value } of changes) if (key === id) shown.push(value.purpose);
  });
  const transaction = claims.update(id, (claim) => {
    claim.purpose = 'New';
  });
  expect(purposeOf(claims, id)).toBe('New');
  await transaction.isPersisted.promise;
  expect(claims.get(id)).toMatchObject({ purpose: 'New', $synced: true });
  expect(new Set(shown)).toEqual(new Set(['New']));
});

test('an inserted draft becomes the written item in one step', async ({ open, team }) => {
  const claims = await open();
  const counts = new Set<number>();
  const before = claims.size;
  claims.subscribeChanges(() => {
    counts.add(claims.size - before);
  });
  const draft = claims.utils.draft({ purpose: 'Drafted', team: { id: team, name: 'Field work' } });
  const transaction = claims.insert(draft);
  expect(claims.get(draft.id)?.purpose).toBe('Drafted');
  await transaction.isPersisted.promise;
  expect(claims.has(draft.id)).toBe(false);
  const [made] = claims.toArray.filter(({ purpose }) => purpose === 'Drafted');
  expect(made?.id).toBeGreaterThan(0);
  expect(counts).toEqual(new Set([1]));
  await claims.delete(made?.id ?? 0).isPersisted.promise;
  expect(claims.size).toBe(before);
});

test('a refusal rolls back, with its code and its sentence', async ({ add, client, open }) => {
  const id = await add('Empty');
  const claims = await open();
  const submit = createOptimisticAction(
    annalsCommand({
      onMutate: (claim: number) =>
        void claims.update(claim, (draft) => {
          draft.status = 'submitted';
        }),
      command: (claim: number, options) => client.claims.submit(claim, undefined, options),
    }),
  );
  const transaction = submit(id);
  expect(claims.get(id)?.status).toBe('submitted');
  const refused = await transaction.isPersisted.promise.catch((error: unknown) => error);
  expect(client.isProblem(refused, 'claim_not_filled')).toBe(true);
  expect(String(refused)).toContain('The claim has no items.');
  expect(claims.get(id)).toMatchObject({ status: 'draft', $synced: true });
});

test('a change of what the user did not see is refused', async ({
  add,
  client,
  elsewhere,
  network,
  open,
}) => {
  const id = await add('Seen');
  const claims = await open();
  network.stall();
  await elsewhere.claims.edit(id, { purpose: 'Unseen' });
  const transaction = claims.update(id, (claim) => {
    claim.purpose = 'Mine';
  });
  network.mend();
  const refused = await transaction.isPersisted.promise.catch((error: unknown) => error);
  expect(client.isProblem(refused, 'version_mismatch')).toBe(true);
  await until(
    () => purposeOf(claims, id),
    (purpose) => purpose === 'Unseen',
  );
});

test('a command is executed once, although its answer is lost', async ({
  client,
  elsewhere,
  network,
  open,
  team,
}) => {
  const claims = await open();
  const create = createOptimisticAction(
    annalsCommand({
      onMutate: (purpose: string) =>
        void claims.insert(claims.utils.draft({ purpose, team: { id: team, name: '' } })),
      async command(purpose: string, options) {
        // The first attempt arrives, and its answer does not.
        await elsewhere.claims.create({ teamId: team, purpose }, options);
        network.cut();
        setTimeout(() => network.mend(), 50);
        return client.claims.create({ teamId: team, purpose }, options);
      },
    }),
  );
  await create('Once').isPersisted.promise;
  expect(claims.toArray.filter(({ purpose }) => purpose === 'Once')).toHaveLength(1);
});

test('a transaction whose effect does not arrive ends after its time', async ({
  add,
  elsewhere,
  network,
  open,
}) => {
  const id = await add('Slow');
  const claims = await open({ settleMs: 50 });
  network.strand();
  expect(await claims.utils.reached((await elsewhere.claims.edit(id, { purpose: 'Done' })).cursor)).toBe(
    false,
  );
  network.mend();
  network.cut();
  network.mend();
  await until(
    () => purposeOf(claims, id),
    (purpose) => purpose === 'Done',
  );
});

test('a longer list is incomplete, and says so', async ({ add, open }) => {
  const ids = [await add('1'), await add('2'), await add('3')];
  const claims = await open({ limit: 2 });
  expect(claims.utils.connection().isComplete).toBe(false);
  expect(rowsIn(claims).map(({ id }) => id)).toEqual(ids.slice(1));
});

test('a user without the right sees nothing, and the refusal', async ({ installation, people }) => {
  const service = await people.registerService('employee');
  const client = clientAt(installation.origin, await people.tokenOf(service, ['read:events']));
  const claims = claimsOf({ client });
  const failed = await claims.preload().catch((error: unknown) => error);
  expect(client.isProblem(failed, 'insufficient_scope')).toBe(true);
  expect(claims.utils.connection()).toMatchObject({ state: 'refused', error: failed });
  await claims.cleanup();
});

test('a view follows its stream, and has a write of which its rows show nothing', async ({
  add,
  administrator,
  elsewhere,
  team,
}) => {
  const spending = createCollection(
    annalsCollection({ client: administrator, list: administrator.spending, startSync: true }),
  );
  await using _spending = { [Symbol.asyncDispose]: () => spending.cleanup() };
  await spending.preload();
  const key = String(team);
  expect(plain(spending.get(key))).toEqual(await administrator.spending.find({ team }));
  const id = await add('Counted');
  await elsewhere.claims.of(id).items.add({ spentOn: '2026-11-20', category: 'travel', amount: 700 });
  await elsewhere.claims.submit(id);
  const { cursor } = await administrator.claims.approve(id);
  expect(await spending.utils.reached(cursor)).toBe(true);
  expect(plain(spending.get(key))).toEqual(await administrator.spending.find({ team }));
  const unrelated = await administrator.users.create({ name: 'Nobody' });
  expect(await spending.utils.reached(unrelated.cursor)).toBe(true);
  const { id: closed } = await administrator.teams.create({
    name: 'Closed soon',
    approverId: (await administrator.me()).id,
    budget: 5,
  });
  await until(
    () => spending.has(String(closed)),
    (has) => has,
  );
  await administrator.teams.delete(closed);
  await until(
    () => spending.has(String(closed)),
    (has) => !has,
  );
});

test('at the end it has the list, whatever happened in between', { timeout: 240_000 }, async ({
  add,
  elsewhere,
  installation,
  network,
  open,
}) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.oneof(
          { weight: 4, arbitrary: fc.record({ does: fc.constant('add' as const) }) },
          {
            weight: 6,
            arbitrary: fc.record({ does: fc.constantFrom('edit' as const, 'fill' as const), at: fc.nat() }),
          },
          {
            weight: 2,
            arbitrary: fc.record({
              does: fc.constantFrom('delete' as const, 'submit' as const),
              at: fc.nat(),
            }),
          },
          {
            weight: 3,
            arbitrary: fc.record({
              does: fc.constantFrom('cut' as const, 'mend' as const, 'optimistic' as const),
              at: fc.nat(),
            }),
          },
        ),
        { minLength: 5, maxLength: 25 },
      ),
      async (steps) => {
        const drafts = await open({ query: { status: 'draft' } });
        const seen = new Map<number, Set<unknown>>();
        const mine = new Set<unknown>();
        drafts.subscribeChanges(
          (changes) => {
            for (const { value, type } of changes)
              if (type !== 'delete' && !mine.has(value.purpose))
                seen.set(value.id, (seen.get(value.id) ?? new Set()).add(value.purpose));
          },
          { includeInitialState: false },
        );
        const had = new Map<number, Set<unknown>>();
        const note = (id: number, purpose: string) => had.set(id, (had.get(id) ?? new Set()).add(purpose));
        for (const { id, purpose } of drafts.toArray) note(id, String(purpose));
        const ids: number[] = [];
        let turn = 0;
        const pending: Promise<unknown>[] = [];
        for (const step of steps) {
          turn += 1;
          const purpose = `Turn ${turn}`;
          const id = 'at' in step ? ids[step.at % Math.max(1, ids.length)] : undefined;
          const write = async (): Promise<unknown> => {
            if (step.does === 'add') {
              const made = await add(purpose);
              note(made, purpose);
              return ids.push(made);
            }
            if (step.does === 'cut') return network.cut();
            if (step.does === 'mend') return network.mend();
            if (id === undefined) return undefined;
            if (step.does === 'delete') return elsewhere.claims.delete(id);
            if (step.does === 'submit') return elsewhere.claims.submit(id);
            if (step.does === 'fill')
              return elsewhere.claims
                .of(id)
                .items.add({ spentOn: '2026-11-20', category: 'meals', amount: 3 });
            if (step.does === 'edit') {
              note(id, purpose);
              return elsewhere.claims.edit(id, { purpose });
            }
            if (!drafts.has(id)) return undefined;
            mine.add(purpose);
            const { isPersisted } = drafts.update(id, (claim) => {
              claim.purpose = purpose;
            });
            return pending.push(isPersisted.promise.catch(() => {}));
          };
          // Some are refused: the claim has no items, or was deleted.
          await write().catch(() => {});
        }
        network.mend();
        await Promise.all(pending);
        const listed = async () =>
          (await elsewhere.claims.list({ status: 'draft' }).take(500)).toSorted(byId);
        await vi.waitFor(async () => expect(rowsIn(drafts)).toEqual(await listed()), {
          timeout: 60_000,
          interval: 50,
        });
        for (const [id, purposes] of seen)
          for (const purpose of purposes) expect([...(had.get(id) ?? [])]).toContain(purpose);
        await drafts.cleanup();
      },
    ),
    { numRuns: 4, endOnFailure: true },
  );
  expect(installation.origin).toMatch(/^http/);
});

test('it continues after a restart of the server', { timeout: 240_000 }, async ({
  add,
  elsewhere,
  installation,
  open,
}) => {
  const id = await add('Before the restart');
  const claims = await open();
  await installation.query[0]?.kill('SIGTERM');
  await until(
    () => claims.utils.connection().state,
    (state) => state === 'connecting',
  );
  expect(purposeOf(claims, id)).toBe('Before the restart');
  const edited = claims.update(id, (claim) => {
    claim.purpose = 'During the restart';
  });
  const { port } = new URL(installation.origin);
  await using _again = await startInThisProcess(
    { domain: expenses },
    { ...installation.settings, PORT: port },
  );
  await edited.isPersisted.promise;
  expect(await elsewhere.claims.get(id)).toMatchObject({ purpose: 'During the restart' });
  const later = await add('After the restart');
  await until(
    () => purposeOf(claims, later),
    (purpose) => purpose === 'After the restart',
  );
  await claims.cleanup();
});
